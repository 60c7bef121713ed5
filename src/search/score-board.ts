/**
 * Adds up the scores of tools by the postings of a query's terms, and keeps the best.
 * @module
 */
import { comparePositions, isAlive, type LiveIndex, type Position } from './live-index.ts';
import type { Search } from './ranker.ts';
import type { Scratch } from './scratch.ts';
import { documentCount } from './segment.ts';
import type { LiveSegment } from './segment-merger.ts';

/**
 * Returns the best `most` of the accepted tools with a score above zero, at most `perServer` of one server, in any order; of
 * equals the first by server and name.
 */
export function bestOf(
  index: LiveIndex,
  boards: readonly ScoreBoard[],
  { most, perServer, accepts }: Pick<Search, 'perServer' | 'accepts'> & { readonly most: number },
): Position[] {
  const best = boards.flatMap((board, segment) =>
    Array.from(
      board.best(most, perServer, (document) => accepts(segment, document)),
      (document) => ({ segment, document, score: board.scoreOf(document) }),
    ),
  );
  if (boards.length > 1) best.sort((a, b) => b.score - a.score || comparePositions(index, a, b));
  return best.slice(0, most);
}

/** The documents with the highest scores above zero; of equals the first that was offered. */
class Highest {
  /** Ascending; zeros while there are fewer. */
  readonly #scores: Float64Array;
  readonly #documents: Uint32Array;

  constructor(most: number) {
    this.#scores = new Float64Array(most);
    this.#documents = new Uint32Array(most);
  }

  /** A document has to have more than this. */
  get lowest(): number {
    return this.#scores[0] as number;
  }

  offer(document: number, score: number): void {
    const scores = this.#scores;
    let at = 0;
    let end = scores.length;
    while (at + 1 < end) {
      const middle = (at + end) >>> 1;
      if ((scores[middle] as number) < score) at = middle;
      else end = middle;
    }
    scores.copyWithin(0, 1, at + 1);
    this.#documents.copyWithin(0, 1, at + 1);
    scores[at] = score;
    this.#documents[at] = document;
  }

  /** In the order of documents. */
  documents(): Uint32Array {
    return this.#documents.filter((_, at) => (this.#scores[at] as number) > 0).sort();
  }
}

/** A server and its factor. */
type Special = readonly [server: number, factor: number];
const NONE: Special = [-1, 0];

/** Adds up the scores of one segment. Of the alternatives of a term only the best counts. */
export class ScoreBoard {
  readonly #live: LiveSegment;
  readonly #whole: boolean;
  readonly #start: number;
  readonly #end: number;
  readonly #scores: Float64Array;
  readonly #best: Float64Array;
  /** By server, how much higher its perfect score is than that of other servers. */
  readonly #expected: Float64Array;
  /** The documents that have an offer: the first `#offers` of them. */
  readonly #touched: Uint32Array;
  #offers = 0;

  constructor(live: LiveSegment, whole: boolean, server: string | undefined, scratch: Scratch) {
    this.#live = live;
    this.#whole = whole;
    const { segment } = live;
    const only = server === undefined ? -1 : segment.servers.indexOf(server);
    this.#start = server === undefined ? 0 : (segment.serverOffsets[only] ?? 0);
    this.#end = server === undefined ? documentCount(segment) : only < 0 ? 0 : (segment.serverOffsets[only + 1] ?? 0);
    this.#scores = scratch.take(Float64Array, documentCount(segment));
    this.#best = scratch.take(Float64Array, documentCount(segment));
    this.#touched = scratch.take(Uint32Array, documentCount(segment));
    this.#expected = scratch.take(Float64Array, segment.servers.length);
  }

  /**
   * Offers every tool with this term its impact times `factor`, or the factor that `special` has for its server. `settle`
   * adds the best offer to its score.
   */
  offer(ordinal: number, factor: number, special: ReadonlyMap<number, number>): void {
    const { postingDocuments, postingImpacts, postingOffsets, documentServers } = this.#live.segment;
    const best = this.#best;
    const [[first, ofFirst], [second, ofSecond]] = [...special, NONE, NONE] as [Special, Special];
    const end = postingOffsets[ordinal + 1] as number;
    for (let at = postingOffsets[ordinal] as number; at < end; at++) {
      const document = postingDocuments[at] as number;
      if (!this.#counts(document)) continue;
      const server = documentServers[document] as number;
      const own = server === first ? ofFirst : server === second ? ofSecond : factor;
      const value = (postingImpacts[at] as number) * own;
      const before = best[document] as number;
      if (value <= before) continue;
      if (before === 0) this.#touched[this.#offers++] = document;
      best[document] = value;
    }
  }

  /** Adds the best offers to the scores. */
  settle(): void {
    const scores = this.#scores;
    const best = this.#best;
    const touched = this.#touched;
    for (let at = 0; at < this.#offers; at++) {
      const document = touched[at] as number;
      scores[document] = (scores[document] as number) + (best[document] as number);
      best[document] = 0;
    }
    this.#offers = 0;
  }

  #counts(document: number): boolean {
    if (document < this.#start || document >= this.#end) return false;
    return this.#whole || isAlive(this.#live.segment, this.#live.alive, document);
  }

  /** Returns the best `most` accepted documents, at most `perServer` of one server, of equals the first by server and name. */
  best(most: number, perServer: number, accepts: (document: number) => boolean): Uint32Array {
    const { documentServers, serverOffsets } = this.#live.segment;
    const highest = new Highest(most);
    // Documents are in order of server and name, so of equals the first comes first.
    const offerAll = (to: Highest, start: number, end: number, isCrowd: boolean): void => {
      const scores = this.#scores;
      for (let document = start; document < end; document++) {
        const score = scores[document] as number;
        if (score <= to.lowest || !accepts(document)) continue;
        const server = documentServers[document] as number;
        const last = serverOffsets[server + 1] as number;
        if (isCrowd || last - (serverOffsets[server] as number) <= perServer) to.offer(document, score);
        else {
          const crowd = new Highest(perServer);
          offerAll(crowd, document, last, true);
          for (const one of crowd.documents()) if (this.scoreOf(one) > to.lowest) to.offer(one, this.scoreOf(one));
          document = last - 1;
        }
      }
    };
    offerAll(highest, this.#start, this.#end, false);
    return highest.documents();
  }

  scoreOf(document: number): number {
    return this.#scores[document] ?? 0;
  }

  /** Raises the perfect score of one server: what a name that says the whole query would have. */
  expect(server: number, more: number): void {
    this.#expected[server] = (this.#expected[server] as number) + more;
  }

  /** Returns a tool's score as a share of the perfect score. */
  shareOf(document: number, perfect: number): number {
    const expected = perfect + (this.#expected[this.#live.segment.documentServers[document] as number] as number);
    return expected > 0 ? this.scoreOf(document) / expected : 0;
  }
}

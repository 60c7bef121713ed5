/**
 * Adds up the scores of tools by the postings of a query's terms, and keeps the best.
 * @module
 */
import { comparePositions, isAlive, type LiveIndex, type Position } from './live-index.ts';
import type { Search } from './ranker.ts';
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
    board
      .best(most, perServer, (document) => accepts(segment, document))
      .map((document) => ({ segment, document, score: board.scoreOf(document) })),
  );
  if (boards.length > 1) best.sort((a, b) => b.score - a.score || comparePositions(index, a, b));
  return best.slice(0, most);
}

/** The highest of many scores above zero. */
class HighestScores {
  /** Ascending; zeros while there are fewer. */
  readonly #scores: Float64Array;

  constructor(most: number) {
    this.#scores = new Float64Array(most);
  }

  get lowest(): number {
    return this.#scores[0] as number;
  }

  offer(score: number): void {
    const scores = this.#scores;
    if (score <= this.lowest) return;
    let at = 0;
    let end = scores.length;
    while (at + 1 < end) {
      const middle = (at + end) >>> 1;
      if ((scores[middle] as number) < score) at = middle;
      else end = middle;
    }
    scores.copyWithin(0, 1, at + 1);
    scores[at] = score;
  }
}

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
  readonly #touched: number[] = [];
  readonly #seen: number[] = [];

  constructor(live: LiveSegment, whole: boolean, server: string | undefined) {
    this.#live = live;
    this.#whole = whole;
    const { segment } = live;
    const only = server === undefined ? -1 : segment.servers.indexOf(server);
    this.#start = server === undefined ? 0 : (segment.serverOffsets[only] ?? 0);
    this.#end = server === undefined ? documentCount(segment) : only < 0 ? 0 : (segment.serverOffsets[only + 1] ?? 0);
    this.#scores = new Float64Array(documentCount(segment));
    this.#best = new Float64Array(documentCount(segment));
    this.#expected = new Float64Array(segment.servers.length);
  }

  /** Offers every tool with this term its impact times its server's factor. `settle` adds the best offer to its score. */
  offer(ordinal: number, factorOf: (server: number) => number): void {
    const { postingDocuments, postingImpacts, postingOffsets, documentServers, serverOffsets } = this.#live.segment;
    const best = this.#best;
    const end = postingOffsets[ordinal + 1] as number;
    let factor = 0;
    // Documents of one server are adjacent.
    let next = 0;
    for (let at = postingOffsets[ordinal] as number; at < end; at++) {
      const document = postingDocuments[at] as number;
      if (!this.#counts(document)) continue;
      if (document >= next) {
        const server = documentServers[document] as number;
        next = serverOffsets[server + 1] as number;
        factor = factorOf(server);
      }
      const value = (postingImpacts[at] as number) * factor;
      const before = best[document] as number;
      if (value <= before) continue;
      if (before === 0) this.#touched.push(document);
      best[document] = value;
    }
  }

  /** Adds the best offers to the scores. */
  settle(): void {
    const scores = this.#scores;
    const best = this.#best;
    for (const document of this.#touched) {
      const before = scores[document] as number;
      if (before === 0) this.#seen.push(document);
      scores[document] = before + (best[document] as number);
      best[document] = 0;
    }
    this.#touched.length = 0;
  }

  #counts(document: number): boolean {
    if (document < this.#start || document >= this.#end) return false;
    return this.#whole || isAlive(this.#live.segment, this.#live.alive, document);
  }

  /** Returns the best `most` accepted documents, at most `perServer` of one server, of equals the first by server and name. */
  best(most: number, perServer: number, accepts: (document: number) => boolean): number[] {
    const { documentServers, serverOffsets } = this.#live.segment;
    const kept: number[] = [];
    const crowds = new Map<number, number[]>();
    for (const document of this.#seen) {
      if (!accepts(document)) continue;
      const server = documentServers[document] as number;
      if ((serverOffsets[server + 1] as number) - (serverOffsets[server] as number) <= perServer) kept.push(document);
      else if (!crowds.get(server)?.push(document)) crowds.set(server, [document]);
    }
    for (const crowd of crowds.values()) kept.push(...this.#top(crowd, perServer));
    return this.#top(kept, most);
  }

  #top(documents: number[], most: number): number[] {
    if (documents.length <= most) return documents;
    const scores = this.#scores;
    const highest = new HighestScores(most);
    for (const document of documents) highest.offer(scores[document] as number);
    const best = documents.filter((document) => (scores[document] as number) > highest.lowest);
    // Very many share the last place if a word stands in every description. Documents are in order of server and name.
    const last = documents.filter((document) => scores[document] === highest.lowest);
    return [
      ...best,
      ...Uint32Array.from(last)
        .sort()
        .subarray(0, most - best.length),
    ];
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

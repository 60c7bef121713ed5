/**
 * Query terms in, scored tools out: BM25F over the live segments. Impacts were computed when a tool was indexed; here they
 * are only multiplied by how telling each term is and added up.
 * @module
 */
import { FULL_IMPACT } from './document.ts';
import { type Alternative, expand } from './expansion.ts';
import {
  comparePositions,
  countFor,
  isAlive,
  isMost,
  type LiveIndex,
  type Position,
  type ServerPosition,
  type TermEntry,
} from './live-index.ts';
import type { QueryTerm } from './query.ts';
import { documentCount } from './segment.ts';
import type { LiveSegment } from './segment-merger.ts';
import type { SearchSettings } from './settings.ts';

/** The scores that a query's words give. */
export interface WordRanking {
  /** How much of the query one tool says: 1 for a name that says it all, 0 where no term matched. */
  shareOf(segment: number, document: number): number;
  /**
   * The best `most` of the accepted tools with a score above zero, at most `perServer` of one server, in no order; of equals
   * the first by server and name.
   */
  best(most: number, accepts: (segment: number, document: number) => boolean, perServer?: number): Position[];
}

/** Guessing at words costs most; a query with more unknown words than this is not helped by it. */
const MAX_GUESSED_TERMS = 6;

/** How telling a term is that `count` of `size` tools have. */
export const rarity = (size: number, count: number): number => Math.log(1 + (size - count + 0.5) / (count + 0.5));

/** Scores every live tool of `server` (all servers when undefined) that has at least one of the terms. */
export function rank(
  index: LiveIndex,
  terms: readonly QueryTerm[],
  settings: Pick<SearchSettings, 'synonyms' | 'parts' | 'model'>,
  server?: string,
): WordRanking {
  const boards = index.segments.map((live, position) => new ScoreBoard(live, index.isWhole(position), server));
  let perfect = 0;
  for (const { term, known, alternatives } of expandAll(index, terms, settings)) {
    if (!term.bonus) {
      const rarityFor = (position: ServerPosition): number => rarity(index.size, countFor(known, position));
      perfect += term.weight * rarityFor(NO_SERVER);
      boards[known.most.segment]?.expect(
        known.most.server,
        term.weight * (rarityFor(known.most) - rarityFor(NO_SERVER)),
      );
    }
    for (const [segment, board] of boards.entries()) {
      for (const alternative of alternatives) {
        const ordinal = alternative.entry.ordinals[segment] ?? -1;
        if (ordinal < 0) continue;
        const factorFor = (position: ServerPosition): number =>
          (term.weight * alternative.weight * telling(index, known, alternative, position)) / FULL_IMPACT;
        const ofOthers = factorFor(NO_SERVER);
        const factorOf = (of: number): number => {
          const position = { segment, server: of };
          return isMost(known, position) || isMost(alternative.entry, position) ? factorFor(position) : ofOthers;
        };
        if (alternatives.length === 1) board.add(ordinal, factorOf);
        else board.offer(ordinal, factorOf);
      }
      board.settle();
    }
  }
  return {
    shareOf: (segment, document) => boards[segment]?.shareOf(document, perfect) ?? 0,
    best: (most, accepts, perServer = Number.POSITIVE_INFINITY) =>
      bestOf(boards, { most, perServer }, accepts, (a, b) => comparePositions(index, a, b)),
  };
}

/** Stands for servers that have no term most. */
const NO_SERVER: ServerPosition = { segment: -1, server: -1 };

/**
 * How telling it is that a server's tool has an alternative of a term of which the index knows this. A rare synonym of a
 * common word tells no more than the word itself; a guess tells a server nothing that has the word.
 */
export function telling(
  index: LiveIndex,
  known: TermEntry,
  { entry, how }: Alternative,
  position: ServerPosition,
): number {
  const count = countFor(known, position);
  if (count > 0 && (how === 'typo' || how === 'completed')) return 0;
  return rarity(index.size, count > 0 ? count : countFor(entry, position));
}

/** The terms of a query, each with how many tools have it and what may stand for it. */
export function expandAll(
  index: LiveIndex,
  terms: readonly QueryTerm[],
  settings: Pick<SearchSettings, 'synonyms' | 'parts' | 'model'>,
): { readonly term: QueryTerm; readonly known: TermEntry; readonly alternatives: readonly Alternative[] }[] {
  let guessed = 0;
  return terms.map((term) => {
    const known = index.entry(term.term);
    // A typo stays one when a single server has it, too: otherwise that server would have it for itself.
    const isStrange = known.count === 0 || (known.servers === 1 && index.servers > 1);
    const guess = isStrange && !term.bonus && term.weight === 1 && guessed++ < MAX_GUESSED_TERMS;
    return { term, known, alternatives: expand(index, term, settings, guess) };
  });
}

function bestOf(
  boards: readonly ScoreBoard[],
  { most, perServer }: { readonly most: number; readonly perServer: number },
  accepts: (segment: number, document: number) => boolean,
  inOrder: (a: Position, b: Position) => number,
): Position[] {
  const highest = new HighestScores(most);
  for (const [segment, board] of boards.entries()) {
    board.dropCrowds(perServer, (document) => accepts(segment, document));
    board.forEach((document, score) => {
      if (score > highest.lowest && accepts(segment, document)) highest.add(score);
    });
  }
  const least = highest.lowest;
  const best: Position[] = [];
  /** Those that share the last place: very many where a word stands in every description. */
  const last: Position[] = [];
  for (const [segment, board] of boards.entries()) {
    const documents: number[] = [];
    board.forEach((document, score) => {
      if (score < least || !accepts(segment, document)) return;
      if (score > least) best.push({ segment, document });
      else documents.push(document);
    });
    // Documents of a segment are in the order of their servers and names.
    for (const document of Uint32Array.from(documents).sort().subarray(0, most)) last.push({ segment, document });
  }
  if (boards.length > 1) last.sort(inOrder);
  return [...best, ...last.slice(0, most - best.length)];
}

/** The highest of many scores above zero. */
class HighestScores {
  /** Ascending; zeros where there are fewer. */
  readonly #scores: Float64Array;

  constructor(most: number) {
    this.#scores = new Float64Array(most);
  }

  /** The lowest of them: only what is above it is worth adding. */
  get lowest(): number {
    return this.#scores[0] as number;
  }

  add(score: number): void {
    const scores = this.#scores;
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
class ScoreBoard {
  readonly #live: LiveSegment;
  readonly #whole: boolean;
  readonly #start: number;
  readonly #end: number;
  readonly #scores: Float64Array;
  readonly #best: Float64Array;
  /** By server, what its tools are expected to score more than others. */
  readonly #expected: Float64Array;
  readonly #touched: number[] = [];
  #seen: number[] = [];

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

  /** Gives every tool with this term its impact times its server's factor. */
  add(ordinal: number, factorOf: (server: number) => number): void {
    const { postingDocuments, postingImpacts, postingOffsets, documentServers, serverOffsets } = this.#live.segment;
    const scores = this.#scores;
    const end = postingOffsets[ordinal + 1] as number;
    let factor = 0;
    // Documents of one server come one after the other.
    let next = 0;
    for (let at = postingOffsets[ordinal] as number; at < end; at++) {
      const document = postingDocuments[at] as number;
      if (!this.#counts(document)) continue;
      if (document >= next) {
        const server = documentServers[document] as number;
        next = serverOffsets[server + 1] as number;
        factor = factorOf(server);
      }
      const before = scores[document] as number;
      if (before === 0) this.#seen.push(document);
      scores[document] = before + (postingImpacts[at] as number) * factor;
    }
  }

  /** Like `add`, but of all offers before the next `settle` a tool gets only the best. */
  offer(ordinal: number, factorOf: (server: number) => number): void {
    const { postingDocuments, postingImpacts, postingOffsets, documentServers, serverOffsets } = this.#live.segment;
    const best = this.#best;
    const end = postingOffsets[ordinal + 1] as number;
    let factor = 0;
    // Documents of one server come one after the other.
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

  /** Leaves the best `most` of every server, of equals the first by name; the others are not visited any more. */
  dropCrowds(most: number, accepts: (document: number) => boolean): void {
    const { documentServers, servers } = this.#live.segment;
    const counts = new Uint32Array(servers.length);
    for (const document of this.#seen) {
      const server = documentServers[document] as number;
      counts[server] = (counts[server] as number) + 1;
    }
    if (counts.every((count) => count <= most)) return;
    const crowds = new Map<number, { readonly highest: HighestScores; readonly last: number[]; above: number }>();
    for (const document of this.#seen) {
      const server = documentServers[document] as number;
      if ((counts[server] as number) <= most || !accepts(document)) continue;
      let crowd = crowds.get(server);
      if (crowd === undefined) {
        crowd = { highest: new HighestScores(most), last: [], above: 0 };
        crowds.set(server, crowd);
      }
      const score = this.scoreOf(document);
      if (score > crowd.highest.lowest) crowd.highest.add(score);
    }
    const kept: number[] = [];
    for (const document of this.#seen) {
      const crowd = crowds.get(documentServers[document] as number);
      const score = this.scoreOf(document);
      if (crowd === undefined || score > crowd.highest.lowest) kept.push(document);
      else if (score === crowd.highest.lowest) crowd.last.push(document);
      if (crowd !== undefined && score > crowd.highest.lowest && accepts(document)) crowd.above++;
    }
    for (const { last, above } of crowds.values()) {
      const room = most - above;
      for (const document of Uint32Array.from(last.filter(accepts)).sort().subarray(0, room)) kept.push(document);
    }
    this.#seen = kept;
  }

  scoreOf(document: number): number {
    return this.#scores[document] ?? 0;
  }

  /** Adds to the score that a name of this server would have that says all. */
  expect(server: number, more: number): void {
    this.#expected[server] = (this.#expected[server] as number) + more;
  }

  /** A tool's score as a share of the one that a name would have that says all. */
  shareOf(document: number, perfect: number): number {
    const expected = perfect + (this.#expected[this.#live.segment.documentServers[document] as number] as number);
    return expected > 0 ? this.scoreOf(document) / expected : 0;
  }

  forEach(visit: (document: number, score: number) => void): void {
    for (const document of this.#seen) visit(document, this.#scores[document] as number);
  }
}

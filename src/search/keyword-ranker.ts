/**
 * Query terms in, scored tools out: BM25F over the live segments. Impacts were computed when a tool was indexed; here they
 * are only multiplied by how telling each term is and added up.
 * @module
 */
import { FULL_IMPACT } from './document.ts';
import { type Alternative, expand } from './expansion.ts';
import { comparePositions, isAlive, type LiveIndex, type Position } from './live-index.ts';
import type { QueryTerm } from './query.ts';
import { documentCount } from './segment.ts';
import type { LiveSegment } from './segment-merger.ts';
import type { SearchSettings } from './settings.ts';

/** The scores that a query's words give. */
export interface WordRanking {
  /** The score that a tool would have whose name says all the query says. */
  readonly perfect: number;
  /** The score of one tool; 0 where no term matched. */
  scoreOf(segment: number, document: number): number;
  /** The best `most` of the accepted tools with a score above zero, in no order; of equals the first by server and name. */
  best(most: number, accepts: (segment: number, document: number) => boolean): Position[];
}

/** Guessing at words costs most; a query with more unknown words than this is not helped by it. */
const MAX_GUESSED_TERMS = 6;

/** How telling a term is that `count` of `size` tools have. */
export const rarity = (size: number, count: number): number => Math.log(1 + (size - count + 0.5) / (count + 0.5));

/** Scores every live tool of `server` (all servers when undefined) that has at least one of the terms. */
export function rank(
  index: LiveIndex,
  terms: readonly QueryTerm[],
  settings: Pick<SearchSettings, 'synonyms' | 'parts'>,
  server?: string,
): WordRanking {
  const boards = index.segments.map((live, position) => new ScoreBoard(live, index.isWhole(position), server));
  let perfect = 0;
  for (const { term, known, alternatives } of expandAll(index, terms, settings)) {
    if (!term.bonus) perfect += term.weight * rarity(index.size, known);
    for (const [position, board] of boards.entries()) {
      for (const { entry, weight } of alternatives) {
        const ordinal = entry.ordinals[position] ?? -1;
        if (ordinal < 0) continue;
        // A rare synonym of a common word tells no more than the word itself.
        const telling = rarity(index.size, known > 0 ? known : entry.count);
        const factor = (term.weight * weight * telling) / FULL_IMPACT;
        if (alternatives.length === 1) board.add(ordinal, factor);
        else board.offer(ordinal, factor);
      }
      board.settle();
    }
  }
  return {
    perfect,
    scoreOf: (segment, document) => boards[segment]?.scoreOf(document) ?? 0,
    best: (most, accepts) => bestOf(boards, most, accepts, (a, b) => comparePositions(index, a, b)),
  };
}

/** The terms of a query, each with how many tools have it and what may stand for it. */
export function expandAll(
  index: LiveIndex,
  terms: readonly QueryTerm[],
  settings: Pick<SearchSettings, 'synonyms' | 'parts'>,
): { readonly term: QueryTerm; readonly known: number; readonly alternatives: readonly Alternative[] }[] {
  let guessed = 0;
  return terms.map((term) => {
    const known = index.entry(term.term).count;
    const guess = known === 0 && !term.bonus && term.weight === 1 && guessed++ < MAX_GUESSED_TERMS;
    return { term, known, alternatives: expand(index, term, settings, guess) };
  });
}

function bestOf(
  boards: readonly ScoreBoard[],
  most: number,
  accepts: (segment: number, document: number) => boolean,
  inOrder: (a: Position, b: Position) => number,
): Position[] {
  /** The highest scores so far, ascending; zeros where there are fewer. */
  const highest = new Float64Array(most);
  for (const [segment, board] of boards.entries()) {
    board.forEach((document, score) => {
      const [lowest = 0] = highest;
      if (score <= lowest || !accepts(segment, document)) return;
      let at = 0;
      let end = most;
      while (at + 1 < end) {
        const middle = (at + end) >>> 1;
        if ((highest[middle] as number) < score) at = middle;
        else end = middle;
      }
      highest.copyWithin(0, 1, at + 1);
      highest[at] = score;
    });
  }
  const [least = 0] = highest;
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

/** Adds up the scores of one segment. Of the alternatives of a term only the best counts. */
class ScoreBoard {
  readonly #live: LiveSegment;
  readonly #whole: boolean;
  readonly #start: number;
  readonly #end: number;
  readonly #scores: Float64Array;
  readonly #best: Float64Array;
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
  }

  /** Gives every tool with this term its impact times `factor`. */
  add(ordinal: number, factor: number): void {
    const { postingDocuments, postingImpacts, postingOffsets } = this.#live.segment;
    const scores = this.#scores;
    const end = postingOffsets[ordinal + 1] as number;
    for (let at = postingOffsets[ordinal] as number; at < end; at++) {
      const document = postingDocuments[at] as number;
      if (!this.#counts(document)) continue;
      const before = scores[document] as number;
      if (before === 0) this.#seen.push(document);
      scores[document] = before + (postingImpacts[at] as number) * factor;
    }
  }

  /** Like `add`, but of all offers before the next `settle` a tool gets only the best. */
  offer(ordinal: number, factor: number): void {
    const { postingDocuments, postingImpacts, postingOffsets } = this.#live.segment;
    const best = this.#best;
    const end = postingOffsets[ordinal + 1] as number;
    for (let at = postingOffsets[ordinal] as number; at < end; at++) {
      const document = postingDocuments[at] as number;
      if (!this.#counts(document)) continue;
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

  scoreOf(document: number): number {
    return this.#scores[document] ?? 0;
  }

  forEach(visit: (document: number, score: number) => void): void {
    for (const document of this.#seen) visit(document, this.#scores[document] as number);
  }
}

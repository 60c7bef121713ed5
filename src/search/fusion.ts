/**
 * Fuses the scores of all rankers into one score a tool.
 * @module
 */
import type { ToolMetadata } from '../core/types.ts';
import type { Details, ScoreParts } from './explanation.ts';
import { goalMatch } from './goal-match.ts';
import { type Position, positionKey } from './live-index.ts';
import { meaning } from './meaning-ranker.ts';
import type { Ranker, Search, ServerScores } from './ranker.ts';
import { reduced } from './relevance.ts';
import { use } from './use-ranker.ts';
import { words } from './words-ranker.ts';

/** A tool that was always used after similar requests passes its look-alikes, but hides no better answer. */
const USE_WEIGHT = 0.25;

/** The rankers, and what the score of each counts if meaning counts `share`. A new ranker is a row. */
const RANKERS: readonly { readonly ranker: Ranker; weight(share: number): number }[] = [
  { ranker: words, weight: (share) => 1 - share },
  { ranker: meaning, weight: (share) => share },
  { ranker: use, weight: () => USE_WEIGHT },
];

/** The scores of the tools in one search. */
export interface Ranking {
  /** Returns what the score of one tool is made of. */
  partsOf(position: Position): ScoreParts;
  /** The accepted tools that may be worth showing, in any order. */
  readonly candidates: readonly Position[];
  /** Returns how alike the request and all tools of a tool's server are in meaning; undefined without vectors. */
  ofServer(position: Position): ServerScores | undefined;
  /** Returns how relevant a tool is to the act it fits best, if the request has several. */
  relevanceOf?(position: Position): number;
}

/** Fuses what all rankers say, less for a tool that does something else. Without vectors, words decide. */
export function fuse(search: Search): Ranking {
  const scored = RANKERS.flatMap(({ ranker, weight }) => {
    const scores = ranker.score(search);
    return scores === undefined ? [] : [{ name: ranker.name, scores, weight }];
  });
  const hasMeaning = scored.some(({ name }) => name === meaning.name);
  const share = hasMeaning ? search.settings.meaningWeight : 0;
  const rows = scored.map((row) => ({ ...row, weight: row.weight(share) }));
  const kept = search.goal && goalMatch(search, search.goal);
  let candidates: Position[] | undefined;
  return {
    partsOf(position) {
      const { segment, document } = position;
      const parts = { words: 0, meaning: 0, use: 0, total: 0 };
      for (const { name, scores, weight } of rows) {
        parts[name] = scores.of(segment, document);
        parts.total += weight * parts[name];
      }
      if (kept !== undefined && parts.total > 0) parts.total = reduced(parts.total, kept(position));
      return parts;
    },
    get candidates() {
      candidates ??= distinct(rows.flatMap(({ scores }) => scores.candidates()));
      return candidates;
    },
    ofServer: (position) => scored.find(({ name }) => name === meaning.name)?.scores.ofServer?.(position),
  };
}

const distinct = (positions: readonly Position[]): Position[] => [
  ...new Map(positions.map((position) => [positionKey(position), position])).values(),
];

/** Explains the score of one tool by what each ranker says about it; `about` is the description of its server. */
export function explainScore(search: Search, tool: ToolMetadata, about: string): Details {
  const nothing: Details = { words: [], missed: [], alike: [] };
  return Object.assign(nothing, ...RANKERS.map(({ ranker }) => ranker.explain?.(search, tool, about)));
}

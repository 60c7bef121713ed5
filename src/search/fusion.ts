/**
 * Words, meaning and use in, one score a tool out. Words and meaning are absolute (the share of the request's words that a
 * tool has, and a cosine), so a tool's score depends on the request and the tool and not on which other tools are there.
 * @module
 */
import type { ToolScore } from '../core/types.ts';
import { findTool } from './exact-names.ts';
import type { WordRanking } from './keyword-ranker.ts';
import type { LiveIndex, Position } from './live-index.ts';
import type { Likeness } from './meaning-ranker.ts';

/** What a tool's score is made of. */
export interface ScoreParts {
  /** How much of the request its words say. */
  readonly words: number;
  /** How alike it is in meaning, from -1 to 1; 0 without vectors. */
  readonly meaning: number;
  /** How much it was used after like requests, from 0 to 1. */
  readonly use: number;
  readonly total: number;
}

/** The scores of a query's tools. */
export interface Ranking {
  /** What the score of one tool is made of. */
  partsOf(position: Position): ScoreParts;
  /** Tools that may be worth showing, in no order. */
  readonly candidates: readonly Position[];
}

/** What is fused. */
export interface Arms {
  readonly words: WordRanking;
  /** By the built-in vectors. */
  readonly meaning: Likeness | undefined;
  /** By another embedder; where it knows a tool, the built-in vectors are not asked. */
  readonly similar: readonly ToolScore[];
  readonly learnt: readonly ToolScore[];
  readonly meaningWeight: number;
  /** Whether nothing but one server is searched. */
  readonly oneServer: boolean;
}

/** By words alone this many are looked at closer. */
const BEST_BY_WORDS = 200;
/** However many tools of one server match, others have their places among those that are looked at closer. */
const PER_SERVER = 64;
/** What was always used after like requests gains this much: enough to pass its look-alikes, not to hide a better answer. */
const USE_WEIGHT = 0.25;

/** Fuses all that is known of a query's tools; without vectors, words decide. */
export function fuse(
  index: LiveIndex,
  { words: byWords, meaning: likeness, similar, learnt, meaningWeight, oneServer }: Arms,
  accepts: (segment: number, document: number) => boolean,
): Ranking {
  const known = toPositions(index, similar, -1);
  // What another embedder named may all lie outside of what is asked for; then it has said nothing.
  const isHeard = [...known.values()].some(({ position }) => accepts(position.segment, position.document));
  const likenesses: typeof known = isHeard ? known : new Map();
  const uses = toPositions(index, learnt, 0);
  const hasMeaning = likeness !== undefined || likenesses.size > 0;
  // Two embedders measure differently: where another one answered, a tool it left out is less alike than all it named.
  let leftOut = likenesses.size > 0 ? 0 : undefined;
  for (const { score } of likenesses.values()) leftOut = Math.min(leftOut ?? 0, score);
  const partsOf = (position: Position): ScoreParts => {
    const { segment, document } = position;
    const words = byWords.shareOf(segment, document);
    const meaning = likenesses.get(keyOf(position))?.score ?? leftOut ?? likeness?.of(segment, document) ?? 0;
    const use = uses.get(keyOf(position))?.score ?? 0;
    const share = hasMeaning ? meaningWeight : 0;
    return { words, meaning, use, total: (1 - share) * words + share * meaning + USE_WEIGHT * use };
  };
  const candidates = new Map<number, Position>();
  const offer = (position: Position): void => void candidates.set(keyOf(position), position);
  const perServer = oneServer ? undefined : PER_SERVER;
  for (const position of byWords.best(BEST_BY_WORDS, accepts, perServer)) offer(position);
  for (const position of likeness?.nearest(accepts, perServer) ?? []) offer(position);
  for (const { position } of [...likenesses.values(), ...uses.values()]) {
    if (accepts(position.segment, position.document)) offer(position);
  }
  return { partsOf, candidates: [...candidates.values()] };
}

/** Where the tools are that somebody has judged, with what was said of them, from `least` to 1. */
function toPositions(
  index: LiveIndex,
  scores: readonly ToolScore[],
  least: number,
): Map<number, { position: Position; score: number }> {
  const positions = new Map<number, { position: Position; score: number }>();
  for (const { server, tool, score } of scores) {
    const position = findTool(index, server, tool);
    if (position === undefined || !Number.isFinite(score)) continue;
    positions.set(keyOf(position), { position, score: Math.max(least, Math.min(1, score)) });
  }
  return positions;
}

/** Segments are few and documents fit in 32 bits. */
const keyOf = ({ segment, document }: Position): number => segment * 2 ** 32 + document;

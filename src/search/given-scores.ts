/**
 * Looks up the tools of scores that the caller of a search hands in.
 * @module
 */
import type { ToolScore } from '../core/types.ts';
import { findTool } from './exact-names.ts';
import { type Position, positionKey } from './live-index.ts';
import type { Search } from './ranker.ts';

/** Scores by tool. */
interface GivenScores {
  /** The score of a tool; undefined if none was given. */
  of(segment: number, document: number): number | undefined;
  /** The tools with a score that the filters of the search accept. */
  readonly accepted: readonly Position[];
  /** The lowest score, at most 0. */
  readonly lowest: number;
}

/** Clamps scores to `least` to 1 and leaves out what is not a number or not in the index. */
export function givenScores(
  { index, accepts }: Search,
  scores: readonly ToolScore[] | undefined = [],
  least: number,
): GivenScores {
  const known = new Map<number, { readonly position: Position; readonly score: number }>();
  for (const { server, tool, score } of scores) {
    const position = findTool(index, server, tool);
    if (position === undefined || !Number.isFinite(score)) continue;
    known.set(positionKey(position), { position, score: Math.max(least, Math.min(1, score)) });
  }
  const values = [...known.values()];
  return {
    of: (segment, document) => known.get(positionKey({ segment, document }))?.score,
    accepted: values.map(({ position }) => position).filter(({ segment, document }) => accepts(segment, document)),
    lowest: values.reduce((lowest, { score }) => Math.min(lowest, score), 0),
  };
}

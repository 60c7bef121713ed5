/**
 * Lists what an evaluation needed that did not come first, and why.
 * @module
 */
import type { QueryOutcome, ScoredTool } from './evaluate.ts';
import { type JudgedQuery, keyOf, type RankedTool, type RelevantTool } from './metrics.ts';

/** Why something needed did not come first, the gravest first. */
export const MISS_REASONS = [
  /** No server lists such a tool. */
  'not-in-catalogue',
  /** The rules switch it off. */
  'disabled',
  /** It is not among the tools looked at. */
  'not-found',
  /** It came too far down to be in the answer. */
  'not-shown',
  /** It is in the answer, but not first. */
  'late',
] as const;

/** One of `MISS_REASONS`. */
export type MissReason = (typeof MISS_REASONS)[number];

/** Something a query needed that did not come first. */
export interface Miss {
  readonly query: JudgedQuery;
  /** Any of these would have done. */
  readonly wanted: readonly RelevantTool[];
  readonly reason: MissReason;
  /** Where the first of them came, from 1. */
  readonly rank: number | undefined;
  /** What came before it, or first where it did not come. */
  readonly instead: readonly ScoredTool[];
}

/** What the catalogue knows of a tool; undefined for one that is not in it. */
type StatusOf = (tool: RankedTool) => 'enabled' | 'disabled' | undefined;

const INSTEAD = 3;

/** All misses, the gravest first. A query that needs two tools is served well when both are among the first two. */
export function missesOf(outcomes: readonly QueryOutcome[], statusOf: StatusOf = () => 'enabled'): Miss[] {
  const misses: Miss[] = [];
  for (const { query, needs, ranking } of outcomes) {
    for (const { tools, rank, shown } of needs) {
      if (rank !== undefined && rank <= needs.length && shown !== false) continue;
      const wanted = new Set(tools.map(keyOf));
      misses.push({
        query,
        wanted: tools,
        reason: reasonOf(tools, rank, shown, statusOf),
        rank,
        instead: ranking
          .slice(0, rank === undefined ? undefined : rank - 1)
          .filter((tool) => !wanted.has(keyOf(tool)))
          .slice(0, INSTEAD),
      });
    }
  }
  const depth = ({ rank = Number.MAX_SAFE_INTEGER }: Miss): number => rank;
  const gravity = ({ reason }: Miss): number => MISS_REASONS.indexOf(reason);
  return misses.sort((a, b) => gravity(a) - gravity(b) || depth(b) - depth(a));
}

function reasonOf(
  tools: readonly RelevantTool[],
  rank: number | undefined,
  shown: boolean | undefined,
  statusOf: StatusOf,
): MissReason {
  if (rank !== undefined) return shown === false ? 'not-shown' : 'late';
  const known = tools.map(statusOf).filter((status) => status !== undefined);
  if (known.length === 0) return 'not-in-catalogue';
  return known.includes('enabled') ? 'not-found' : 'disabled';
}

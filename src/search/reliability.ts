/**
 * Counts how often a first hit of a given relevance is right.
 * @module
 */
import type { QueryOutcome } from './evaluate.ts';

/** First hits whose relevance lies in [from, to), and how they fared. */
export interface ReliabilityBin {
  readonly from: number;
  readonly to: number;
  readonly queries: number;
  /** Their average relevance. */
  readonly relevance: number;
  /** Share of them that was needed. */
  readonly right: number;
}

/** A table of bins, and the average error of the relevances. */
export interface Reliability {
  readonly bins: readonly ReliabilityBin[];
  /** Expected calibration error: |right - relevance|, weighted by queries. */
  readonly error: number;
  /** Queries without a hit, or whose hits say no relevance. */
  readonly without: number;
}

/** Sorts first hits by relevance into bins of equal width; 1 falls into the last. Empty bins are left out. */
export function reliabilityOf(outcomes: readonly QueryOutcome[], count = 10): Reliability {
  const sums = Array.from({ length: count }, () => ({ queries: 0, relevance: 0, right: 0 }));
  let without = 0;
  for (const { ranking, figures } of outcomes) {
    const relevance = ranking[0]?.relevance;
    const bin = relevance === undefined ? undefined : sums[Math.min(count - 1, Math.floor(relevance * count + 1e-9))];
    if (relevance === undefined || bin === undefined) {
      without++;
      continue;
    }
    bin.queries++;
    bin.relevance += relevance;
    bin.right += figures.hit1;
  }
  const bins = sums.flatMap(({ queries, relevance, right }, at) =>
    queries === 0
      ? []
      : [
          {
            from: at / count,
            to: (at + 1) / count,
            queries,
            relevance: relevance / queries,
            right: right / queries,
          },
        ],
  );
  const total = bins.reduce((sum, { queries }) => sum + queries, 0);
  const apart = bins.reduce((sum, bin) => sum + bin.queries * Math.abs(bin.right - bin.relevance), 0);
  return { bins, error: total === 0 ? 0 : apart / total, without };
}

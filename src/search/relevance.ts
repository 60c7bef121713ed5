/**
 * A score in, a relevance in [0, 1] out that means the same from query to query.
 * @module
 */

/** What a single strong mention (the term in a tool's name) earns of a perfect impact. */
const REFERENCE = 0.85;

/** How much of the query the tool answers, in hundredths; 1 is kept for names. */
export function toRelevance(score: number, perfect: number): number {
  if (perfect <= 0) return 0;
  const coverage = Math.min(1, score / (REFERENCE * perfect));
  return Math.min(0.99, Math.round(coverage * 100) / 100);
}

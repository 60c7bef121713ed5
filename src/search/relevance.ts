/**
 * Turns scores into relevances that mean the same from query to query: how often a hit like this one is asked for.
 * @module
 */
import type { ScoreParts } from './explanation.ts';

/**
 * Fitted by logistic regression on judged queries with the tools that answer them, and, at a fraction of the weight, without
 * these: some requests have no answer. The first hit is judged by its score and by its lead over the second; where nothing
 * fits, a neighbour of what is missing has a lead, too. Which words it misses, or whether words and meaning agree on it,
 * told hardly more. The others are judged by how far they are behind.
 */
const FIRST = { base: -0.25, score: 1.52, lead: 9.83, mostLead: 0.2, leadOfScore: 1 / 3 };
/**
 * The same, fitted with the queries without their tools at a third of the weight: a first hit has more than `CAP` only by this curve.
 * The nearest neighbour of a tool that is missing often looks as good as a right one, so 0.9 takes a clear lead.
 */
const SURELY = { base: -0.466, score: 2.014, lead: 7.587 };
const CAP = 0.89;
const OTHERS = { base: -1.43, behind: 19.2 };

/** Scores below this are noise. */
const LEAST_SCORE = 0.16;
/** A cosine below this is noise if no word is shared. */
const LEAST_LIKENESS = 0.3;

/** Less relevant hits are left out of a default answer. The first three are kept while they have half the best score. */
const CUT = { relevance: 0.015, kept: 3, keptShare: 0.5 };

const logistic = (value: number): number => 1 / (1 + Math.exp(-value));

/** In hundredths; 1 is kept for names. */
const inHundredths = (value: number): number => Math.min(0.99, Math.round(value * 100) / 100);

/** Returns the relevance of a hit by its score and the two best scores. */
export function toRelevance(score: number, best: number, second: number): number {
  if (score <= 0) return 0;
  const first = ofFirst(best, second);
  return inHundredths(score < best ? Math.min(first, ofOther(best - score)) : first);
}

function ofFirst(best: number, second: number): number {
  const lead = Math.min(best - second, FIRST.mostLead, FIRST.leadOfScore * best);
  const by = ({ base, score, lead: weight }: typeof SURELY): number =>
    logistic(base + score * Math.log(best) + weight * Math.sqrt(lead));
  return Math.min(by(FIRST), Math.max(CAP, by(SURELY)));
}

const ofOther = (behind: number): number => logistic(OTHERS.base - OTHERS.behind * behind);

/**
 * Tells whether a hit answers at all. Depends on no other tool: a new server must not make a hit disappear.
 */
export const fits = ({ words, meaning }: ScoreParts): boolean => words > 0 || meaning >= LEAST_LIKENESS;

/**
 * Returns what a score keeps of itself, in the same order. It does not become noise by that: where no tool does what is
 * asked, all are reduced, and the nearest are still shown.
 */
export const reduced = (score: number, share: number): number =>
  Math.max(score * share, Math.min(score, LEAST_SCORE + (score - LEAST_SCORE) / 100));

/** Tells whether a tool is left out of every default answer. */
export const isNoise = (parts: ScoreParts): boolean => parts.total < LEAST_SCORE && !fits(parts);

/**
 * Tells whether a hit at this place is worth showing. A weak hit is if it is about as good as the best and the best is not `sure`:
 * a new server makes words rarer, so it may swap two such hits, and neither may disappear by that.
 */
export function isUseful(parts: ScoreParts, best: number, place: number, sure = false): boolean {
  if (isNoise(parts)) return false;
  if (!sure && place < CUT.kept && parts.total >= CUT.keptShare * best) return true;
  return parts.total >= LEAST_SCORE && ofOther(best - parts.total) >= CUT.relevance;
}

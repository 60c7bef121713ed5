/**
 * Corrects words of a request that neither the vectors nor two servers have: to a word a typo away that some tool has.
 * @module
 */
import type { LiveIndex } from './live-index.ts';
import type { MeaningModel } from './meaning-model.ts';
import { stem } from './stemmer.ts';

const MOST_CORRECTED = 3;
const SHORTEST = 4;
const TWO_TYPOS_FROM = 8;
const LATIN = /^\p{Script=Latin}+$/u;

/** Corrects mistyped words. */
export function spellWords(index: LiveIndex, model: MeaningModel, words: readonly string[]): string[] {
  let corrected = 0;
  return words.map((word) => {
    if (word.length < SHORTEST || !LATIN.test(word) || model.ordinalOf(word) >= 0) return word;
    // A word that a single server has may be the same typo: no server decides alone how a request is read.
    const { count, servers } = index.entry(stem(word));
    if ((index.servers > 1 ? servers > 1 : count > 0) || corrected++ >= MOST_CORRECTED) return word;
    return meantBy(index, model, word) ?? word;
  });
}

/** Returns the likeliest word: the nearest, of equals the one that most tools have. */
function meantBy(index: LiveIndex, model: MeaningModel, word: string): string | undefined {
  const [best] = model
    .near(word, word.length >= TWO_TYPOS_FROM ? 2 : 1)
    .map((near) => ({ ...near, count: index.entry(stem(near.word)).count }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => a.distance - b.distance || b.count - a.count || (a.word < b.word ? -1 : 1));
  return best?.word;
}

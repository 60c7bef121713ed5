/**
 * Scores how well a tool matches a query literally. The final score never falls below this level.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { editDistance } from '../../text/nearest-names.ts';

/** Kinds of literal matches, best first. */
export const LEVEL = {
  name: 1,
  namePrefix: 0.9,
  keyword: 0.85,
  nameContains: 0.8,
  keywordContains: 0.7,
  descriptionWord: 0.6,
  descriptionContains: 0.5,
  /** Multiplied by the similarity. */
  fuzzy: 0.5,
} as const;

/** The compared texts of a tool, in lower case and without control characters. */
export interface MatchedTexts {
  readonly name: string;
  readonly keywords: readonly string[];
  readonly description: string;
}

const CONTROL = /[\u0000-\u001f]+/g;
const LEAST_LIKENESS = 0.6;

/** Normalises a text for comparison. */
export const toMatched = (text: string): string => text.toLowerCase().replace(CONTROL, ' ');

/** Normalises a query for comparison. */
export const toNeedle = (query: string): string => toMatched(query.slice(0, LIMITS.search.nameQuery)).trim();

/** The level of a tool for a needle; 0 if nothing matches. */
export function matchLevel({ name, keywords, description }: MatchedTexts, needle: string): number {
  if (needle === '') return 0;
  if (name === needle) return LEVEL.name;
  if (name.startsWith(needle)) return LEVEL.namePrefix;
  if (keywords.includes(needle)) return LEVEL.keyword;
  if (name.includes(needle)) return LEVEL.nameContains;
  if (keywords.some((keyword) => keyword.includes(needle))) return LEVEL.keywordContains;
  if (hasWord(description, needle)) return LEVEL.descriptionWord;
  if (description.includes(needle)) return LEVEL.descriptionContains;
  return LEVEL.fuzzy * likeness(name, keywords, needle);
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!isLetter(text, at - 1) && !isLetter(text, at + word.length)) return true;
  }
  return false;
}

const LETTER = /[\p{L}\p{N}_]/u;
const isLetter = (text: string, at: number): boolean => LETTER.test(text.charAt(at));

function likeness(name: string, keywords: readonly string[], needle: string): number {
  if (needle.length > LIMITS.search.fuzzyWord) return 0;
  let best = 0;
  for (const word of [name, ...name.split(/[^\p{L}\p{N}]+/u), ...keywords]) {
    const length = Math.max(word.length, needle.length);
    if (word.length === 0 || word.length > LIMITS.search.fuzzyWord) continue;
    best = Math.max(best, 1 - editDistance(word, needle, Math.ceil(length / 2)) / length);
  }
  return best >= LEAST_LIKENESS ? best : 0;
}

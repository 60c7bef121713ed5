/**
 * Stems English words by Porter's algorithm (1980): `issues`, `issue` and `issuing` match. A final y stays after a vowel, so
 * `deploy` and `deployment` match too. A word with anything but the letters a–z is returned unchanged.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

const isVowelAt = (word: string, index: number): boolean => {
  const letter = word[index];
  if (letter === 'a' || letter === 'e' || letter === 'i' || letter === 'o' || letter === 'u') return true;
  return letter === 'y' && index > 0 && !isVowelAt(word, index - 1);
};

/** Porter's m: how many vowel–consonant sequences the word has. */
function measure(word: string): number {
  let count = 0;
  let vowelBefore = false;
  for (let index = 0; index < word.length; index++) {
    const vowel = isVowelAt(word, index);
    if (vowelBefore && !vowel) count++;
    vowelBefore = vowel;
  }
  return count;
}

function hasVowel(word: string): boolean {
  for (let index = 0; index < word.length; index++) if (isVowelAt(word, index)) return true;
  return false;
}

const endsDouble = (word: string): boolean => {
  const last = word.length - 1;
  return last > 0 && word[last] === word[last - 1] && !isVowelAt(word, last);
};

/** consonant–vowel–consonant at the end, the last one not w, x or y: `hop`, `fil`. */
function endsShort(word: string): boolean {
  const last = word.length - 1;
  if (last < 2 || isVowelAt(word, last) || !isVowelAt(word, last - 1) || isVowelAt(word, last - 2)) return false;
  return !'wxy'.includes(word[last] as string);
}

type Rule = readonly [suffix: string, replacement: string];

const DERIVATIONS: readonly Rule[] = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['entli', 'ent'],
  ['ousli', 'ous'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['ator', 'ate'],
  ['logi', 'log'],
  ['eli', 'e'],
];

const ENDINGS: readonly Rule[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
];

const SUFFIXES = [
  ...['ement', 'ance', 'ence', 'able', 'ible', 'ment'],
  ...['ant', 'ent', 'ion', 'ism', 'ate', 'iti', 'ous', 'ive', 'ize', 'al', 'er', 'ic', 'ou'],
];

function replaceSuffix(word: string, rules: readonly Rule[]): string {
  for (const [suffix, replacement] of rules) {
    if (!word.endsWith(suffix)) continue;
    const base = word.slice(0, -suffix.length);
    return measure(base) > 0 ? base + replacement : word;
  }
  return word;
}

function dropPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function dropPast(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const cut = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0;
  const base = word.slice(0, word.length - cut);
  if (cut === 0 || !hasVowel(base)) return word;
  if (base.endsWith('at') || base.endsWith('bl') || base.endsWith('iz')) return `${base}e`;
  if (endsDouble(base) && !'lsz'.includes(base[base.length - 1] as string)) return base.slice(0, -1);
  return measure(base) === 1 && endsShort(base) ? `${base}e` : base;
}

function dropSuffix(word: string): string {
  for (const suffix of SUFFIXES) {
    if (!word.endsWith(suffix)) continue;
    const base = word.slice(0, -suffix.length);
    if (measure(base) < 2) return word;
    return suffix !== 'ion' || base.endsWith('s') || base.endsWith('t') ? base : word;
  }
  return word;
}

function tidy(word: string): string {
  let result = word;
  if (result.endsWith('e')) {
    const base = result.slice(0, -1);
    const size = measure(base);
    if (size > 1 || (size === 1 && !endsShort(base))) result = base;
  }
  return endsDouble(result) && result.endsWith('l') && measure(result) > 1 ? result.slice(0, -1) : result;
}

function porter(word: string): string {
  let result = dropPast(dropPlural(word));
  const last = result.length - 1;
  if (last > 1 && result.endsWith('y') && !isVowelAt(result, last - 1)) result = `${result.slice(0, -1)}i`;
  return tidy(dropSuffix(replaceSuffix(replaceSuffix(result, DERIVATIONS), ENDINGS)));
}

/** The stem of a lower-case word. */
export function stem(word: string): string {
  if (word.length < 3 || word.length > LIMITS.search.stemmed) return word;
  return /^[a-z]+$/.test(word) ? porter(word) : word;
}

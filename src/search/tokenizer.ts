/**
 * Splits text into Unicode words, lower-cased and folded. Identifiers give their compound and their parts (`createIssue` →
 * `createissue`, `create`, `issue`). Scripts without spaces give pairs of characters. Invisible characters are removed.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

/** One word of a text. */
export interface Word {
  readonly text: string;
  /** `whole` stands alone, `part` is a piece of an identifier, `compound` is that identifier without separators. */
  readonly kind: 'whole' | 'part' | 'compound';
}

/** A text without a letter beyond ASCII. */
export const ASCII_ONLY = /^[\x00-\x7f]*$/;
/** Terminal escape sequences; each class excludes what follows it, so matching is linear. */
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*)/g;
const INVISIBLE = /[\p{Cf}\p{Variation_Selector}]/gu;
const ACCENTS = /[\u0300-\u036f]/g;

/** The text with escapes and invisible characters removed and compatibility forms and accents folded; case is kept. */
export function fold(text: string): string {
  const plain = text.includes('\x1b') ? text.replace(ESCAPES, ' ') : text;
  if (ASCII_ONLY.test(plain)) return plain;
  return plain.replace(INVISIBLE, '').normalize('NFKD').replace(ACCENTS, '').normalize('NFC');
}

/** A word or an identifier as it stands in a folded text. */
export const CHUNK = /[\p{L}\p{N}\p{M}]+(?:[_.-]+[\p{L}\p{N}\p{M}]+)*/gu;
const ASCII_CHUNK = /[A-Za-z0-9]+(?:[_.-]+[A-Za-z0-9]+)*/g;
/** `URLs` and `PRs` are plurals, not `UR` and `Ls`. */
const ASCII_PART = /[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;
const PART = /\p{Lu}{2,}s(?!\p{Ll})|\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+|[\p{Lt}\p{Lm}\p{Lo}\p{M}]+/gu;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Splits text into words, in order. */
export function tokenize(text: string): Word[] {
  const words: Word[] = [];
  for (const chunk of chunksOf(text)) pushChunk(words, chunk);
  return words;
}

/** Splits text into words and identifiers as they stand there, in order. */
export function chunksOf(text: string): readonly string[] {
  const folded = fold(text);
  return folded.match(ASCII_ONLY.test(folded) ? ASCII_CHUNK : CHUNK) ?? [];
}

/** The words of one of these. */
export function wordsOf(chunk: string): Word[] {
  const words: Word[] = [];
  pushChunk(words, chunk);
  return words;
}

function pushChunk(words: Word[], chunk: string): void {
  if (/^[a-z]+$/.test(chunk)) {
    words.push({ text: chunk.slice(0, LIMITS.search.word), kind: 'whole' });
    return;
  }
  const ascii = ASCII_ONLY.test(chunk);
  const parts = glueInitials(chunk.match(ascii ? ASCII_PART : PART) ?? []);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    pushWord(words, only, 'whole');
    return;
  }
  for (const part of parts) if (part.length > 1 || /\P{L}/u.test(part)) pushWord(words, part, 'part');
  if (ascii || !UNSPACED.test(chunk))
    words.push({ text: parts.join('').slice(0, LIMITS.search.compound), kind: 'compound' });
}

/** Lower-cases the parts and keeps `OAuth` and `iPhone` whole: one letter alone says nothing. */
function glueInitials(parts: readonly string[]): string[] {
  const result: string[] = [];
  let initial = '';
  for (const part of parts) {
    const lower = part.toLowerCase();
    if (initial === '' && result.length === 0 && part.length === 1 && parts.length > 1 && /\p{L}/u.test(part)) {
      initial = lower;
    } else {
      result.push(initial + lower);
      initial = '';
    }
  }
  return result;
}

function pushWord(words: Word[], text: string, kind: 'whole' | 'part'): void {
  if (!UNSPACED.test(text)) {
    words.push({ text: text.slice(0, LIMITS.search.word), kind });
    return;
  }
  const characters = [...text];
  if (characters.length === 1) words.push({ text, kind });
  for (let index = 0; index + 1 < characters.length; index++) {
    words.push({ text: `${characters[index]}${characters[index + 1]}`, kind });
  }
}

const NOT_IN_KEY = /[^\p{L}\p{N}\p{M}]+/gu;

/** What two spellings of a name have in common: `create_issue`, `createIssue` and `Create Issue` share a key. */
export function nameKey(name: string): string {
  const folded = fold(name).toLowerCase();
  const key = folded.replace(NOT_IN_KEY, '');
  return (key === '' ? folded.trim() : key).slice(0, 256);
}

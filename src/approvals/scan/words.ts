/**
 * Splits a text into lower-case words for the phrase rules. Undoes what hides words from a filter: invisible characters,
 * styled letters, look-alike letters, accents, escapes and spaces between letters. Runs in linear time.
 * @module
 */
import { plainName, plainText } from '../../text/plain-text.ts';

/** One word, its place in `text`, and its form with look-alike letters replaced. */
export interface Word {
  readonly word: string;
  readonly folded: string;
  readonly at: number;
  readonly end: number;
}

interface WordList {
  /** The text that the places refer to. */
  readonly text: string;
  readonly words: readonly Word[];
}

/** Ends a sentence. No phrase goes beyond it. */
export const STOP = '.';

const CHUNK = /\S+/g;
const PIECE = /[\p{L}\p{N}]+|[。！？；]/gu;
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const BULLET = /^(?:[-*•·]|\d{1,2}[.)])$/;
const ENDS_SENTENCE = /[.!?;]["')\]*_`]{0,3}$/;

/**
 * Splits a text.
 * @param classesOf names of what a chunk between blanks is, such as `<url>`: words of their own
 * @param terms words of languages that put no blanks between words
 */
export function wordsIn(
  raw: string,
  classesOf: (chunk: string) => readonly string[],
  terms: ReadonlySet<string>,
): WordList {
  const text = normalised(raw);
  const words: Word[] = [];
  let last = 0;
  const push = (word: string, at: number, end: number) => words.push({ word, folded: foldedOf(word), at, end });
  for (const { 0: chunk, index } of text.matchAll(CHUNK)) {
    const blank = text.slice(last, index);
    // An empty line or the next item of a list.
    if (blank.includes('\n') && (blank.indexOf('\n') !== blank.lastIndexOf('\n') || BULLET.test(chunk)))
      push(STOP, index, index);
    last = index + chunk.length;
    for (const name of classesOf(chunk)) push(name, index, last);
    // An address is one word.
    const inner = /^https?:[\x21-\x7e]*$/.test(chunk) ? '' : chunk;
    for (const piece of inner.replaceAll(/['’]/g, '').matchAll(PIECE)) {
      const at = index + piece.index;
      if (/[。！？；]/.test(piece[0])) push(STOP, at, at + 1);
      else if (SPACELESS.test(piece[0])) pushTerms(piece[0], at);
      else push(piece[0], at, at + piece[0].length);
    }
    if (ENDS_SENTENCE.test(chunk.slice(-4))) push(STOP, last, last);
  }
  return { text, words: joined(words) };

  function pushTerms(run: string, start: number): void {
    for (let at = 0; at < run.length; ) {
      let length = TERM_LETTERS;
      while (length > 1 && !terms.has(run.slice(at, at + length))) length--;
      push(run.slice(at, at + length), start + at, start + at + length);
      at += length;
    }
  }
}

/** In letters, of the words of such languages in the rules. */
const TERM_LETTERS = 8;

function normalised(raw: string): string {
  const text = plainText(unescaped(raw)).normalize('NFKC').toLowerCase();
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  // Accents of Latin letters only: marks are letters in other scripts.
  return text
    .normalize('NFD')
    .replace(/(?<=[a-z])\p{Mn}{1,8}/gu, '')
    .normalize('NFC');
}

const unescaped = (text: string): string =>
  /&#|\\[ux]/.test(text)
    ? text
        .replace(/&#(\d{1,7});?/g, (whole, digits: string) => signOf(Number(digits)) ?? whole)
        .replace(/&#x([0-9a-f]{1,6});?/gi, (whole, digits: string) => signOf(Number.parseInt(digits, 16)) ?? whole)
        .replace(
          /\\(?:u|x)([0-9a-f]{4}|[0-9a-f]{2})/gi,
          (whole, digits: string) => signOf(Number.parseInt(digits, 16)) ?? whole,
        )
    : text;

const signOf = (code: number): string | undefined => (code < 0x110000 ? String.fromCodePoint(code) : undefined);

const foldedOf = (word: string): string =>
  /^[\x00-\x7f]*$/.test(word) || SPACELESS.test(word) ? word : plainName(word).toLowerCase();

/** Joins letters that stand alone, as in `i g n o r e`; a wider gap separates words. */
function joined(words: readonly Word[]): Word[] {
  const result: Word[] = [];
  for (let from = 0; from < words.length; ) {
    let to = from;
    while (isLetter(words[to]) && (to === from || (words[to]?.at ?? 0) - (words[to - 1]?.end ?? 0) <= 1)) to++;
    const [first, end] = [words[from] as Word, words[to - 1]?.end ?? 0];
    if (to - from >= 4) {
      const letters = words.slice(from, to);
      const word = letters.map(({ word }) => word).join('');
      result.push({ word, folded: letters.map(({ folded }) => folded).join(''), at: first.at, end });
    } else result.push(...words.slice(from, Math.max(to, from + 1)));
    from = Math.max(to, from + 1);
  }
  return result;
}

const isLetter = (word: Word | undefined): boolean =>
  word !== undefined && /^\p{L}$/u.test(word.word) && !SPACELESS.test(word.word);

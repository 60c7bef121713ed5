/**
 * Puts the words of a request in another language into English, one by one: names, values and marks stay as they are. That is
 * no translation for people, but a search needs no grammar.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { ExplainedTranslation } from './explanation.ts';
import type { English, ForeignWords } from './foreign-words.ts';
import { foldedWord, isSmallWord, type Language } from './language-of.ts';

/** A word of a request and what it is in English. */
interface TranslatedWord {
  readonly word: string;
  readonly english: readonly English[];
}

/** A request in English words. */
export interface Translation {
  readonly language: Language;
  readonly text: string;
  readonly words: readonly TranslatedWord[];
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu;
const SPACED = /[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*/gu;
const HANGUL = /\p{Script=Hangul}+/gu;
/** The words of a translation, for explanations. */
export const explainTranslation = ({ language, words }: Translation): ExplainedTranslation => ({
  language,
  words: words.map(({ word, english }) => ({ word, english: english.map((meant) => meant.word) })),
});

/** Values stay as they are: quotations, placeholders, addresses, identifiers. */
const KEPT =
  /("[^"\n]*"|“[^”\n]*”|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])|`[^`\n]*`|<[^<>\n]*>|(?<![!-~])[!-~]*?[A-Za-z0-9][_@/.][A-Za-z0-9][!-~]*)/gu;
const ENTRY_WORDS = 4;

/** Translates a request word by word. */
export function translate(text: string, language: Language, list: ForeignWords): Translation {
  const words: TranslatedWord[] = [];
  const note = (word: string, english: readonly English[]): string => {
    words.push({ word, english });
    return ` ${english
      .filter(({ share }) => share === 1)
      .map(({ word: found }) => found)
      .join(' ')} `;
  };
  const put =
    language === 'zh' || language === 'ja'
      ? (piece: string) => piece.replace(UNSPACED, (run) => byLength(foldedWord(run), list, note))
      : language === 'ko'
        ? (piece: string) => piece.replace(HANGUL, (run) => korean(foldedWord(run), list, note))
        : (piece: string) => spaced(piece, language, list, note);
  const pieces = text.split(KEPT);
  const translated = pieces.map((piece, at) => (at % 2 === 1 ? piece : put(piece)));
  return {
    language,
    text: translated
      .join('')
      .replace(/[ \t]+/g, ' ')
      .trim(),
    words,
  };
}

type Note = (word: string, english: readonly English[]) => string;

/** Takes the longest known word at each place of a run without spaces; what is not known is left out. */
function byLength(run: string, list: ForeignWords, note: Note, shortest = 1): string {
  let result = '';
  for (let at = 0; at < run.length; ) {
    let length = Math.min(list.longest, run.length - at);
    while (length >= shortest && list.get(run.slice(at, at + length)) === undefined) length--;
    const word = run.slice(at, at + length);
    const english = length >= shortest ? list.get(word) : undefined;
    if (english === undefined) at++;
    else {
      result += note(word, english);
      at += length;
    }
  }
  return result === '' ? ' ' : result;
}

const PARTICLE =
  /(?:에서는|에서|에게|으로|까지|부터|이라는|라는|처럼|보다|이나|라고|하고|들을|들의|들이|들|[을를이가은는에의와과도만로])$/u;

function korean(run: string, list: ForeignWords, note: Note): string {
  const bare = run.replace(PARTICLE, '');
  for (const word of [run, bare]) {
    const english = list.get(word);
    if (english !== undefined) return note(word, english);
  }
  return byLength(run, list, note, 2);
}

/** Takes the most words that are an entry together; then single words, whatever their endings. */
function spaced(piece: string, language: Language, list: ForeignWords, note: Note): string {
  const found = [...piece.matchAll(SPACED)].slice(0, LIMITS.search.terms);
  let result = '';
  let done = 0;
  for (let at = 0; at < found.length; ) {
    const { index, 0: written } = found[at] as RegExpExecArray;
    result += piece.slice(done, index);
    const [count, key, english] = entryAt(found, at, list) ?? [1, lastWord(written)];
    const meant = english ?? (isSmallWord(language, key) ? undefined : list.find(key));
    if (meant !== undefined) result += note(key, meant);
    else if (!isSmallWord(language, key)) result += written;
    const last = found[at + count - 1] as RegExpExecArray;
    done = last.index + last[0].length;
    at += count;
  }
  return result + piece.slice(done);
}

/** The longest entry of several words that begins at a place: how many words, and what they are. */
function entryAt(
  found: readonly RegExpExecArray[],
  at: number,
  list: ForeignWords,
): [count: number, key: string, english: readonly English[]] | undefined {
  for (let count = Math.min(ENTRY_WORDS, found.length - at); count > 1; count--) {
    const words = found.slice(at, at + count).map(([word]) => foldedWord(word));
    const english = list.get(words.join(' '));
    if (english !== undefined) return [count, words.join(' '), english];
  }
  return undefined;
}

/** `index` of `l'index`: what stands before an apostrophe is a small word. */
const lastWord = (written: string): string =>
  foldedWord(written.slice(Math.max(written.lastIndexOf("'"), written.lastIndexOf('’')) + 1));

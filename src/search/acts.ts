/**
 * Splits a request for several things into its acts: "read the report and mail it to Ann" has two. A clause is an act of its own
 * if it begins with a verb of doing, or is a question, and what stands before it is complete without it.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import {
  FILLERS,
  HELPERS,
  JOINTS,
  LISTING,
  MANNERS,
  NOUNS_TOO,
  OPENERS,
  PRONOUNS,
  QUESTIONS,
  VERBS,
} from './act-words.ts';
import { isStopWord } from './stop-words.ts';

/** Values: nothing in them joins or begins anything. */
const VALUES = /\bhttps?:\/\/\S+|"[^"\n]*"|“[^”\n]*”|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])|<[^<>\n]*>|`[^`\n]*`/gu;
/** What stands for a letter of a value. */
const HIDDEN = '0';
const WORD = /[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}'’_.@:/-]*/gu;
const SENTENCE = /[.!?;\n]/;
const PAUSE = /[,:]|\s-+\s/;
const MARK = /[,.!?;:\n]/;

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** What stands between the word before and this one. */
  readonly gap: string;
}

/** The acts of a request, in its order; none for a request that has only one. */
export function actsOf(text: string): string[] {
  const acts = clausesOf(readWords(text)).filter(isAct);
  if (acts.length < 2) return [];
  return acts.slice(0, LIMITS.search.acts).map((words, at) => {
    const own = text.slice(words[0]?.start, words.at(-1)?.end);
    // "Delete it" is about what the act before is about.
    const object = objectOf(words).length > 0 ? [] : objectOf(acts[at - 1] ?? []);
    return [own, ...object.slice(0, 3)].join(' ');
  });
}

function readWords(text: string): Word[] {
  const plain = text.replace(VALUES, (value) => HIDDEN.repeat(value.length));
  const words: Word[] = [];
  let end = 0;
  for (const { index: start, 0: found } of plain.matchAll(WORD)) {
    if (words.length >= LIMITS.search.actWords) break;
    const bare = found.replace(/[.:/'’-]+$/u, '');
    words.push({ text: bare.toLowerCase(), start, end: start + bare.length, gap: plain.slice(end, start) });
    end = start + bare.length;
  }
  return words;
}

/** Cuts at the end of each sentence, and where an act begins after one that is complete. */
function clausesOf(words: readonly Word[]): Word[][] {
  const clauses: Word[][] = [];
  let from = 0;
  for (let at = 1; at < words.length; at++) {
    const { gap, text } = words[at] as Word;
    const isJoint = SENTENCE.test(gap) || ((PAUSE.test(gap) || JOINTS.has(text)) && beginsAct(words, at));
    if (!isJoint || !(SENTENCE.test(gap) || isComplete(words.slice(from, at)))) continue;
    clauses.push(words.slice(from, at));
    from = at;
  }
  clauses.push(words.slice(from));
  return clauses;
}

/** The place of the first word from here that says something. */
function skipFillers(words: readonly Word[], from = 0): number {
  let at = from;
  while (at < words.length && /^(?:\d{1,2})$/.test((words[at] as Word).text)) at++;
  while (at < words.length && FILLERS.has((words[at] as Word).text)) at++;
  return at;
}

/** Tells whether an act begins after the mark or joint at this place. */
function beginsAct(words: readonly Word[], place: number): boolean {
  const at = skipFillers(words, place);
  const [word, next] = [words[at], words[at + 1]];
  if (word === undefined || next === undefined || SENTENCE.test(next.gap)) return false;
  if (VERBS.has(word.text)) return true;
  const joint = words[place] as Word;
  if (QUESTIONS.has(word.text)) return JOINTS.has(joint.text) && contentOf(upToMark(words, at + 1)).length > 1;
  if (!NOUNS_TOO.has(word.text) || JOINTS.has(next.text) || MARK.test(next.gap)) return false;
  const isList = LISTING.has(joint.text) && !MARK.test(joint.gap);
  return !isList || OPENERS.has(next.text);
}

/** The words up to the next mark or joint. */
function upToMark(words: readonly Word[], from: number): readonly Word[] {
  const length = words.slice(from).findIndex(({ text, gap }) => MARK.test(gap) || JOINTS.has(text));
  return words.slice(from, length < 0 ? undefined : from + length);
}

const isVerb = (word: string | undefined): boolean => word !== undefined && (VERBS.has(word) || NOUNS_TOO.has(word));

/** Tells whether a clause needs nothing behind it: it has an act and its object, and does not end in a verb that has none. */
function isComplete(words: readonly Word[]): boolean {
  const [before, last] = [words.at(-2)?.text, words.at(-1)?.text];
  if (isVerb(last) && (before === undefined || HELPERS.has(before))) return false;
  return words.slice(skipFillers(words) + 1).some(({ text }) => !isStopWord(text) || PRONOUNS.has(text));
}

/** Tells whether a clause is an act, not what is told about one. */
function isAct(words: readonly Word[]): boolean {
  const own = words.slice(skipFillers(words));
  const first = own[0]?.text;
  if (first === undefined || MANNERS.test(own.map(({ text }) => text).join(' '))) return false;
  return isVerb(first) || (QUESTIONS.has(first) && contentOf(own.slice(1)).length > 1);
}

/** The words that say something. */
const contentOf = (words: readonly Word[]): string[] =>
  words.map(({ text }) => text).filter((word) => !isStopWord(word) && !FILLERS.has(word) && !PRONOUNS.has(word));

/** What a clause is about: its words without the verb and values. */
const objectOf = (words: readonly Word[]): string[] =>
  contentOf(words.slice(skipFillers(words) + 1)).filter((word) => !/^0+$/.test(word));

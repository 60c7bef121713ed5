/**
 * Tells the sentences of a request that ask from those that only tell: "The flight was moved to six. Let Elena know" asks for
 * no flight. A sentence asks if it is a question, or if one of its clauses begins with a verb of doing.
 * @module
 */
import { FILLERS, NOUNS_TOO, QUESTIONS, VERBS } from './act-words.ts';

/** A request in two parts. */
interface Story {
  readonly asked: string;
  /** What only tells; empty for a request that is no story. */
  readonly told: string;
}

/** The end of a sentence, but not the point of `Dr.`; marks within values stand before no space. */
const ENDS = /(?<!\b(?:Dr|Mr|Mrs|Ms|St|No))(?<=[.!?])\s+|\n+/u;
const CLAUSES = /[,:;]|\s(?:and|so|but|then|please|you|to)\s/u;

/** Splits a request; a request of one sentence, or in which all ask, is no story. If none asks, the last one says what is wanted. */
export function splitStory(text: string): Story {
  const sentences = text.split(ENDS).filter((sentence) => sentence !== '');
  const whichAsk = sentences.map(asks);
  if (!whichAsk.includes(true)) whichAsk[sentences.length - 1] = true;
  if (!whichAsk.includes(false)) return { asked: text, told: '' };
  const join = (isAsked: boolean): string => sentences.filter((_, at) => whichAsk[at] === isAsked).join(' ');
  return { asked: join(true), told: join(false) };
}

const asks = (sentence: string): boolean => sentence.trimEnd().endsWith('?') || sentence.split(CLAUSES).some(isAct);

function isAct(clause: string): boolean {
  const words = clause.toLowerCase().match(/[\p{L}'’]+/gu) ?? [];
  const first = words.find((word) => !FILLERS.has(word) || QUESTIONS.has(word));
  return words.length > 1 && first !== undefined && (VERBS.has(first) || NOUNS_TOO.has(first));
}

/**
 * Reads what a request asks to be done to what: "rename a file" has the act `rename` and the object `file`. A tool for another
 * act on the same thing, or the same act on another thing, is a neighbour of what is asked for.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { FILLERS, FRESH, NOUNS_TOO, OPENED, OPENING, TAILS, VAGUE, VERBS } from './act-words.ts';
import { isStopWord } from './stop-words.ts';

/** What a request asks for. */
export interface Goal {
  /** The verb, and others that mean the same with this object. */
  readonly acts: readonly string[];
  /** The words of the object. */
  readonly object: readonly string[];
}

const WORD = /[\p{L}\p{N}_'’-]+|[.,;:!?\n]/gu;
const MARK = /^[.,;:!?\n]$/;

/** Returns the goal of a request for one thing; undefined if it does not begin with an act that says something. */
export function goalOf(text: string): Goal | undefined {
  const words = Array.from(text.toLowerCase().matchAll(WORD), ([word]) => word);
  const at = words.findIndex((word) => !FILLERS.has(word));
  const act = words[at];
  if (act === undefined || !(VERBS.has(act) || NOUNS_TOO.has(act))) return undefined;
  // "Make a chart" asks for a new one, "make the chart wider" does not.
  const makes = act === 'make' && FRESH.has(words[at + 1] ?? '');
  if (VAGUE.has(act) && !makes) return undefined;
  const object: string[] = [];
  let isFresh = false;
  for (const word of words.slice(at + 1)) {
    if (MARK.test(word) && object.length === 0) continue;
    if (object.length === LIMITS.search.goalWords || MARK.test(word) || TAILS.has(word)) break;
    isFresh ||= object.length === 0 && FRESH.has(word);
    if (!isStopWord(word) && !(object.length === 0 && word === 'new')) object.push(word);
    else if (object.length > 0) break;
  }
  const last = object.at(-1);
  if (last === undefined) return undefined;
  // "Open a ticket" asks for a new one, "open the ticket" does not.
  const opens = isFresh && OPENED.has(last) && (act === 'create' || OPENING.has(act));
  return { acts: opens ? [...new Set([act, 'create', 'open'])] : [act], object };
}

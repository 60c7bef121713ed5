/**
 * Tells whether texts already contain everything in a value. Servers write the same result twice, as structured content
 * and for people; models need it once.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';

/**
 * Tells whether every text, number and boolean in a value occurs in the texts as a separate word. False for a value
 * without any of these.
 */
export function isRepeated(value: unknown, texts: readonly string[]): boolean {
  if (texts.length === 0) return false;
  try {
    const leaves = leavesOf(value);
    const whole = texts.join('\n');
    if (leaves === undefined || leaves.size === 0 || leaves.size * whole.length > LIMITS.answer.repeatedWork)
      return false;
    return [...leaves].every((leaf) => standsIn(whole, leaf));
  } catch {
    // Results of programs can contain anything, including values that cannot be read.
    return false;
  }
}

/**
 * Returns the texts, numbers and booleans of a value, each once; undefined when there are too many. Null and empty
 * texts are skipped.
 */
function leavesOf(value: unknown): ReadonlySet<string> | undefined {
  const leaves = new Set<string>();
  const open: unknown[] = [value];
  for (let count = 0; open.length > 0; count++) {
    if (count >= LIMITS.schema.shown) return undefined;
    const one = open.pop();
    if (typeof one === 'object' && one !== null) {
      for (const inner of Object.values(one)) open.push(inner);
      if (open.length > LIMITS.schema.shown) return undefined;
    } else if (typeof one === 'string') {
      if (one.trim() !== '') leaves.add(one.trim());
    } else if (one !== null && one !== undefined) leaves.add(String(one));
  }
  return leaves;
}

/** Tells whether a text contains another, and not only as part of a longer word or number. */
function standsIn(text: string, leaf: string): boolean {
  for (let at = text.indexOf(leaf), tries = 0; at !== -1 && tries < LIMITS.answer.repeatedTries; tries++) {
    const end = at + leaf.length;
    if (!joins(text, at - 1, at) && !joins(text, end - 1, end)) return true;
    at = text.indexOf(leaf, at + 1);
  }
  return false;
}

/** Whether two neighbouring characters belong to one word or number, such as the `1` and `.` of `1.5`. */
function joins(text: string, left: number, right: number): boolean {
  const [a, b] = [text.charAt(left), text.charAt(right)];
  if (WORD.test(a) && WORD.test(b)) return true;
  if (a === '.' && DIGIT.test(b)) return DIGIT.test(text.charAt(left - 1));
  if (DIGIT.test(a) && b === '.') return DIGIT.test(text.charAt(right + 1));
  return a === '-' && DIGIT.test(b);
}

const WORD = /[\p{L}\p{N}_]/u;
const DIGIT = /\d/;

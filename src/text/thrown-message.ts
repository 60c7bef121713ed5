/**
 * Whatever was thrown in, a text about it out. Anything can be thrown: an object without a prototype, one whose getters
 * throw, nothing at all. Reading it must never throw again.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/**
 * The message of what was thrown, at most 16 Ki characters; `otherwise` where it says nothing. Never throws. Whoever takes
 * secrets out of it asks for more than is shown: the end may be half of one.
 */
export function messageOf(thrown: unknown, otherwise = 'no reason was given', maxChars = LIMITS.text.error): string {
  const said = read(thrown).slice(0, maxChars);
  return said.trim() === '' ? otherwise : said;
}

/** What was thrown, if it is of this kind. Never throws, where `instanceof` would for a proxy. */
export function thrownAs<T>(kind: abstract new (...args: never[]) => T, thrown: unknown): T | undefined {
  try {
    return thrown instanceof kind ? thrown : undefined;
  } catch {
    return undefined;
  }
}

function read(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  if (thrown === undefined || thrown === null) return '';
  try {
    const { message } = thrown as { readonly message?: unknown };
    if (typeof message === 'string') return message;
    if (typeof thrown !== 'object') return String(thrown);
    // "[object Object]" tells nobody anything, and neither does an object without fields.
    const text = JSON.stringify(thrown) ?? '';
    return text === '{}' ? '' : text;
  } catch {
    return '';
  }
}

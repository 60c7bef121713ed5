/**
 * Returns a message for any thrown value. Anything can be thrown: an object without a prototype, one whose getters
 * throw, or undefined. Reading it never throws again.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/**
 * Returns the message of a thrown value, at most 16 Ki characters; `otherwise` if there is none. Never throws. A caller
 * that redacts it should ask for more than it shows, because the end may be half a secret.
 */
export function messageOf(thrown: unknown, otherwise = 'no reason was given', maxChars = LIMITS.text.error): string {
  const said = read(thrown).slice(0, maxChars);
  return said.trim() === '' ? otherwise : said;
}

/** Returns the thrown value if it is of this kind. Never throws, unlike `instanceof` with a proxy. */
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
    // "[object Object]" and an object without fields say nothing.
    const text = JSON.stringify(thrown) ?? '';
    return text === '{}' ? '' : text;
  } catch {
    return '';
  }
}

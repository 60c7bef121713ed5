/**
 * A value in, the one JSON document that `--json` prints out.
 * @module
 */

import { isPlain, replaceUnseen } from '../text/plain-text.ts';

/** A text on one line, in quotes where it is more than a plain word, with everything in it to be seen. */
export function toWord(text: string): string {
  if (/^[\w@%+=:,./~${}-]+$/.test(text)) return text;
  const quoted = replaceUnseen(JSON.stringify(text), escaped);
  // What would be taken out on the way to the terminal must not be missing there.
  return isPlain(quoted) ? quoted : quoted.replace(/[^ -~]/gu, escaped);
}

/** Two spaces of indent, a line break at the end, nothing in it that a terminal would obey or not show. */
export const toJson = (value: unknown): string => `${replaceUnseen(JSON.stringify(value, undefined, 2), escaped)}\n`;

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

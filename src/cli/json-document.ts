/**
 * A value in, the one JSON document that `--json` prints out.
 * @module
 */

import { isPlain } from '../plain-text.ts';

// Valid inside JSON strings as they are, but a terminal would obey some of them and hide the others.
const UNSEEN =
  /[\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u034f|[\u180b-\u180d]|\u180f|[\ufe00-\ufe0f]|[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e0fff}]/gu;

/** A text on one line, in quotes where it is more than a plain word, with everything in it to be seen. */
export function toWord(text: string): string {
  if (/^[\w@%+=:,./~${}-]+$/.test(text)) return text;
  const quoted = JSON.stringify(text).replace(UNSEEN, escaped);
  // What would be taken out on the way to the terminal must not be missing there.
  return isPlain(quoted) ? quoted : quoted.replace(/[^ -~]/gu, escaped);
}

/** Two spaces of indent, a line break at the end, nothing in it that a terminal would not show. */
export const toJson = (value: unknown): string => `${JSON.stringify(value, undefined, 2).replace(UNSEEN, escaped)}\n`;

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

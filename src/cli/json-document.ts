/**
 * Writes the document of `--json`, and single words, so that nothing in them is hidden.
 * @module
 */

import { isPlain, replaceUnseen } from '../text/plain-text.ts';

/** A text on one line, quoted unless it is a plain word, with invisible characters escaped. */
export function toWord(text: string): string {
  if (/^[\w@%+=:,./~${}-]+$/.test(text)) return text;
  const quoted = replaceUnseen(JSON.stringify(text), escaped);
  // Characters that a terminal output drops are escaped instead.
  return isPlain(quoted) ? quoted : quoted.replace(/[^ -~]/gu, escaped);
}

/** Indented by two spaces, with a final line break; characters that a terminal obeys or hides are escaped. */
export const toJson = (value: unknown): string => `${replaceUnseen(JSON.stringify(value, undefined, 2), escaped)}\n`;

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

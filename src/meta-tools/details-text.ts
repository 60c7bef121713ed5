/**
 * Shortens descriptions of tools and parameters: takes the first sentences, and what a docstring says about a
 * parameter.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { CUT } from '../schema/type-text.ts';
import { plainText } from '../text/plain-text.ts';

/** The whole text, without indentation and empty lines. */
export function tidy(text: string): string {
  return plainText(text, LIMITS.answer.description)
    .replace(/[ \t\r]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();
}

const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|incl|approx)\.$/i;

/**
 * Returns as many sentences as fit into `maxChars`; of a longer sentence, its beginning. Ends with `…` if something is
 * missing.
 */
export function firstSentences(tidied: string, maxChars: number): string {
  if (tidied.length <= maxChars) return tidied;
  if (maxChars <= 0) return '';
  const room = tidied.slice(0, maxChars - 1);
  // A full stop counts only before white space. One at the end of the room may start a file extension.
  const ends = [...room.matchAll(/[.!?。！？](?=\s)|[。！？]|:?\n/g)].filter(
    ({ index }) => !ABBREVIATION.test(room.slice(Math.max(0, index - 8), index + 1)),
  );
  const last = ends.at(-1);
  const end = last && last.index + (/[.!?。！？]/.test(last[0]) ? 1 : 0);
  if (end !== undefined && end >= maxChars / 3) return `${room.slice(0, end).trimEnd()} ${CUT}`;
  const space = room.lastIndexOf(' ');
  const cut = room.slice(0, space > maxChars / 2 ? space : maxChars - 1);
  return `${cut.replace(/[\ud800-\udbff]$/, '').replace(/[\s,;:]+$/, '')}${CUT}`;
}

/**
 * Returns what a description says about parameters in lines of their own, as docstrings do:
 * `path (str): Where to write`.
 */
export function describedIn(description: string, names: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (names.length === 0) return found;
  for (const line of plainText(description, LIMITS.answer.description)
    .split('\n')
    .slice(0, LIMITS.answer.descriptionLines)) {
    const text = line.replace(/^[\s\-*•+`"']{0,40}/, '');
    const name = names.find((one) => text.startsWith(one) && !found.has(one) && !/^[\w.]/.test(text.slice(one.length)));
    const said = name === undefined ? undefined : afterColon(text.slice(name.length));
    if (name !== undefined && said) found.set(name, said);
  }
  return found;
}

/** Returns the text after `name`; quotes and a remark in brackets may come before the colon or dash. */
function afterColon(rest: string): string | undefined {
  let text = rest.replace(/^[`"'*]{0,4}\s{0,4}/, '');
  if (text.startsWith('(')) {
    const end = text.indexOf(')');
    if (end === -1) return undefined;
    text = text.slice(end + 1).replace(/^[`"'*]{0,4}\s{0,4}/, '');
  }
  return /^(?::|-\s|–|—)/.test(text) ? tidy(text.slice(1)).replace(/^[*`\s]+/, '') : undefined;
}

/** The start of a docstring's list of parameters. */
const SECTION = /\n ?[#*\s]{0,8}(?:args|arguments|parameters|params|inputs?)\b[^\n]{0,20}:[*\s]{0,4}(?:\n|$)/i;

/** Removes a description's list of parameters and everything after it, if parameters are shown one by one. */
export function withoutParameterList(tidied: string): string {
  const at = SECTION.exec(`\n${tidied}`)?.index ?? -1;
  return at > 0 ? `${tidied.slice(0, at).trimEnd()} ${CUT}` : tidied;
}

const FILLERS: ReadonlySet<string> = new Set(
  'a an and for from in is of on or s that the this to value with you your'.split(' '),
);

/** Tells whether a description only repeats names: "The issue title" for `title` of `create_issue`. */
export function repeatsName(description: string, ...names: readonly string[]): boolean {
  const known = new Set(names.flatMap(wordsOf).map(singular));
  return wordsOf(description).every((word) => FILLERS.has(word) || known.has(singular(word)));
}

const wordsOf = (text: string): string[] =>
  text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

const singular = (word: string): string => (word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word);

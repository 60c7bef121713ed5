/**
 * A path or another word in, the same as it can be typed into a shell out.
 * @module
 */

/** The word, in quotes where a shell would take it for more than one word or for something else. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./~-]+$/.test(word)) return word;
  // Single quotes mean nothing to Windows, where a path has backslashes.
  if (/^(?:[A-Za-z]:)?\\/.test(word)) return `"${word}"`;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Quotes a path or another word for a shell.
 * @module
 */

/** Returns the word, quoted if a shell would split or interpret it. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./~-]+$/.test(word)) return word;
  // Windows does not know single quotes, and its paths have backslashes. In double quotes other shells would run $(…).
  if (/^(?:[A-Za-z]:)?\\[^$`"%]*$/.test(word)) return `"${word}"`;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

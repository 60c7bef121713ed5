/**
 * Finds the files that a program names, in its text and without running it: quoted strings after `import`, `from`,
 * `require`, `extends`, `path` and `envFile`. A path that code assembles is not found, and is refused when the code
 * runs.
 * @module
 */

/** A module name follows these words. */
const MODULE_MARKS: ReadonlySet<string> = new Set(['from', 'import', 'require']);
/** The name of a file to read follows these words. */
const FILE_MARKS: ReadonlySet<string> = new Set(['extends', 'path', 'envFile']);
const isMark = (word: string): boolean => MODULE_MARKS.has(word) || FILE_MARKS.has(word);

/** Names as written, each once, in order of appearance. */
interface NamedFiles {
  readonly modules: readonly string[];
  readonly files: readonly string[];
}

/** Returns the files that a program names. */
export function namedFiles(text: string): NamedFiles {
  const modules = new Set<string>();
  const files = new Set<string>();
  let mark = '';
  for (let at = 0; at < text.length; ) {
    const character = text.charAt(at);
    if (character === '"' || character === "'" || character === '`') {
      const end = endOfString(text, at);
      const inside = text.slice(at + 1, end);
      if (MODULE_MARKS.has(mark)) modules.add(inside);
      else if (FILE_MARKS.has(mark)) files.add(inside);
      else mark = isMark(inside) ? inside : mark;
      at = end + 1;
    } else if (/[A-Za-z_$]/.test(character)) {
      let end = at + 1;
      while (end < text.length && /[\w$]/.test(text.charAt(end))) end++;
      mark = text.slice(at, end);
      at = end;
    } else {
      if (!/[\s:([,]/.test(character)) mark = '';
      at++;
    }
  }
  return { modules: [...modules], files: [...files] };
}

/**
 * Returns the end of a quoted string. An unclosed string ends with its line, so an apostrophe in a comment does no
 * harm.
 */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === text.charAt(start) || character === '\n') return at;
  }
  return text.length;
}

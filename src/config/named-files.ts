/**
 * The text of a configuration in, the files it names out: what it imports, extends, and takes servers from. Code is not
 * run for this; one pass over its text finds the quoted paths behind `import`, `from`, `require`, `extends` and `path`.
 * @module
 */

import { isObject } from '../plain-object.ts';
import { isCode, parseData } from './parse-data.ts';

const MARKS: ReadonlySet<string> = new Set(['from', 'import', 'require', 'extends', 'path']);

/** Relative paths as written, in order of appearance. A file that does not parse names nothing. */
export async function namedFiles(path: string, text: string): Promise<readonly string[]> {
  const found = isCode(path) ? inCode(text) : inData(await parseData(path, text).catch(() => undefined));
  return [...new Set(found.filter((name) => !name.includes('\0')))];
}

function inData(document: unknown): string[] {
  const section = isObject(document) && isObject(document.discovery) ? document.discovery : document;
  if (!isObject(section)) return [];
  const above = isObject(document) ? document.extends : undefined;
  const sources = Array.isArray(section.sources)
    ? section.sources.map((source) => isObject(source) && source.path)
    : [];
  return [section.extends, above, sources].flat(2).filter((name) => typeof name === 'string');
}

function inCode(text: string): string[] {
  const found: string[] = [];
  let mark = '';
  for (let at = 0; at < text.length; ) {
    const character = text.charAt(at);
    if (character === '"' || character === "'") {
      const end = endOfString(text, at);
      const inside = text.slice(at + 1, end);
      if (MARKS.has(mark) && (inside.startsWith('./') || inside.startsWith('../'))) found.push(inside);
      else mark = MARKS.has(inside) ? inside : mark;
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
  return found;
}

/** Where a quoted string ends; one that is not closed ends with its line, so that an apostrophe in a comment does no harm. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === text.charAt(start) || character === '\n') return at;
  }
  return text.length;
}

/**
 * Edits TOML. An entry is a table of its own, added at the end and removed with its sub-tables; comments, order and
 * other tables stay.
 * @module
 */
import { parse } from 'smol-toml';
import { isObject } from '../../json/plain-object.ts';
import { type Editor, type KeyPath, keysOnly, lineBreakOf, spliced, UneditableText } from './editor.ts';

/** A header and its lines. */
interface Section {
  readonly path: KeyPath;
  /** Whether it adds to a list: `[[…]]`. */
  readonly item: boolean;
  readonly start: number;
  /** The position after its last line with content. */
  readonly end: number;
}

export const tomlEditor: Editor = {
  insert(text, route, key, value) {
    const way = keysOnly(route);
    const lineBreak = lineBreakOf(text);
    const name = [...way, ...(key === undefined ? [] : [key])].map(keyText).join('.');
    const fields = Object.entries(isObject(value) ? value : {}).filter(([, field]) => field !== undefined);
    const lines = [
      key === undefined ? `[[${name}]]` : `[${name}]`,
      ...fields.map(([field, inner]) => `${keyText(field)} = ${valueText(inner)}`),
    ];
    const ended = text === '' || text.endsWith('\n');
    const before = text.trim() === '' ? '' : lineBreak;
    return text + (ended ? '' : lineBreak) + before + lines.join(lineBreak) + (ended ? lineBreak : '');
  },

  remove(text, route, key) {
    const way = keysOnly(route);
    const sections = sectionsOf(text);
    const found = typeof key === 'number' ? itemSections(sections, way, key) : inside(sections, [...way, key]);
    if (found.length === 0) throw new UneditableText(`${String(key)} has no table of its own`);
    return found.reduceRight((rest, section) => without(rest, section), text);
  },
};

const startsWith = (path: KeyPath, way: KeyPath): boolean => way.every((key, index) => path[index] === key);

const inside = (sections: readonly Section[], way: KeyPath): Section[] =>
  sections.filter(({ path }) => startsWith(path, way));

/** Returns the section that starts an item, and its sub-sections. */
function itemSections(sections: readonly Section[], way: KeyPath, index: number): Section[] {
  const isItem = ({ path, item }: Section) => item && path.length === way.length && startsWith(path, way);
  let count = -1;
  return sections.filter((section) => {
    if (isItem(section)) count++;
    return count === index && startsWith(section.path, way);
  });
}

/** Removes the section and the empty line above it. */
function without(text: string, { start, end }: Section): string {
  const blank = /(?:^|\n)(\r?\n)$/.exec(text.slice(0, start))?.[1]?.length ?? 0;
  return spliced(text, start - blank, end, '');
}

const keyText = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (value instanceof Date) return value.toISOString();
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, inner]) => `${keyText(key)} = ${valueText(inner)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

/** Returns the tables of a text, in order. Lines before the first header belong to none. */
function sectionsOf(text: string): Section[] {
  const sections: Section[] = [];
  const state = { quote: '', depth: 0 };
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('\n', at) === -1 ? text.length : text.indexOf('\n', at) + 1;
    const line = text.slice(at, next);
    const outside = state.quote === '' && state.depth === 0;
    const last = sections.at(-1);
    if (outside && /^\s*\[/.test(line)) sections.push({ ...headerOf(line), start: at, end: next });
    else {
      if (last !== undefined && !(outside && /^\s*(?:#|$)/.test(line)))
        sections[sections.length - 1] = { ...last, end: next };
      readLine(line, state);
    }
    at = next;
  }
  return sections;
}

/** Parses a header with the TOML parser. */
function headerOf(line: string): Pick<Section, 'path' | 'item'> {
  const path: string[] = [];
  for (let here: unknown = parse(line); ; ) {
    const [entry] = Object.entries((Array.isArray(here) ? here[0] : here) as object);
    if (entry === undefined) return { path, item: /^\s*\[\[/.test(line) };
    path.push(entry[0]);
    here = entry[1];
  }
}

/** Tracks strings and brackets that continue on the next line. */
function readLine(line: string, state: { quote: string; depth: number }): void {
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    const triple = line.slice(at, at + 3);
    if (state.quote !== '') {
      if (character === '\\' && state.quote.startsWith('"')) at++;
      else if (line.startsWith(state.quote, at)) {
        at += state.quote.length - 1;
        state.quote = '';
      }
    } else if (triple === '"""' || triple === "'''") {
      state.quote = triple;
      at += 2;
    } else if (character === '"' || character === "'") state.quote = character;
    else if (character === '#') return;
    else if ('[{'.includes(character)) state.depth++;
    else if (']}'.includes(character)) state.depth--;
  }
}

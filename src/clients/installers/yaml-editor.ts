/**
 * Edits YAML. An entry is added as the first lines of its map or list, or inside its brackets, and removed with its
 * lines; comments, order and everything else stay.
 * @module
 */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import {
  type Editor,
  indentAt,
  type KeyPath,
  keysOnly,
  lineBreakOf,
  lineStart,
  spliced,
  UneditableText,
  type Way,
} from './editor.ts';

export const yamlEditor: Editor = {
  insert(text, way, key, value, last = false) {
    const root = parseDocument(text).contents;
    if (root === null || (isScalar(root) && root.value === null))
      return appended(text, nested(keysOnly(way), key, value), '');
    if (!isMap(root)) throw uneditable('it is not a map');
    let map: YAMLMap = root;
    let pair: Pair | undefined;
    if (typeof way.at(-1) === 'number') return insertInItem(text, nodeAt(root, way), nested([], key, value));
    for (const [index, name] of keysOnly(way).entries()) {
      const found = pairOf(map, name);
      if (found === undefined) return insertNew(text, map, pair, nested(keysOnly(way.slice(index)), key, value));
      pair = found;
      if (isEmpty(found.value))
        return belowKey(text, found, nested(keysOnly(way.slice(index + 1)), key, value), undefined);
      if (index === way.length - 1 && key === undefined && isSeq(found.value)) {
        const end = last ? found.value.items.length - 1 : -1;
        return end < 0 ? insertNew(text, found.value, found, [value]) : insertBehind(text, found.value, end, value);
      }
      if (!isMap(found.value)) throw uneditable(`${name} is not a map`);
      map = found.value;
    }
    return insertNew(text, map, pair, nested([], key, value));
  },

  remove(text, way, key) {
    const root = parseDocument(text).contents;
    const node = nodeAt(root, way);
    const [above, last] = [nodeAt(root, way.slice(0, -1)), way.at(-1)];
    const pair = isMap(above) && typeof last === 'string' ? pairOf(above, last) : undefined;
    const found = typeof key === 'number' ? itemRange(text, node, key) : pairRange(node, key);
    if (found === undefined || !(isMap(node) || isSeq(node))) throw uneditable(`${String(key)} was not found`);
    const [start, end] = found;
    if (node.flow === true) return withoutFlowItem(text, start, end);
    const from = lineStart(text, start);
    const [first, second] = node.items;
    if (isMap(node) && text.slice(from, start).trim() === '-' && second !== undefined && isFirst(first, key))
      return withoutFirst(text, start, end, rangeOf((second as Pair).key)[0]);
    if (text.slice(from, start).trim() !== '') throw uneditable(`${String(key)} does not begin its line`);
    const to = endOfLine(text, start + text.slice(start, end).trimEnd().length);
    if (node.items.length > 1) return spliced(text, from, to, '');
    // An empty value would be `null`, which clients do not treat as an empty map or list.
    const empty = isSeq(node) ? '[]' : '{}';
    if (pair === undefined) return spliced(text, from, to, empty + (/\r?\n$/.exec(text.slice(from, to))?.[0] ?? ''));
    const rest = spliced(text, from, to, '');
    const colon = text.indexOf(':', rangeOf(pair.key)[1]) + 1;
    const isBare = /^[ \t]*(?:#.*)?\r?$/.test(rest.slice(colon, endOfLine(rest, colon)).replace(/\n$/, ''));
    return isBare ? spliced(rest, colon, colon, ` ${empty}`) : rest;
  },
};

/** Follows keys and places of items; undefined if there is nothing. */
const nodeAt = (root: unknown, way: Way): unknown =>
  way.reduce<unknown>((node, key) => {
    if (typeof key === 'number') return isSeq(node) ? node.items[key] : undefined;
    return isMap(node) ? pairOf(node, key)?.value : undefined;
  }, root);

/** Adds members at the beginning of a map that is an item of a list. */
function insertInItem(text: string, map: unknown, added: unknown): string {
  if (!isMap(map)) throw uneditable('the item is not a map');
  const [first] = map.items;
  if (map.flow === true && first !== undefined) {
    const at = rangeOf(first.key)[0];
    return spliced(text, at, at, `${JSON.stringify(added, undefined, 1).replace(/\n */g, ' ').slice(1, -1).trim()}, `);
  }
  if (map.flow === true) return insertNew(text, map, undefined, added);
  const [start] = rangeOf(map);
  const [lineBreak, indent] = [lineBreakOf(text), ' '.repeat(start - lineStart(text, start))];
  return spliced(text, start, start, linesOf(added, indent, lineBreak).trimStart() + lineBreak + indent);
}

const isFirst = (item: unknown, key: string | number): boolean =>
  isScalar((item as Pair).key) && String(((item as Pair).key as { value: unknown }).value) === key;

/** Removes the first member of an item, on the line of the dash, with its comment there. The next one takes its place. */
function withoutFirst(text: string, start: number, end: number, next: number): string {
  const between = text.slice(endOfLine(text, start + text.slice(start, end).trimEnd().length), next);
  if (between.trim() !== '') throw uneditable('a comment follows what is removed');
  return spliced(text, start, next, '');
}

const uneditable = (why: string) => new UneditableText(why);
const rangeOf = (node: unknown): readonly [number, number] => {
  const range = (node as Node | null | undefined)?.range;
  if (!range) throw uneditable('a part of it has no place');
  return [range[0], range[1]];
};

const pairOf = (map: YAMLMap, name: string): Pair | undefined =>
  map.items.find(({ key }) => isScalar(key) && String(key.value) === name);

/** Tells whether a key has no value. A written `null` is a value. */
const isEmpty = (value: unknown): boolean =>
  value === null || (isScalar(value) && value.value === null && (value.source ?? '') === '');

/** Wraps a value in maps with these keys. */
const nested = (way: KeyPath, key: string | undefined, value: unknown): unknown =>
  way.reduceRight<unknown>((inner, name) => ({ [name]: inner }), key === undefined ? [value] : { [key]: value });

/** Adds members to a map, or items to a list, that is not empty or is in brackets. */
function insertNew(text: string, node: YAMLMap | YAMLSeq, pair: Pair | undefined, added: unknown): string {
  const [start, end] = rangeOf(node);
  if (node.flow === true) {
    const inner = JSON.stringify(added, undefined, 1).replace(/\n */g, ' ').slice(1, -1).trim();
    return spliced(text, start + 1, start + 1, inner + (node.items.length > 0 ? ', ' : ''));
  }
  if (pair === undefined) return appended(text, added, indentAt(text, start));
  if (isAlias(node) || lineStart(text, start) <= rangeOf(pair.key)[0] || end <= start)
    throw uneditable('it begins on the line of its key');
  return belowKey(text, pair, added, text.slice(lineStart(text, start), start));
}

/** Adds an item after the last one of a list. */
function insertBehind(text: string, list: YAMLSeq, last: number, value: unknown): string {
  const range = itemRange(text, list, last);
  if (range === undefined) throw uneditable('its last item was not found');
  const [start, end] = range;
  if (list.flow === true) {
    const inner = JSON.stringify([value], undefined, 1).replace(/\n */g, ' ').slice(1, -1).trim();
    return spliced(text, end, end, `, ${inner}`);
  }
  const at = endOfLine(text, start + text.slice(start, end).trimEnd().length);
  const lines = linesOf([value], ' '.repeat(start - lineStart(text, start)), lineBreakOf(text));
  const ended = text.slice(0, at).endsWith('\n');
  return spliced(text, at, at, ended ? lines + lineBreakOf(text) : lineBreakOf(text) + lines);
}

/** Inserts lines below the line of a key. */
function belowKey(text: string, { key }: Pair, added: unknown, indent: string | undefined): string {
  const [start, end] = rangeOf(key);
  const at = endOfLine(text, end);
  const lines = linesOf(added, indent ?? `${' '.repeat(start - lineStart(text, start))}  `, lineBreakOf(text));
  const ended = text.slice(0, at).endsWith('\n');
  return spliced(text, at, at, ended ? lines + lineBreakOf(text) : lineBreakOf(text) + lines);
}

function appended(text: string, added: unknown, indent: string): string {
  const lineBreak = lineBreakOf(text);
  const lines = linesOf(added, indent, lineBreak);
  return text === '' || text.endsWith('\n') ? text + lines + lineBreak : text + lineBreak + lines;
}

const linesOf = (value: unknown, indent: string, lineBreak: string): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
    .trimEnd()
    .split('\n')
    .map((line) => indent + line)
    .join(lineBreak);

/** Returns the position after the line break of a line. */
function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

function pairRange(node: unknown, key: string): readonly [number, number] | undefined {
  const pair = isMap(node) ? pairOf(node, key) : undefined;
  if (pair === undefined) return undefined;
  const [start, end] = rangeOf(pair.key);
  return [start, pair.value === null ? end : Math.max(end, rangeOf(pair.value)[1])];
}

/** Starts at the dash, or at the item itself inside brackets. */
function itemRange(text: string, node: unknown, index: number): readonly [number, number] | undefined {
  const item = isSeq(node) ? node.items[index] : undefined;
  if (item === undefined) return undefined;
  const [start, end] = rangeOf(item);
  if (isSeq(node) && node.flow === true) return [start, end];
  const dash = text.slice(0, start).trimEnd().length - 1;
  return text[dash] === '-' ? [dash, end] : undefined;
}

/** Removes the item and one adjacent comma. */
function withoutFlowItem(text: string, start: number, end: number): string {
  const after = /^\s*,[ \t]*/.exec(text.slice(end));
  if (after) return spliced(text, start, end + after[0].length, '');
  const before = /,\s*$/.exec(text.slice(0, start));
  return spliced(text, before?.index ?? start, end, '');
}

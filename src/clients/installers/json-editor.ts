/**
 * Edits JSON with comments. A new entry comes first in its map, where it disturbs no comma and no comment, and is written
 * in the style of the text around it. The parser's own `modify` is not used: it drops comments beside what it removes, and
 * reformats the lines it touches.
 * @module
 */
import { createScanner, type Node, parseTree } from 'jsonc-parser';
import {
  type Editor,
  indentAt,
  keysOnly,
  lineBreakOf,
  lineStart,
  spliced,
  UneditableText,
  type Way,
} from './editor.ts';

/** Where a member of an object, or an item of a list, stands. */
interface Member {
  /** Where the key, or the item, begins. */
  readonly start: number;
  /** Behind the value. */
  readonly end: number;
  /** Where the comma behind it stands, if there is one. */
  readonly comma: number | undefined;
}

interface Style {
  readonly lineBreak: string;
  /** One step of indentation. */
  readonly step: string;
  /** A space after `:` and `,`. */
  readonly spaced: boolean;
  /** A space inside braces. */
  readonly padded: boolean;
  /** The whole text is on one line. */
  readonly oneLine: boolean;
}

export const jsonEditor: Editor = {
  insert(text, way, key, value, last = false) {
    const root = treeOf(text);
    if (root === undefined) {
      const style = { lineBreak: lineBreakOf(text), step: '  ', spaced: true, padded: true, oneLine: false };
      return text + written(nested(keysOnly(way), key, value), style, '') + style.lineBreak;
    }
    const style = styleOf(text, root);
    const { node, missing } = follow(root, way);
    // `null` says that there is nothing, which is no longer so.
    if (node.children === undefined) {
      const held = written(nested(missing, key, value), style, indentAt(text, node.offset), style.oneLine);
      return spliced(text, node.offset, node.offset + node.length, held);
    }
    const end = last && missing.length === 0 ? membersOf(text, node).at(-1) : undefined;
    if (end !== undefined) return insertBehind(text, end, style, value);
    const [first, ...rest] = missing;
    return first === undefined
      ? insertInto(text, node, style, key, value)
      : insertInto(text, node, style, first, nested(rest, key, value));
  },

  remove(text, way, key) {
    const root = treeOf(text);
    const { node, missing } = root === undefined ? { missing: ['root'] } : follow(root, way);
    const index = node?.children?.findLastIndex((child, at) => keyOf(child, at) === key) ?? -1;
    if (node === undefined || missing.length > 0 || index === -1)
      throw new UneditableText(`${String(key)} was not found`);
    return removeMember(text, node, index);
  },
};

/** The outermost value; undefined where there is nothing but white space and comments. */
const treeOf = (text: string): Node | undefined => parseTree(text, [], { allowTrailingComma: true });

const keyOf = ({ type, children }: Node, index: number): unknown =>
  type === 'property' ? children?.[0]?.value : index;
const valueIn = (child: Node): Node => (child.type === 'property' && child.children?.[1]) || child;

function membersOf(text: string, node: Node): readonly Member[] {
  const scanner = createScanner(text, true);
  return (node.children ?? []).map((child) => {
    const end = child.offset + child.length;
    scanner.setPosition(end);
    scanner.scan();
    const next = scanner.getTokenOffset();
    return { start: child.offset, end, comma: text[next] === ',' ? next : undefined };
  });
}

/** The last node of the way that exists, and the keys that do not. Of a key that is written twice the last counts. */
function follow(root: Node, way: Way): { readonly node: Node; readonly missing: readonly string[] } {
  let node = root;
  for (const [index, key] of way.entries()) {
    const next = node.children?.findLast((child, at) => keyOf(child, at) === key);
    if (next === undefined) return { node, missing: keysOnly(way.slice(index)) };
    node = valueIn(next);
  }
  return { node, missing: [] };
}

/** Wraps a value in maps with these keys. */
const nested = (way: readonly string[], key: string | undefined, value: unknown): unknown =>
  way.reduceRight<unknown>((inner, name) => ({ [name]: inner }), key === undefined ? [value] : { [key]: value });

function insertInto(text: string, node: Node, style: Style, key: string | undefined, value: unknown): string {
  const [first] = node.children ?? [];
  const start = node.offset + 1;
  const inner = text.slice(start, first?.offset ?? node.offset + node.length - 1);
  const manyLines = inner.includes('\n') || (first === undefined && !style.oneLine);
  const name = key === undefined ? '' : `${JSON.stringify(key)}:${style.spaced ? ' ' : ''}`;
  if (!manyLines) {
    const pad = /^[ \t]/.test(inner) ? ' ' : '';
    const put =
      pad + name + written(value, style, '', true) + (first ? `,${pad === '' && style.spaced ? ' ' : ''}` : '');
    return spliced(text, start, start, put);
  }
  const outer = indentAt(text, node.offset);
  const indent =
    first !== undefined && startsLine(text, first.offset) ? indentAt(text, first.offset) : outer + style.step;
  const entry = style.lineBreak + indent + name + written(value, style, indent);
  const at = endOfOpeningLine(text, start);
  if (first !== undefined) return spliced(text, at, at, `${entry},`);
  return spliced(text, at, at, inner.includes('\n') ? entry : entry + style.lineBreak + outer);
}

/** Adds an item to a list, behind the last one and what is said about that on its line. */
function insertBehind(text: string, last: Member, style: Style, value: unknown): string {
  const ownLine = startsLine(text, last.start);
  const indent = indentAt(text, last.start);
  const entry = ownLine
    ? style.lineBreak + indent + written(value, style, indent)
    : (style.spaced ? ' ' : '') + written(value, style, '', true);
  const { comma } = last;
  const from = comma === undefined ? last.end : comma + 1;
  const at = ownLine ? endOfOpeningLine(text, from) : from;
  // The list keeps or lacks its trailing comma as before.
  const put = spliced(text, at, at, comma === undefined ? entry : `${entry},`);
  return comma === undefined ? spliced(put, last.end, last.end, ',') : put;
}

const startsLine = (text: string, at: number): boolean => /^[ \t]*$/.test(text.slice(lineStart(text, at), at));

/**
 * Tells whether only a comment follows on the line. Other content must not move behind a comment of the previous line.
 */
const endsLine = (text: string, at: number): boolean => /^[ \t]*(?:\r?\n|$|\/[/*])/.test(text.slice(at, at + 10_000));

/** Behind the opening brace and the comments on its line, if nothing else follows there. */
function endOfOpeningLine(text: string, from: number): number {
  const comments = /(?:[ \t]|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:\/\/[^\r\n]*)?(?=\r?\n)/y;
  comments.lastIndex = from;
  return comments.test(text) ? comments.lastIndex : from;
}

function removeMember(text: string, node: Node, index: number): string {
  const members = membersOf(text, node);
  const [before, member] = [members[index - 1], members[index] as Member];
  const ownLine = startsLine(text, member.start);
  let from = member.start;
  let to = member.comma === undefined ? member.end : member.comma + 1;
  if (ownLine && endsLine(text, to)) {
    from = lineStart(text, member.start);
    from -= text.slice(0, from).endsWith('\r\n') ? 2 : from > 0 ? 1 : 0;
  } else if (member.comma !== undefined) while (/[ \t]/.test(text.charAt(to))) to++;
  else if (before !== undefined) while (/[ \t]/.test(text.charAt(from - 1))) from--;
  let result = spliced(text, from, to, '');
  // Removing the last member also removes the previous member's comma.
  if (before?.comma !== undefined && member.comma === undefined)
    result = spliced(result, before.comma, before.comma + 1, '');
  if (members.length > 1) return result;
  const [start, end] = [node.offset + 1, node.offset + node.length - (to - from) - 1];
  return result.slice(start, end).trim() === '' ? spliced(result, start, end, '') : result;
}

function styleOf(text: string, root: Node): Style {
  const [first] = root.children ?? [];
  const body = text.slice(root.offset, root.offset + root.length);
  const oneLine = first !== undefined && !body.includes('\n');
  const indented = first !== undefined && !oneLine && startsLine(text, first.offset);
  return {
    lineBreak: lineBreakOf(text),
    step: indented ? indentAt(text, first.offset).slice(indentAt(text, root.offset).length) : '  ',
    spaced: first === undefined || /[ \t\n]/.test(text.charAt(valueIn(first).offset - 1)),
    padded: !oneLine || /[ \t]/.test(body.charAt(1)),
    oneLine,
  };
}

/** Serialises a value; lists of plain values stay on one line. */
function written(value: unknown, style: Style, indent: string, inline = style.oneLine): string {
  const separator = style.spaced ? ', ' : ',';
  const name = (key: string) => `${JSON.stringify(key)}:${style.spaced ? ' ' : ''}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inside = (item: unknown, deeper: string) => written(item, style, deeper, inline);
  const short = inline || (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null));
  const deeper = short ? '' : indent + style.step;
  const items = Array.isArray(value)
    ? value.map((item) => inside(item, deeper))
    : Object.entries(value).map(([key, item]) => name(key) + inside(item, deeper));
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (items.length === 0) return `${open}${close}`;
  const pad = style.padded && style.spaced && !Array.isArray(value) ? ' ' : '';
  if (short) return open + pad + items.join(separator) + pad + close;
  const lines = items.map((item) => style.lineBreak + deeper + item).join(',');
  return open + lines + style.lineBreak + indent + close;
}

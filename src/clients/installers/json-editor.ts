/**
 * Edits JSON with comments. A new entry comes first in its map, where it affects no comma and no comment, and follows
 * the style of the surrounding text.
 * @module
 */
import { type Editor, indentAt, lineBreakOf, lineStart, spliced, UneditableText, type Way } from './editor.ts';
import { endOfComment, type JsonMember, type JsonNode, jsonTree, skipSpace } from './json-tree.ts';

/** The style of a text. */
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

/** Edits JSON. */
export const jsonEditor: Editor = {
  insert(text, way, key, value, last = false) {
    if (skipSpace(text, 0) >= text.length) {
      const style = { lineBreak: lineBreakOf(text), step: '  ', spaced: true, padded: true, oneLine: false };
      return text + written(nested(way, key, value), style, '') + style.lineBreak;
    }
    const root = jsonTree(text);
    const style = styleOf(text, root);
    const { node, missing } = follow(root, way);
    // `null` is replaced by the new value.
    if (node.kind === 'scalar') {
      const held = nested(missing, key, value);
      return spliced(text, node.start, node.end, written(held, style, indentAt(text, node.start), style.oneLine));
    }
    const end = last && missing.length === 0 ? node.members.at(-1) : undefined;
    if (end !== undefined) return insertBehind(text, end, style, value);
    const [first, ...rest] = missing;
    return first === undefined
      ? insertInto(text, node, style, key, value)
      : insertInto(text, node, style, first, nested(rest, key, value));
  },

  remove(text, way, key) {
    const { node, missing } = follow(jsonTree(text), way);
    const index = node.members.findLastIndex((member) => member.key === key);
    const member = node.members[index];
    if (missing.length > 0 || member === undefined) throw new UneditableText(`${String(key)} was not found`);
    return removeMember(text, node, member, node.members[index - 1]);
  },
};

/** Returns the last existing node of the path, and the missing keys. Of a duplicate key, the last counts. */
function follow(root: JsonNode, way: Way): { readonly node: JsonNode; readonly missing: Way } {
  let node = root;
  for (const [index, key] of way.entries()) {
    const next = node.members.findLast((member) => member.key === key);
    if (next === undefined) return { node, missing: way.slice(index) };
    node = next.value;
  }
  return { node, missing: [] };
}

/** Wraps a value in maps with these keys. */
const nested = (way: Way, key: string | undefined, value: unknown): unknown =>
  way.reduceRight<unknown>((inner, name) => ({ [name]: inner }), key === undefined ? [value] : { [key]: value });

function insertInto(text: string, node: JsonNode, style: Style, key: string | undefined, value: unknown): string {
  const [first] = node.members;
  const inner = text.slice(node.start + 1, first?.start ?? node.end - 1);
  const manyLines = inner.includes('\n') || (first === undefined && !style.oneLine);
  const name = key === undefined ? '' : `${JSON.stringify(key)}:${style.spaced ? ' ' : ''}`;
  if (!manyLines) {
    const pad = /^[ \t]/.test(inner) ? ' ' : '';
    const put =
      pad + name + written(value, style, '', true) + (first ? `,${pad === '' && style.spaced ? ' ' : ''}` : '');
    return spliced(text, node.start + 1, node.start + 1, put);
  }
  const outer = indentAt(text, node.start);
  const indent =
    first !== undefined && startsLine(text, first.start) ? indentAt(text, first.start) : outer + style.step;
  const entry = style.lineBreak + indent + name + written(value, style, indent);
  const at = endOfOpeningLine(text, node.start + 1);
  if (first !== undefined) return spliced(text, at, at, `${entry},`);
  return spliced(text, at, at, inner.includes('\n') ? entry : entry + style.lineBreak + outer);
}

/** Adds an item to a list, after the last one and any comment on its line. */
function insertBehind(text: string, last: JsonMember, style: Style, value: unknown): string {
  const ownLine = startsLine(text, last.start);
  const indent = indentAt(text, last.start);
  const entry = ownLine
    ? style.lineBreak + indent + written(value, style, indent)
    : (style.spaced ? ' ' : '') + written(value, style, '', true);
  const { comma } = last;
  const from = comma === undefined ? last.value.end : comma + 1;
  const at = ownLine ? endOfOpeningLine(text, from) : from;
  // The list keeps or lacks its trailing comma as before.
  const put = spliced(text, at, at, comma === undefined ? entry : `${entry},`);
  return comma === undefined ? spliced(put, last.value.end, last.value.end, ',') : put;
}

const startsLine = (text: string, at: number): boolean => /^[ \t]*$/.test(text.slice(lineStart(text, at), at));

/**
 * Tells whether only a comment follows on the line. Other content must not move behind a comment of the previous line.
 */
const endsLine = (text: string, at: number): boolean => /^[ \t]*(?:\r?\n|$|\/[/*])/.test(text.slice(at, at + 10_000));

/** Returns the position after the opening brace and any comment on its line. */
function endOfOpeningLine(text: string, from: number): number {
  for (let at = from; at < text.length; ) {
    if (/[ \t]/.test(text.charAt(at))) at++;
    else if (text.startsWith('//', at)) return endOfComment(text, at);
    else if (text.startsWith('/*', at)) at = endOfComment(text, at);
    else return text.startsWith('\n', at) || text.startsWith('\r\n', at) ? at : from;
  }
  return from;
}

function removeMember(text: string, node: JsonNode, member: JsonMember, before: JsonMember | undefined): string {
  const ownLine = startsLine(text, member.start);
  let from = member.start;
  let to = member.comma === undefined ? member.value.end : member.comma + 1;
  if (ownLine && endsLine(text, to)) {
    from = lineStart(text, member.start);
    from -= text.slice(0, from).endsWith('\r\n') ? 2 : from > 0 ? 1 : 0;
  } else if (member.comma !== undefined) while (/[ \t]/.test(text.charAt(to))) to++;
  else if (before !== undefined) while (/[ \t]/.test(text.charAt(from - 1))) from--;
  let result = spliced(text, from, to, '');
  // Removing the last member also removes the previous member's comma.
  if (before?.comma !== undefined && member.comma === undefined)
    result = spliced(result, before.comma, before.comma + 1, '');
  if (before !== undefined || member !== node.members.at(-1)) return result;
  const end = node.end - (to - from);
  return result.slice(node.start + 1, end - 1).trim() === '' ? spliced(result, node.start + 1, end - 1, '') : result;
}

function styleOf(text: string, root: JsonNode): Style {
  const [first] = root.members;
  const oneLine = first !== undefined && !text.slice(root.start, root.end).includes('\n');
  const indented =
    first !== undefined && startsLine(text, first.start) && text.slice(root.start, first.start).includes('\n');
  return {
    lineBreak: lineBreakOf(text),
    step: indented ? indentAt(text, first.start).slice(indentAt(text, root.start).length) : '  ',
    spaced: first === undefined || /[ \t\n]/.test(text.charAt(first.value.start - 1)),
    padded: !oneLine || /[ \t]/.test(text.charAt(root.start + 1)),
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

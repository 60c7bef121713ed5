/**
 * Writes RTFS values as text. Each field of a `[:map …]` type has a line of its own.
 * @module
 */
import { replaceUnseen } from '../../text/plain-text.ts';
import { isKeyword, isVector, type RtfsValue } from './rtfs-value.ts';

/** Returns the text of a value. `indent` is that of the line where it begins. */
export function rtfsText(value: RtfsValue, indent = ''): string {
  if (value === null) return 'nil';
  if (typeof value === 'string') return stringText(value);
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'boolean') return String(value);
  if (isVector(value)) {
    if (!isKeyword(value[0], 'map')) return `[${value.map((one) => rtfsText(one, indent)).join(' ')}]`;
    const inside = `${indent}  `;
    return `[${value.map((one, at) => (at === 0 ? ':map' : `\n${inside}${rtfsText(one, inside)}`)).join('')}]`;
  }
  if (value.kind === 'list') return `(${value.items.map((one) => rtfsText(one, indent)).join(' ')})`;
  if (value.kind === 'map')
    return `{${value.entries.map(([key, one]) => `${rtfsText(key, indent)} ${rtfsText(one, indent)}`).join(' ')}}`;
  return value.kind === 'keyword' ? `:${value.name}` : value.name;
}

/** Escapes quotes, control characters and everything that a reviewer would not see. */
const stringText = (text: string): string =>
  `"${replaceUnseen(
    text.replace(/[\\"\n\r\t]/g, (char) => SHORT[char] ?? char),
    escaped,
  )}"`;

const SHORT: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escaped = (sign: string): string =>
  Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

/** A number that JSON does not know is nil. */
const numberText = (value: number): string => (Number.isFinite(value) ? String(value) : 'nil');

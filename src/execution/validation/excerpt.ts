/**
 * Shortens a sub-schema to a few words of TypeScript, or a few bytes of JSON, for messages from which an agent can fix
 * its call.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { typeText } from '../../schema/type-text.ts';

/** Short type of a sub-schema: `string`, `'open'|'closed'`, `number[]`, `object`. */
export const shortType = (schema: unknown): string =>
  typeText(schema, {}, { depth: 0, members: 12, maxChars: 500, bare: true });

/** Returns a value as a literal, cut when it is long. */
export function literal(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  const short = text.length > 40 ? `${text.slice(0, 39)}…` : text;
  return typeof value === 'string' ? `'${short.slice(1, text.length > 40 ? undefined : -1)}'` : short;
}

/** Returns the relevant part of a schema, small enough to show: nested parts and long texts are shortened. */
export function excerpt(schema: unknown): unknown {
  for (const [depth, width] of [
    [4, 40],
    [2, 20],
    [1, 10],
  ] as const) {
    const part = shorten(schema, depth, width);
    if (JSON.stringify(part).length <= LIMITS.validation.excerpt) return part;
  }
  return { type: shortType(schema) };
}

const DROPPED: ReadonlySet<string> = new Set(['$schema', '$defs', 'definitions', '$comment', 'examples', 'title']);

function shorten(value: unknown, depth: number, width: number): unknown {
  if (typeof value === 'string') return value.length > 200 ? `${value.slice(0, 200)}…` : value;
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (depth === 0) return Array.isArray(value) ? ['…'] : { '…': '…' };
  if (Array.isArray(value)) {
    const kept = value.slice(0, width).map((item) => shorten(item, depth - 1, width));
    return value.length > width ? [...kept, `… ${value.length - width} more`] : kept;
  }
  const entries = Object.entries(value).filter(([key]) => !DROPPED.has(key));
  const kept = entries.slice(0, width).map(([key, item]) => [key, shorten(item, depth - 1, width)]);
  return Object.fromEntries(entries.length > width ? [...kept, ['…', `${entries.length - width} more`]] : kept);
}

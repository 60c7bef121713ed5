/**
 * How large a value is as JSON, without writing it out. Value in; bytes out, exact up to the limit where counting stops.
 * @module
 */

const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;
const SHORT = 64;

/** Bytes of the value as minified JSON in UTF-8; counting stops once it is over `limit`. */
export function jsonBytes(value: unknown, limit = Number.POSITIVE_INFINITY): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && bytes <= limit) {
    const next = open.pop();
    if (typeof next === 'string') bytes += stringBytes(next);
    else if (typeof next === 'number') bytes += Number.isFinite(next) ? String(next).length : 4;
    else if (typeof next === 'boolean') bytes += next ? 4 : 5;
    else if (Array.isArray(next)) {
      bytes += 2 + Math.max(0, next.length - 1);
      for (const item of next) open.push(item ?? null);
    } else if (typeof next === 'object' && next !== null) {
      const { toJSON } = next as { toJSON?: unknown };
      if (typeof toJSON === 'function') open.push(toJSON.call(next));
      else bytes += openRecord(next as Readonly<Record<string, unknown>>, open);
    } else bytes += 4;
  }
  return bytes;
}

/** Pushes the members and gives the bytes of braces, keys, colons and commas. */
function openRecord(record: Readonly<Record<string, unknown>>, open: unknown[]): number {
  let bytes = 1;
  let members = 0;
  for (const key of Object.keys(record)) {
    const member = record[key];
    if (member === undefined || typeof member === 'function') continue;
    members++;
    bytes += stringBytes(key) + 2;
    open.push(member);
  }
  return members === 0 ? 2 : bytes;
}

/** Bytes of a string as JSON, quotes included. */
export function stringBytes(text: string): number {
  if (text.length <= SHORT) return shortBytes(text);
  // Almost all text needs no escapes, and then the runtime counts much faster than we can.
  if (!NEEDS_ESCAPE.test(text)) return Buffer.byteLength(text) + 2;
  return Buffer.byteLength(JSON.stringify(text));
}

function shortBytes(text: string): number {
  let bytes = 2;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20) bytes += code >= 8 && code <= 13 && code !== 11 ? 2 : 6;
    else if (code < 0x80) bytes += code === 0x22 || code === 0x5c ? 2 : 1;
    else if (code < 0x800) bytes += 2;
    else if (code < 0xd800 || code > 0xdfff) bytes += 3;
    else if (code < 0xdc00 && isLow(text.charCodeAt(i + 1))) {
      bytes += 4;
      i++;
    } else bytes += 6;
  }
  return bytes;
}

const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/**
 * Measures the size of a value as JSON without writing it. The size is exact up to a limit, where counting stops.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;
const HAS_SURROGATE = /[\ud800-\udfff]/;
const SHORT = 64;
/** In characters. A longer string is processed in slices of this length. */
const SLICE = 32 * 1024;
/** Values counted in one step. */
const VALUES_A_STEP = 1_000;

/** Returns the bytes of the value as minified JSON in UTF-8; counting stops above `limit`, as for a cyclic value. */
export function jsonBytes(value: unknown, limit: number = LIMITS.json.measured): number {
  let bytes = 0;
  const open: unknown[] = [value];
  // Each open value takes a byte at least.
  while (open.length > 0 && bytes + open.length <= limit) bytes += ownBytes(open.pop(), open, limit - bytes);
  return bytes + open.length;
}

/** Like `jsonBytes`, in short steps. */
export function* jsonBytesInSteps(value: unknown): Generator<void, number> {
  let bytes = 0;
  const open: unknown[] = [value];
  for (let values = 1; open.length > 0 && bytes + open.length <= LIMITS.json.measured; values++) {
    const next = open.pop();
    if (typeof next === 'string' && next.length > SLICE) {
      bytes += 2;
      for (const slice of slices(next)) {
        bytes += sliceBytes(slice) - 2;
        yield;
      }
    } else bytes += ownBytes(next, open, LIMITS.json.measured);
    if (values % VALUES_A_STEP === 0) yield;
  }
  return bytes + open.length;
}

/**
 * Pushes the members of a value to `open`, and returns the bytes of the rest. For a string or a list above `limit`, the
 * result may be too low, but is above `limit`.
 */
function ownBytes(value: unknown, open: unknown[], limit: number): number {
  if (typeof value === 'string') return stringBytes(value, limit);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value).length : 4;
  if (typeof value === 'boolean') return value ? 4 : 5;
  if (Array.isArray(value)) {
    const bytes = 2 + Math.max(0, value.length - 1);
    // Each item takes a byte at least. A program's list may be a few holes that claim to be billions.
    if (bytes + value.length > limit) return bytes + value.length;
    for (const item of value) open.push(item ?? null);
    return bytes;
  }
  if (typeof value !== 'object' || value === null) return 4;
  const { toJSON } = value as { toJSON?: unknown };
  // Like JSON, this asks once: what `toJSON` returns is written as it is, even if it is the same object.
  const shown = typeof toJSON === 'function' ? (toJSON.call(value) as unknown) : value;
  return shown !== null && typeof shown === 'object' && !Array.isArray(shown)
    ? openRecord(shown as Readonly<Record<string, unknown>>, open)
    : ownBytes(shown, open, limit);
}

/** Pushes the members and returns the bytes of braces, keys, colons and commas. */
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

/** Returns the bytes of a string as JSON, including quotes; counting stops above `limit`. */
export function stringBytes(text: string, limit = Number.POSITIVE_INFINITY): number {
  if (text.length <= SHORT) return shortBytes(text);
  // Every character takes at least a byte.
  if (text.length + 2 > limit) return text.length + 2;
  if (text.length <= SLICE) return sliceBytes(text);
  let bytes = 2;
  for (const slice of slices(text)) {
    bytes += sliceBytes(slice) - 2;
    if (bytes > limit) break;
  }
  return bytes;
}

/** Cuts a string into short ones, never inside a surrogate pair. */
export function* slices(text: string): Generator<string, void> {
  for (let from = 0; from < text.length; ) {
    const end = codePointBorder(text, Math.min(text.length, from + SLICE));
    yield text.slice(from, end);
    from = end;
  }
}

/** Moves a position back by one if it is inside a surrogate pair. */
export function codePointBorder(text: string, at: number): number {
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at)) ? at - 1 : at;
}

function sliceBytes(text: string): number {
  // Almost all text needs no escapes, and then the runtime counts much faster.
  if (!NEEDS_ESCAPE.test(text)) return Buffer.byteLength(text) + 2;
  // The runtime also writes escapes quickly, except for surrogates.
  return HAS_SURROGATE.test(text) ? shortBytes(text) : Buffer.byteLength(JSON.stringify(text));
}

function shortBytes(text: string): number {
  let bytes = 2;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20) bytes += code >= 8 && code <= 13 && code !== 11 ? 2 : 6;
    else if (code < 0x80) bytes += code === 0x22 || code === 0x5c ? 2 : 1;
    else if (code < 0x800) bytes += 2;
    else if (code < 0xd800 || code > 0xdfff) bytes += 3;
    else if (isHigh(code) && isLow(text.charCodeAt(i + 1))) {
      bytes += 4;
      i++;
    } else bytes += 6;
  }
  return bytes;
}

const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/**
 * Parses and writes JSON without losing digits of numbers.
 *
 * Programs in other languages send numbers that no double can represent, such as 64-bit ids. The parsed values are
 * doubles; the original digits are kept beside the object or array that contains the number. They are written again as
 * long as the double is unchanged. So a copy of that very object or array loses them; a copy of an outer object does
 * not.
 *
 * Messages on stdio are parsed and written with this, on both legs. Over HTTP numbers are doubles. Messages of more than
 * 4 Mi characters or 50,000 values are also treated as doubles, because searching for digits would delay other work.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

type Holder = Record<string | number, unknown>;

/** By holder, an object with the digits of its numbers under the same keys, and no other strings. */
const kept = new WeakMap<object, Holder>();
let everKept = false;

// Fifteen digits survive in a double, wherever between 1e-307 and 1e308 they stand. So what does not has sixteen, or an
// exponent of three. The repetition is written out because V8 then need not look at every character.
const SIXTEEN_DIGITS = '[\\d.]'.repeat(16);
const LARGE_EXPONENT = '[eE][+-]?\\d\\d\\d';
const HAS_MANY_DIGITS = new RegExp(SIXTEEN_DIGITS);
const HAS_LARGE_EXPONENT = new RegExp(`\\d${LARGE_EXPONENT}`);
/** Matches the position right before such a number, or before a look-alike in a string. */
const BEFORE_SUSPECT = new RegExp(`[[,: \\t\\n\\r](?=-?(?:${SIXTEEN_DIGITS}|[\\d.]+${LARGE_EXPONENT}))`, 'g');
const NUMBER = /[-+.\deE]+/y;
/** No double is written with more than 17 digits before its zeros. */
const LONG_WHOLE = /^-?\d{17,}[1-9]$/;

/** Returns what `JSON.parse` returns or throws. Digits are not kept for a number that is the whole text. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (text.length > LIMITS.json.exactChars || (!HAS_MANY_DIGITS.test(text) && !HAS_LARGE_EXPONENT.test(text)))
    return value;
  if (!isHolder(value) || text.search(BEFORE_SUSPECT) === -1 || !isModest(value)) return value;
  const quoted = quoteInexact(text);
  if (quoted !== undefined) keep(value, JSON.parse(quoted));
  return value;
}

/** Tells whether digits are kept for a text of this size. */
export const keepsDigits = (chars: number, values: number): boolean =>
  chars <= LIMITS.json.exactChars && values <= LIMITS.json.exactValues;

/** Keeps the digits of one number, for callers that build arrays and objects without `parseJson`. */
export function keepDigits(holder: object, key: string | number, number: string): void {
  if ((number.length < 16 && !HAS_LARGE_EXPONENT.test(number)) || isExact(number)) return;
  everKept = true;
  const digits = kept.get(holder) ?? (Object.create(null) as Holder);
  digits[key] = number;
  kept.set(holder, digits);
}

/** Returns what `JSON.stringify` returns, with the digits that `parseJson` kept. */
export function writeJson(value: unknown): string {
  if (!everKept || !isHolder(value)) return JSON.stringify(value);
  const paths = pathsToKept(value);
  return paths?.has(value) ? written(value, paths) : JSON.stringify(value);
}

const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null;

/** Tells whether there are few enough values to examine. */
function isModest(value: Holder): boolean {
  let left = LIMITS.json.exactValues;
  // No recursion: the depth has not been checked yet.
  const open = [value];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    const items = Array.isArray(holder) ? holder : Object.values(holder);
    left -= items.length;
    if (left < 0) return false;
    for (const item of items) if (isHolder(item)) open.push(item);
  }
  return true;
}

/** Returns the same JSON with inexact numbers quoted; undefined when there are none. */
function quoteInexact(text: string): string | undefined {
  const pieces: string[] = [];
  let from = 0;
  // `at` is never inside a string; `quote` is where the next one starts.
  let at = 0;
  let quote = text.indexOf('"');
  // There may be more numbers than values: of duplicate keys only the last counts.
  for (let numbers = 0; numbers <= LIMITS.json.exactValues; ) {
    BEFORE_SUSPECT.lastIndex = at;
    if (!BEFORE_SUSPECT.test(text)) break;
    const start = BEFORE_SUSPECT.lastIndex;
    while (quote !== -1 && quote < start) {
      at = endOfString(text, quote);
      quote = text.indexOf('"', at);
    }
    if (at > start) continue;
    numbers++;
    NUMBER.lastIndex = start;
    NUMBER.test(text);
    at = NUMBER.lastIndex;
    const number = text.slice(start, at);
    if (isExact(number)) continue;
    pieces.push(text.slice(from, start), number);
    from = at;
  }
  if (from === 0) return undefined;
  pieces.push(text.slice(from));
  return pieces.join('"');
}

/** Returns the position after the string that starts at `quote`; -1 when it does not end before `limit`. */
export function endOfString(text: string, quote: number, limit = text.length): number {
  for (let end = quote; ; ) {
    end = text.indexOf('"', end + 1);
    if (end === -1 || end >= limit) return -1;
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    if ((end - escapes) % 2 === 0) return end + 1;
  }
}

/** Tells whether a number's double is written as the same value. */
function isExact(number: string): boolean {
  if (LONG_WHOLE.test(number)) return false;
  const double = Number(number);
  const writes = String(double);
  return writes === number || (Number.isFinite(double) && decimal(writes) === decimal(number));
}

/**
 * Returns one spelling for each value, without its sign: the digits between outer zeros, and the power of ten of the
 * last.
 */
function decimal(number: string): string {
  const e = Math.max(number.indexOf('e'), number.indexOf('E'));
  const mantissa = e === -1 ? number : number.slice(0, e);
  const point = mantissa.indexOf('.');
  const digits = point === -1 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  let first = digits.startsWith('-') ? 1 : 0;
  while (digits.charCodeAt(first) === ZERO) first++;
  if (first === digits.length) return '0';
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end--;
  const exponent = e === -1 ? 0 : Number(number.slice(e + 1));
  const fraction = point === -1 ? 0 : digits.length - point;
  return `${digits.slice(first, end)}e${exponent - fraction + digits.length - end}`;
}

/** Keeps the numbers of `value` that are strings in `quoted`; the two do not differ otherwise. */
function keep(value: Holder, quoted: Holder): void {
  everKept = true;
  const open = [value, quoted];
  for (let twin = open.pop(); twin !== undefined; twin = open.pop()) {
    const holder = open.pop() as Holder;
    let hasDigits = false;
    for (const key of Object.keys(twin)) {
      const item = twin[key];
      if (typeof item === 'string' && typeof holder[key] === 'number') hasDigits = true;
      else {
        if (isHolder(item)) open.push(holder[key] as Holder, item);
        // Cleared, because it would use memory as long as the holder exists.
        twin[key] = null;
      }
    }
    if (hasDigits) kept.set(holder, twin);
  }
}

/**
 * Returns the holders of kept numbers and everything that contains them; undefined for a value that is too large, too
 * deep or cyclic.
 */
function pathsToKept(value: Holder): ReadonlySet<object> | undefined {
  const paths = new Set<object>();
  // Larger than the limit for reading, because a message has its own fields around the value.
  let left = 2 * LIMITS.json.exactValues;
  const look = (holder: Holder, levels: number): boolean => {
    const items = Array.isArray(holder) ? holder : Object.values(holder);
    left -= items.length;
    if (levels === 0 || left < 0) return false;
    let leadsThere = false;
    let hasNumbers = false;
    for (const item of items) {
      if (typeof item === 'number') hasNumbers = true;
      else if (isHolder(item)) {
        if (!look(item, levels - 1)) return false;
        leadsThere ||= paths.size > 0 && paths.has(item);
      }
    }
    if ((leadsThere || (hasNumbers && kept.has(holder))) && typeof holder.toJSON !== 'function') paths.add(holder);
    return true;
  };
  return look(value, LIMITS.json.exactDepth) ? paths : undefined;
}

/** Writes objects that lead to a kept number; `JSON.stringify` writes everything else. */
function written(holder: Holder, paths: ReadonlySet<object>): string {
  const digits = kept.get(holder);
  if (Array.isArray(holder)) {
    const items: string[] = [];
    for (let at = 0; at < holder.length; at++) items.push(writtenItem(holder[at], digits?.[at], paths) ?? 'null');
    return `[${items.join(',')}]`;
  }
  const fields: string[] = [];
  for (const key of Object.keys(holder)) {
    const item = writtenItem(holder[key], digits?.[key], paths);
    if (item !== undefined) fields.push(`${JSON.stringify(key)}:${item}`);
  }
  return `{${fields.join(',')}}`;
}

/** Undefined for a value that JSON cannot represent. */
function writtenItem(item: unknown, digits: unknown, paths: ReadonlySet<object>): string | undefined {
  if (isHolder(item) && paths.has(item)) return written(item, paths);
  return typeof digits === 'string' && Object.is(item, Number(digits)) ? digits : JSON.stringify(item);
}

const BACKSLASH = 0x5c;
const ZERO = 0x30;

/**
 * JSON whose numbers pass through unharmed: text in, the values of `JSON.parse` out, and text again with the digits that
 * came in.
 *
 * Programs in other languages send numbers that no double holds, such as 64-bit ids. Values have doubles all the same;
 * the digits are kept beside the object or array that a number was read into, and written again as long as its double
 * still stands there. So a copy of that very object or array loses them, and a copy of what is around it does not.
 *
 * Messages on stdio are read and written with this, on both legs. Over HTTP the MCP SDK does both, with doubles. So does
 * this for messages of more than 4 Mi characters or 50,000 values: looking for digits would keep everybody waiting.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

type Holder = Record<string | number, unknown>;

/** By holder, another one that has the digits of kept numbers under the same keys, and no other strings. */
const kept = new WeakMap<object, Holder>();
let everKept = false;

// Fifteen digits survive in a double, wherever between 1e-307 and 1e308 they stand. So what does not has sixteen, or an
// exponent of three. The repetition is written out because V8 then need not look at every character.
const SIXTEEN_DIGITS = '[\\d.]'.repeat(16);
const LARGE_EXPONENT = '[eE][+-]?\\d\\d\\d';
const HAS_MANY_DIGITS = new RegExp(SIXTEEN_DIGITS);
const HAS_LARGE_EXPONENT = new RegExp(`\\d${LARGE_EXPONENT}`);
/** What comes right before such a number, or before what looks like one in a string. */
const BEFORE_SUSPECT = new RegExp(`[[,: \\t\\n\\r](?=-?(?:${SIXTEEN_DIGITS}|[\\d.]+${LARGE_EXPONENT}))`, 'g');
const NUMBER = /[-+.\deE]+/y;
/** No double is written with more than 17 digits before its zeros. */
const LONG_WHOLE = /^-?\d{17,}[1-9]$/;

/** What `JSON.parse` gives or throws. The digits of a number that is the whole text are not kept. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (text.length > LIMITS.json.exactChars || (!HAS_MANY_DIGITS.test(text) && !HAS_LARGE_EXPONENT.test(text)))
    return value;
  if (!isHolder(value) || text.search(BEFORE_SUSPECT) === -1 || !isModest(value)) return value;
  const quoted = quoteInexact(text);
  if (quoted !== undefined) keep(value, JSON.parse(quoted));
  return value;
}

/** Whether the digits of a text of this size are looked for. */
export const keepsDigits = (chars: number, values: number): boolean =>
  chars <= LIMITS.json.exactChars && values <= LIMITS.json.exactValues;

/** Keeps the digits of one number, for whoever puts arrays and objects together without `parseJson`. */
export function keepDigits(holder: object, key: string | number, number: string): void {
  if ((number.length < 16 && !HAS_LARGE_EXPONENT.test(number)) || isExact(number)) return;
  everKept = true;
  const digits = kept.get(holder) ?? (Object.create(null) as Holder);
  digits[key] = number;
  kept.set(holder, digits);
}

/** What `JSON.stringify` gives, with the digits that `parseJson` has kept. */
export function writeJson(value: unknown): string {
  if (!everKept || !isHolder(value)) return JSON.stringify(value);
  const paths = pathsToKept(value);
  return paths?.has(value) ? written(value, paths) : JSON.stringify(value);
}

const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null;

/** Whether there are few enough values to look at them. */
function isModest(value: Holder): boolean {
  let left = LIMITS.json.exactValues;
  // No recursion: nobody has asked yet how deep it nests.
  const open = [value];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    const items = Array.isArray(holder) ? holder : Object.values(holder);
    left -= items.length;
    if (left < 0) return false;
    for (const item of items) if (isHolder(item)) open.push(item);
  }
  return true;
}

/** The same JSON, with those numbers as strings that no double holds; undefined when there are none. */
function quoteInexact(text: string): string | undefined {
  const pieces: string[] = [];
  let from = 0;
  // Never inside a string; `quote` is where the next one begins.
  let at = 0;
  let quote = text.indexOf('"');
  // There may be more than values: of those with the same key only the last is one.
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

/** Behind the string that begins at `quote`; -1 when its end is not before `limit`. */
export function endOfString(text: string, quote: number, limit = text.length): number {
  for (let end = quote; ; ) {
    end = text.indexOf('"', end + 1);
    if (end === -1 || end >= limit) return -1;
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    if ((end - escapes) % 2 === 0) return end + 1;
  }
}

/** Whether the double of a number is written as the same value. */
function isExact(number: string): boolean {
  if (LONG_WHOLE.test(number)) return false;
  const double = Number(number);
  const writes = String(double);
  return writes === number || (Number.isFinite(double) && decimal(writes) === decimal(number));
}

/** One spelling for each value, without its sign: the digits between outer zeros, and the power of ten of the last. */
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

/** Keeps what is a number in `value` and a string in `quoted`; they differ in nothing else. */
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
        // It would take up memory as long as the holder is there.
        twin[key] = null;
      }
    }
    if (hasDigits) kept.set(holder, twin);
  }
}

/** The holders of kept numbers and all that these are in; undefined for what is too large, too deep or holds itself. */
function pathsToKept(value: Holder): ReadonlySet<object> | undefined {
  const paths = new Set<object>();
  // Some more than are read: a message has its own fields around what is handed on.
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

/** What is on the way to a kept number is written here; `JSON.stringify` writes everything else. */
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

/** Undefined for what has no place in JSON. */
function writtenItem(item: unknown, digits: unknown, paths: ReadonlySet<object>): string | undefined {
  if (isHolder(item) && paths.has(item)) return written(item, paths);
  return typeof digits === 'string' && Object.is(item, Number(digits)) ? digits : JSON.stringify(item);
}

const BACKSLASH = 0x5c;
const ZERO = 0x30;

/**
 * How deep JSON may nest, and whether a value or a text nests deeper. Values deeper than this are read by no program we
 * know, but overflow the stack of the ones that walk them. And how much JSON inside a string may hold.
 * @module
 */
import { endOfString, parseJson } from './exact-json.ts';

/** Arrays and objects inside each other, on every way in and out. */
export const MAX_NESTING = 200;

/** Shorter JSON cannot nest too deep: each level takes a bracket at both ends. */
const SHORTEST = 2 * MAX_NESTING;
const LONG = 64 * 1024;
const BEGINNING = 16 * 1024;

/** Whether arrays and objects nest deeper than `levels`; a value that holds itself does. */
export function nestsTooDeep(value: unknown, levels: number = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  // Bounded by `levels`, and much faster than a stack of our own.
  if (levels === 0) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof item === 'object' && item !== null && nestsTooDeep(item, levels - 1)) return true;
  }
  return false;
}

/** JSON that is well formed but nests deeper than anybody reads. */
export class NestingError extends Error {
  override readonly name = 'NestingError';
  /** What was parsed all the same. Its depth is not bounded. */
  readonly value: unknown;

  constructor(value?: unknown) {
    super(`it is nested more than ${MAX_NESTING} levels deep`);
    this.value = value;
  }
}

/**
 * `parseJson` for text from outside; throws `NestingError` for what nests too deep.
 *
 * The value is looked at, not the text: that costs a tenth of the parsing, where counting brackets in a text full of
 * escaped quotes costs more than the parsing. Only the beginning of a long text is counted first, because parsing
 * millions of levels takes seconds.
 */
export function parseNested(text: string, parse: (text: string) => unknown = parseJson): unknown {
  if (text.length > LONG && beginsTooDeep(text)) throw new NestingError();
  // Some programs begin what they write with a byte order mark, which no JSON may have.
  const value = parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  if (text.length >= SHORTEST && nestsTooDeep(value)) throw new NestingError(value);
  return value;
}

/** Values in a JSON text inside a string: as many as are parsed, checked and copied in one go without anybody noticing. */
const MOST_QUOTED_VALUES = 20_000;
/** Names of one object in it; they are the slowest to read. */
const MOST_QUOTED_NAMES = 5_000;

/**
 * `parseNested` for a text that was a string in a message. Whoever counted the values of the message did not see these:
 * what holds too many is refused before it is parsed.
 */
export function parseQuoted(text: string): unknown {
  if (holdsTooMuch(text)) throw new RangeError('a JSON text inside a string holds too many values');
  return parseNested(text);
}

function holdsTooMuch(text: string): boolean {
  // A value takes a character, and one to part it from the next; a name takes three with its quotes and a colon.
  if (text.length < 2 * MOST_QUOTED_NAMES) return false;
  const names: number[] = [0];
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at);
      if (end === -1) return false;
      at = end - 1;
    } else if (char === COMMA) values++;
    else if (char === COLON) {
      const count = (names.at(-1) ?? 0) + 1;
      names[names.length - 1] = count;
      if (count > MOST_QUOTED_NAMES) return true;
    } else if (char === OPEN_ARRAY || char === OPEN_OBJECT) {
      values++;
      if (names.push(0) > MAX_NESTING + 1) return true;
    } else if ((char === CLOSE_ARRAY || char === CLOSE_OBJECT) && names.length > 1) names.pop();
    if (values > MOST_QUOTED_VALUES) return true;
  }
  return false;
}

function beginsTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < BEGINNING; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at, BEGINNING);
      if (end === -1) return false;
      at = end - 1;
    } else if (char === OPEN_ARRAY || char === OPEN_OBJECT) {
      if (++depth > MAX_NESTING) return true;
    } else if (char === CLOSE_ARRAY || char === CLOSE_OBJECT) depth--;
  }
  return false;
}

const BYTE_ORDER_MARK = 0xfeff;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

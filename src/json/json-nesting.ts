/**
 * Limits how deep JSON may nest and how many values a client may send. No known program reads deeper values, but they
 * overflow the stack of programs that walk them.
 * @module
 */
import { endOfString, parseJson } from './exact-json.ts';

/** Deepest nesting of arrays and objects, on every way in and out. */
export const MAX_NESTING = 200;

/** Most values in one message of a client. Agents write arguments by hand; bulk data goes in several calls. */
export const MOST_CLIENT_VALUES = 40_000;
/** Most names of one object: objects with many names are the slowest to read and copy. */
const MOST_CLIENT_NAMES = MOST_CLIENT_VALUES / 4;
/** In characters. A shorter text cannot exceed the limits: a value takes at least two. */
const FEW_VALUES = 40_000;

/** Shorter JSON cannot nest too deep: each level takes a bracket at both ends. */
const SHORTEST = 2 * MAX_NESTING;
const LONG = 64 * 1024;
const BEGINNING = 16 * 1024;

/** Tells whether arrays and objects nest deeper than `levels`; a cyclic value does. */
export function nestsTooDeep(value: unknown, levels: number = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  // Recursion is limited by `levels`, and much faster than an explicit stack.
  if (levels === 0) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof item === 'object' && item !== null && nestsTooDeep(item, levels - 1)) return true;
  }
  return false;
}

/** Valid JSON that nests too deep. */
export class NestingError extends Error {
  override readonly name = 'NestingError';
  /** The parsed value, if any. Its depth is not limited. */
  readonly value: unknown;

  constructor(value?: unknown) {
    super(`it is nested more than ${MAX_NESTING} levels deep`);
    this.value = value;
  }
}

/**
 * Like `parseJson`, for text from outside; throws `NestingError` if it nests too deep. Checks the value, not the text:
 * that costs a tenth of the parsing, while counting brackets in a text full of escaped quotes costs more than the
 * parsing. Only the beginning of a long text is counted first, because parsing millions of levels takes seconds.
 */
export function parseNested(text: string, parse: (text: string) => unknown = parseJson): unknown {
  if (text.length > LONG && beginsTooDeep(text)) throw new NestingError();
  // Some programs start with a byte order mark, which JSON does not allow.
  const value = parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  if (text.length >= SHORTEST && nestsTooDeep(value)) throw new NestingError(value);
  return value;
}

/**
 * Like `parseJson`, for JSON that a client wrote inside a string, where it was not counted: applies the limits of a
 * whole message. Throws if there is too much of it, and whatever `parseJson` throws.
 */
export function parseWritten(text: string): unknown {
  const fault = writtenFault(text);
  if (fault !== undefined) throw new RangeError(fault);
  return parseJson(text);
}

/** Returns which limit such a text exceeds, in words that continue "it …"; undefined when it may be parsed. */
export const writtenFault = (text: string): string | undefined =>
  text.length <= FEW_VALUES ? undefined : surveyWritten(text).fault;

/** Counts the values of such a text, up to the first excess. */
export function surveyWritten(text: string): { readonly values: number; readonly fault?: string } {
  /** Names of the open object on each level. */
  const names = new Uint32Array(MAX_NESTING + 1);
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at);
      // Invalid JSON, with nothing after it.
      if (end === -1) break;
      at = end - 1;
    } else if (char === COMMA) values++;
    else if (char === COLON) {
      const count = (names[depth] ?? 0) + 1;
      names[depth] = count;
      if (count > MOST_CLIENT_NAMES) return { values, fault: `has an object of more than ${MOST_CLIENT_NAMES} names` };
    } else if (char === OPEN_ARRAY || char === OPEN_OBJECT) {
      values++;
      if (++depth > MAX_NESTING) return { values, fault: `is nested more than ${MAX_NESTING} levels deep` };
      names[depth] = 0;
    } else if ((char === CLOSE_ARRAY || char === CLOSE_OBJECT) && depth > 0) depth--;
    if (values > MOST_CLIENT_VALUES) return { values, fault: `has more than ${MOST_CLIENT_VALUES} values` };
  }
  return { values };
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

/**
 * How deep JSON may nest and how much a client may write, and whether a value or a text is beyond that. Values deeper than this are read by no program we
 * know, but overflow the stack of the ones that walk them.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { endOfString, parseJson } from './exact-json.ts';

/** Names of one object in it: objects with many names are the slowest to read and copy. */
const MOST_CLIENT_NAMES = LIMITS.json.clientValues / 4;
/** In characters. A shorter text has not as many of either: a value takes two at least. */
const FEW_VALUES = 40_000;

/** Shorter JSON cannot nest too deep: each level takes a bracket at both ends. */
const SHORTEST = 2 * LIMITS.json.depth;
const LONG = 64 * 1024;
const BEGINNING = 16 * 1024;

/** Whether arrays and objects nest deeper than `levels`; a value that holds itself does. */
export function nestsTooDeep(value: unknown, levels: number = LIMITS.json.depth): boolean {
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
    super(`it is nested more than ${LIMITS.json.depth} levels deep`);
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

/**
 * `parseJson` for JSON that a client wrote inside a string, where nobody has counted it: the same limits as for a whole
 * message. Throws where there is too much of it, and what `parseJson` throws.
 */
export function parseWritten(text: string): unknown {
  const fault = writtenFault(text);
  if (fault !== undefined) throw new RangeError(fault);
  return parseJson(text);
}

/** What such a text has too much of, in words that continue "it …"; undefined when it may be parsed. */
export const writtenFault = (text: string): string | undefined =>
  text.length <= FEW_VALUES ? undefined : surveyWritten(text).fault;

/** Counts the values of such a text, up to the first excess. */
export function surveyWritten(text: string): { readonly values: number; readonly fault?: string } {
  /** Names of the object that is open on each level. */
  const names = new Uint32Array(LIMITS.json.depth + 1);
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at);
      // No JSON, and there is nothing after it.
      if (end === -1) break;
      at = end - 1;
    } else if (char === COMMA) values++;
    else if (char === COLON) {
      const count = (names[depth] ?? 0) + 1;
      names[depth] = count;
      if (count > MOST_CLIENT_NAMES) return { values, fault: `has an object of more than ${MOST_CLIENT_NAMES} names` };
    } else if (char === OPEN_ARRAY || char === OPEN_OBJECT) {
      values++;
      if (++depth > LIMITS.json.depth) return { values, fault: `is nested more than ${LIMITS.json.depth} levels deep` };
      names[depth] = 0;
    } else if ((char === CLOSE_ARRAY || char === CLOSE_OBJECT) && depth > 0) depth--;
    if (values > LIMITS.json.clientValues) return { values, fault: `has more than ${LIMITS.json.clientValues} values` };
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
      if (++depth > LIMITS.json.depth) return true;
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

/**
 * Parses JSON from outside within bounds: how deep it may nest, and how much a client may write.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { parseJson } from './exact-json.ts';
import { JsonSurvey, NAMES_SHARE, surveyed } from './json-survey.ts';

/** In characters. A shorter text has not as many of either: a value takes two at least. */
const FEW_VALUES = 40_000;

/** Shorter JSON cannot nest too deep: each level takes a bracket at both ends. */
export const SHORTEST_DEEP = 2 * LIMITS.json.depth;
const LONG = 64 * 1024;
const BEGINNING = 16 * 1024;

/** Tells whether arrays and objects nest deeper than `levels`; a cyclic value does. */
export function nestsTooDeep(value: unknown, levels: number = LIMITS.json.depth): boolean {
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
    super(`it is nested more than ${LIMITS.json.depth} levels deep`);
    this.value = value;
  }
}

/**
 * Like `parseJson`, for text from outside; throws `NestingError` if it nests too deep. Checks the value, not the text:
 * that costs a tenth of the parsing, while counting brackets in a text full of escaped quotes costs more than the
 * parsing. Only the beginning of a long text is counted first, because parsing millions of levels takes seconds.
 */
export function parseNested(text: string, parse: (text: string) => unknown = parseJson): unknown {
  if (text.length > LONG && isTooDeep(text.slice(0, BEGINNING))) throw new NestingError();
  // Some programs begin what they write with a byte order mark, which no JSON may have.
  const value = parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  if (text.length >= SHORTEST_DEEP && nestsTooDeep(value)) throw new NestingError(value);
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
  const { values, excess } = surveyed(Buffer.from(text), LIMITS.json.clientValues);
  if (excess === undefined) return { values };
  if (excess === 'too-deep') return { values, fault: `is nested more than ${LIMITS.json.depth} levels deep` };
  const names = LIMITS.json.clientValues / NAMES_SHARE;
  return {
    values,
    fault: `has more than ${LIMITS.json.clientValues} values, or more than ${names} names in one object`,
  };
}

function isTooDeep(text: string): boolean {
  const survey = new JsonSurvey(Number.POSITIVE_INFINITY);
  return !survey.push(Buffer.from(text));
}

const BYTE_ORDER_MARK = 0xfeff;

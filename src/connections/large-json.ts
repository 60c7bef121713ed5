/**
 * Parses large JSON in short steps, with the result of `parseJson`, including the digits it keeps.
 *
 * A text with few values is parsed at once, whatever its size. One with many values is parsed one small branch at a
 * time and put together here.
 * @module
 */
import { StringDecoder } from 'node:string_decoder';
import { endOfString, keepDigits, keepsDigits, parseJson } from '../json/exact-json.ts';

/** Up to this many values, `JSON.parse` takes well under 50 ms for a text of any size. */
const FEW_VALUES = 20_000;
const DECODED_AT_ONCE = 1024 * 1024;
/** In characters. A shorter branch is parsed at once. */
const SHORT_BRANCH = 16 * 1024;
const VALUES_A_STEP = 16;
const BYTE_ORDER_MARK = 0xfeff;
const SPACE = /[ \t\n\r]*/y;
const LITERAL = /[-+.\w]+/y;

/** Parses a text in which `values` values were counted. Throws what `JSON.parse` throws. */
export function* parseLarge(bytes: Uint8Array, values: number): Generator<void, unknown> {
  const decoder = new StringDecoder('utf8');
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += DECODED_AT_ONCE) {
    pieces.push(
      decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(DECODED_AT_ONCE, bytes.length - at))),
    );
    yield;
  }
  pieces.push(decoder.end());
  const text = pieces.join('');
  const from = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
  if (values <= FEW_VALUES) return parseJson(from === 0 ? text : text.slice(from));
  return yield* parseBranches(text, from, keepsDigits(text.length, values));
}

/** An array or object that is still open, with the key of its next value. */
interface Open {
  readonly holder: unknown[] | Record<string, unknown>;
  name: string;
}

function* parseBranches(text: string, from: number, isExact: boolean): Generator<void, unknown> {
  const parse: (text: string) => unknown = isExact ? parseJson : JSON.parse;
  const open: Open[] = [];
  let at = skipSpace(text, from);
  let left = VALUES_A_STEP;
  for (;;) {
    const end = endOfValue(text, at);
    if (end === -1) {
      // Too long to be parsed at once.
      const isArray = text.charCodeAt(at) === OPEN_ARRAY;
      const branch: Open = { holder: isArray ? [] : {}, name: '' };
      open.push(branch);
      at = isArray ? skipSpace(text, at + 1) : readName(text, at + 1, branch);
      continue;
    }
    const source = text.slice(at, end);
    let value: unknown = parse(source);
    let digits = isExact && typeof value === 'number' ? source : undefined;
    at = skipSpace(text, end);
    for (;;) {
      const branch = open.at(-1);
      if (branch === undefined) {
        if (at < text.length) throw new SyntaxError('there is text after the JSON');
        return value;
      }
      put(branch, value, digits);
      digits = undefined;
      const isArray = Array.isArray(branch.holder);
      const next = text.charCodeAt(at);
      if (next === COMMA) {
        at = isArray ? skipSpace(text, at + 1) : readName(text, at + 1, branch);
        break;
      }
      if (next !== (isArray ? CLOSE_ARRAY : CLOSE_OBJECT)) throw new SyntaxError('a comma or a bracket is missing');
      open.pop();
      value = branch.holder;
      at = skipSpace(text, at + 1);
    }
    if (--left > 0) continue;
    left = VALUES_A_STEP;
    yield;
  }
}

function put({ holder, name }: Open, value: unknown, digits: string | undefined): void {
  if (digits !== undefined) keepDigits(holder, Array.isArray(holder) ? holder.length : name, digits);
  if (Array.isArray(holder)) holder.push(value);
  // As in `JSON.parse`, `__proto__` is a key like any other.
  else if (name === '__proto__')
    Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true });
  else holder[name] = value;
}

/** Reads the next key of an object; returns where its value begins. */
function readName(text: string, from: number, branch: Open): number {
  const quote = skipSpace(text, from);
  const end = text.charCodeAt(quote) === QUOTE ? endOfString(text, quote) : -1;
  const colon = end === -1 ? -1 : skipSpace(text, end);
  if (colon === -1 || text.charCodeAt(colon) !== COLON) throw new SyntaxError('a name is missing');
  branch.name = JSON.parse(text.slice(quote, end)) as string;
  return skipSpace(text, colon + 1);
}

function skipSpace(text: string, from: number): number {
  const code = text.charCodeAt(from);
  // Almost always there is no escape.
  if (code > 0x20) return from;
  SPACE.lastIndex = from;
  SPACE.test(text);
  return SPACE.lastIndex;
}

/** Returns the position after the value that begins at `from`; -1 for an array or object that does not end soon. */
function endOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === OPEN_ARRAY || first === OPEN_OBJECT) return endOfBranch(text, from);
  if (first === QUOTE) {
    const end = endOfString(text, from);
    return end === -1 ? text.length : end;
  }
  LITERAL.lastIndex = from;
  LITERAL.test(text);
  // No value: this is not JSON, and parsing the empty text throws the right error.
  return Math.max(LITERAL.lastIndex, from);
}

function endOfBranch(text: string, from: number): number {
  const limit = Math.min(text.length, from + SHORT_BRANCH);
  let depth = 0;
  for (let at = from; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at, limit);
      if (end === -1) return -1;
      at = end - 1;
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) depth++;
    else if ((code === CLOSE_ARRAY || code === CLOSE_OBJECT) && --depth === 0) return at + 1;
  }
  return -1;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

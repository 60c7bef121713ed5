/**
 * Counts what a JSON text holds while its bytes arrive, before anything is parsed: levels, values, names of one object.
 *
 * Parsing and copying take time for every value, and most for names that V8 has not seen. So a legal message of a few
 * megabytes can keep the event loop busy for seconds. One look at each byte says so beforehand, for a thousandth of it.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

/** A page of a tool list may have this many times as many values: it is taken apart, and never copied or written as a whole. */
const LIST_FACTOR = 5;

/** One object may have one name for every four values of a message: objects with many names are the slowest to read and copy. */
export const NAMES_SHARE = 4;

/** What a message must not have too much of. */
export type Excess = 'too-deep' | 'too-many';

/** Values that the answer to a request may hold. */
export const mostValues = (limit: number, method: string | undefined): number =>
  method === 'tools/list' ? limit * LIST_FACTOR : limit;

/** Reads a text piece by piece and stops at the first excess. What is no JSON is counted as if it were. */
export class JsonSurvey {
  /** Values inside arrays and objects so far. */
  values = 0;
  excess: Excess | undefined;
  readonly #mostValues: number;
  readonly #mostNames: number;
  /** Names of the object that is open on each level. */
  readonly #names = new Uint32Array(LIMITS.json.depth + 1);
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(limit: number) {
    this.#mostValues = limit * LIST_FACTOR;
    this.#mostNames = Math.ceil(limit / NAMES_SHARE);
  }

  /** Begins with another text. */
  reset(): void {
    this.values = 0;
    this.excess = undefined;
    this.#depth = 0;
    this.#inString = false;
    this.#escaped = false;
    this.#names[0] = 0;
  }

  /** Looks at the next bytes; true as long as nothing is in excess. */
  push(bytes: Uint8Array): boolean {
    if (this.excess !== undefined) return false;
    // An empty piece holds no escaped character.
    if (bytes.length === 0) return true;
    const names = this.#names;
    let { values } = this;
    let depth = this.#depth;
    let inString = this.#inString;
    let at = this.#escaped ? 1 : 0;
    this.#escaped = false;
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (inString) {
        if (byte === QUOTE) inString = false;
        else if (byte === BACKSLASH && ++at === bytes.length) this.#escaped = true;
      } else if (byte === QUOTE) inString = true;
      else if (byte === COMMA) values++;
      else if (byte === COLON) {
        const count = (names[depth] ?? 0) + 1;
        names[depth] = count;
        if (count > this.#mostNames) return this.#refuse('too-many');
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        values++;
        if (++depth > LIMITS.json.depth) return this.#refuse('too-deep');
        names[depth] = 0;
      } else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && depth > 0) depth--;
    }
    this.values = values;
    this.#depth = depth;
    this.#inString = inString;
    return values <= this.#mostValues || this.#refuse('too-many');
  }

  #refuse(excess: Excess): false {
    this.excess = excess;
    return false;
  }
}

/** Surveys a text that is all there. */
export function surveyed(bytes: Uint8Array, limit: number): JsonSurvey {
  const survey = new JsonSurvey(limit);
  survey.push(bytes);
  if (survey.excess === undefined && survey.values > limit) survey.excess = 'too-many';
  return survey;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

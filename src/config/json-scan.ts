/**
 * Scans JSON with comments in chunks and keeps what a policy selects. Skipped values are not checked; only their end is
 * looked for.
 * @module
 */
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { FileTooLarge } from './read-file.ts';

/** What to do with a member: keep it whole, look into it if it is an object, or skip its value. */
type Treatment = 'keep' | 'look' | 'skip';

/** Decides by the path of keys to a member. */
export type Policy = (way: readonly string[]) => Treatment;

/** A value that was skipped. */
export interface Cut {
  /** Position of its `0` in the excerpt. */
  readonly at: number;
  readonly start: number;
  readonly end: number;
}

const STATE = {
  beforeValue: 0,
  inObject: 1,
  key: 2,
  colon: 3,
  nested: 4,
  string: 5,
  scalar: 6,
  lineComment: 7,
  blockComment: 8,
  slash: 9,
  done: 10,
} as const;
type State = (typeof STATE)[keyof typeof STATE];

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const endsScalar = (byte: number): boolean => isSpace(byte) || ',}]/'.includes(String.fromCharCode(byte));

/** Scans a file once, chunk by chunk. Skipped values are not checked. */
export class JsonScan {
  readonly #path: string;
  readonly #policy: Policy;
  readonly #parts: Buffer[] = [];
  readonly #cuts: Cut[] = [];
  /** Keys of the open objects and of the current member. */
  readonly #way: string[] = [];
  #objects = 0;
  #state: State = STATE.beforeValue;
  /** The state to return to after a comment. */
  #resume: State = STATE.beforeValue;
  #key: Buffer[] = [];
  #keyBytes = 0;
  /** Open brackets of the current value. */
  #depth = 0;
  /** The previous byte was a backslash. */
  #escaped = false;
  /** The previous byte in a comment was a star. */
  #star = false;
  #cutStart: number | undefined;
  /** Bytes of the file before this chunk; `#length` counts the excerpt. */
  #before = 0;
  #length = 0;

  constructor(path: string, policy: Policy) {
    this.#path = path;
    this.#policy = policy;
  }

  push(chunk: Buffer): void {
    let kept = this.#cutStart === undefined ? 0 : -1;
    const keep = (until: number) => {
      if (kept !== -1) this.#add(Buffer.from(chunk.subarray(kept, until)));
      kept = -1;
    };
    const endValue = (at: number) => {
      if (this.#cutStart !== undefined) {
        this.#cuts.push({ at: this.#length - 1, start: this.#cutStart, end: this.#before + at });
        this.#cutStart = undefined;
        kept = at;
      }
      this.#way.pop();
      this.#state = STATE.inObject;
    };
    let at = this.#before === 0 && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? 3 : 0;
    while (at < chunk.length) {
      const byte = chunk[at] as number;
      switch (this.#state) {
        case STATE.string: {
          at = this.#endOfString(chunk, at);
          if (at === -1) at = chunk.length;
          else if (this.#depth > 0) this.#state = STATE.nested;
          else endValue(at);
          break;
        }
        case STATE.nested:
          at = this.#throughNested(chunk, at);
          if (this.#depth === 0) endValue(at);
          break;
        case STATE.scalar:
          if (endsScalar(byte)) endValue(at);
          else at++;
          break;
        case STATE.key: {
          const end = this.#endOfString(chunk, at);
          this.#addKey(Buffer.from(chunk.subarray(at, end === -1 ? chunk.length : end - 1)));
          at = end === -1 ? chunk.length : end;
          if (end !== -1) this.#endKey(at);
          break;
        }
        case STATE.lineComment:
          if (byte === 0x0a) this.#state = this.#resume;
          at++;
          break;
        case STATE.blockComment:
          if (byte === 0x2f && this.#star) this.#state = this.#resume;
          this.#star = byte === 0x2a;
          at++;
          break;
        case STATE.slash:
          if (byte !== 0x2f && byte !== 0x2a) this.#fail(at, 'a comment');
          this.#state = byte === 0x2f ? STATE.lineComment : STATE.blockComment;
          this.#star = false;
          at++;
          break;
        default: {
          if (isSpace(byte)) {
            at++;
            break;
          }
          if (byte === 0x2f) {
            this.#comment(this.#state);
            at++;
            break;
          }
          if (this.#state !== STATE.beforeValue) {
            this.#structure(byte, at);
            at++;
            break;
          }
          const how = this.#objects === 0 ? 'look' : this.#policy(this.#way);
          if (how === 'look' && byte === 0x7b) {
            this.#objects++;
            this.#state = STATE.inObject;
            at++;
            break;
          }
          if (this.#objects === 0) this.#fail(at, 'an object');
          if (how !== 'keep') {
            keep(at);
            this.#add(Buffer.from('0'));
            this.#cutStart = this.#before + at;
          }
          this.#escaped = false;
          this.#depth = byte === 0x7b || byte === 0x5b ? 1 : 0;
          this.#state = byte === QUOTE ? STATE.string : this.#depth === 1 ? STATE.nested : STATE.scalar;
          if (this.#state === STATE.scalar && endsScalar(byte)) this.#fail(at, 'a value');
          at++;
        }
      }
    }
    keep(chunk.length);
    this.#before += chunk.length;
  }

  /** Returns what was kept. Throws when the file ended too early. */
  end(): { readonly bytes: Buffer; readonly cuts: readonly Cut[] } {
    if (this.#state !== STATE.done && !(this.#resume === STATE.done && this.#state === STATE.lineComment))
      this.#fail(0, 'more, but the file ends');
    return { bytes: Buffer.concat(this.#parts, this.#length), cuts: this.#cuts };
  }

  /** Handles punctuation between members, and anything after the outermost object. */
  #structure(byte: number, at: number): void {
    if (this.#state === STATE.colon && byte === 0x3a) this.#state = STATE.beforeValue;
    else if (this.#state === STATE.inObject && byte === QUOTE) {
      this.#state = STATE.key;
      this.#escaped = false;
      this.#key = [];
      this.#keyBytes = 0;
    } else if (this.#state === STATE.inObject && byte === 0x7d) {
      this.#objects--;
      this.#way.pop();
      this.#state = this.#objects === 0 ? STATE.done : STATE.inObject;
    } else if (this.#state !== STATE.inObject || byte !== 0x2c)
      this.#fail(at, this.#state === STATE.colon ? ':' : this.#state === STATE.done ? 'the end' : 'a key');
  }

  #comment(from: State): void {
    this.#resume = from;
    this.#state = STATE.slash;
  }

  /** Returns the position after the closing quote, or -1 when the string continues in the next chunk. */
  #endOfString(chunk: Buffer, start: number): number {
    const { length } = chunk;
    // The previous chunk ended with a backslash: skip the escaped byte.
    let at = this.#escaped ? start + 1 : start;
    while (at < length) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.#escaped = false;
        return at + 1;
      }
      at += byte === BACKSLASH ? 2 : 1;
    }
    this.#escaped = at > length;
    return -1;
  }

  /**
   * Returns the position after the last bracket of a value, after the start of a string or comment inside it, or at the
   * end of the chunk.
   */
  #throughNested(chunk: Buffer, start: number): number {
    const { length } = chunk;
    let depth = this.#depth;
    let at = start;
    for (; at < length; at++) {
      const byte = chunk[at];
      if (byte === QUOTE || byte === 0x2f) break;
      if (byte === 0x7b || byte === 0x5b) depth++;
      else if (byte === 0x7d || byte === 0x5d) {
        depth--;
        if (depth === 0) break;
      }
    }
    this.#depth = depth;
    if (at === length) return at;
    if (chunk[at] === QUOTE) this.#state = STATE.string;
    else if (chunk[at] === 0x2f) this.#comment(STATE.nested);
    return at + 1;
  }

  #addKey(part: Buffer): void {
    this.#keyBytes += part.length;
    if (this.#keyBytes > LIMITS.files.clientExcerpt)
      throw new FileTooLarge(`${this.#path} has a key of many megabytes.`);
    this.#key.push(part);
  }

  #endKey(at: number): void {
    try {
      this.#way.push(JSON.parse(`"${Buffer.concat(this.#key).toString('utf8')}"`) as string);
    } catch {
      this.#fail(at, 'a key');
    }
    this.#state = STATE.colon;
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > LIMITS.files.clientExcerpt)
      throw new FileTooLarge(
        `${this.#path} has more than ${LIMITS.files.clientExcerpt / 1024 / 1024} MiB of settings.`,
      );
    this.#parts.push(part);
  }

  #fail(at: number, expected: string): never {
    throw new ConfigurationError(
      `${this.#path} is not valid JSON: expected ${expected} at byte ${this.#before + at + 1}.`,
    );
  }
}

/**
 * Splits bytes into lines at newlines, with limits on what one line may contain.
 *
 * A large line is surveyed as it arrives and delivered as bytes. While it is being read, later lines wait, except for
 * short lines that may overtake it.
 * @module
 */
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { type Excess, JsonSurvey } from '../json/json-survey.ts';
import type { AnswerRoom } from './answer-room.ts';
import { GrowingBytes } from './growing-bytes.ts';

/** Why a line is not delivered. */
export type LineFault = 'too-long' | 'unasked' | 'stalled' | Excess;

/** A line of more than 256 KiB, of which only the survey is known. The bytes belong to the receiver. */
export interface LargeLine {
  readonly bytes: Buffer;
  readonly values: number;
}

interface LineReaderOptions {
  /** Longest line in bytes; of a longer one only the beginning and the end are kept. */
  readonly maxBytes: number;
  /** Most JSON values in one large line. */
  readonly maxValues?: number | undefined;
  /** The memory that incomplete large lines share with others, if they do. */
  readonly room?: AnswerRoom | undefined;
  readonly onLine: (line: string, bytes: number) => void;
  /** Called with the number of bytes in skipped empty lines. */
  readonly onBlank?: ((bytes: number) => void) | undefined;
  /** Called with the beginning of a large line; returns false if the line is not needed. */
  readonly isWanted?: ((head: string) => boolean) | undefined;
  /** Called when the lines of one chunk have taken a while. Delivery continues when the promise has settled. */
  readonly onBusy?: (() => Promise<void> | undefined) | undefined;
  /** Delivery pauses until the promise has settled, except for lines that may overtake. The promise must not reject. */
  readonly onLarge: (line: LargeLine) => Promise<void> | undefined;
  /** Whether this short line may overtake waiting ones. If not, all later lines wait with it. */
  readonly mayOvertake?: ((line: string) => boolean) | undefined;
  /**
   * Called once per line that is not read: at its end with its last bytes, or without them as soon as it has twice the
   * allowed length, so that an endless line delays no other, or when it has to make room.
   */
  readonly onUnread: (head: string, tail: string | undefined, why: LineFault) => void;
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
/** The clock is looked at once for so many lines; few chunks have as many. */
const LINES_AT_ONCE = 64;
const NOTHING = Buffer.alloc(0);

/** A line of which only the beginning and the end are kept. */
interface Skipped {
  readonly head: string;
  readonly why: LineFault;
  tail: Buffer;
  size: number;
  told: boolean;
}

export class LineReader {
  readonly #options: LineReaderOptions;
  /** The beginning of an incomplete line. */
  readonly #held: GrowingBytes;
  /** The survey of the held line, if it is large. */
  #survey: JsonSurvey | undefined;
  #skipped: Skipped | undefined;
  /** Settles when the current large line has been read. */
  #reading: Promise<void> | undefined;
  readonly #backlog: Buffer[] = [];
  #isFull = false;

  constructor(options: LineReaderOptions) {
    this.#options = options;
    this.#held = new GrowingBytes(options.maxBytes);
  }

  /** Reads a chunk. Complete lines are delivered before this returns; the rest is copied and kept. */
  push(chunk: Buffer): void {
    let start = 0;
    let began: number | undefined;
    for (let lines = 1; start < chunk.length; lines++) {
      if (lines % LINES_AT_ONCE === 0) {
        began ??= performance.now();
        if (performance.now() - began > LIMITS.slice.stretch)
          this.#reading = this.#options.onBusy?.()?.then(() => this.#goOn());
      }
      if (this.#reading) return this.#wait(chunk.subarray(start));
      if (this.#held.length === 0 && !this.#skipped && isBlank(chunk[start])) {
        const from = start;
        start = skipBlankLines(chunk, from);
        if (start > from) this.#options.onBlank?.(start - from);
        if (start === chunk.length) return;
      }
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) return this.#keep(chunk.subarray(start));
      // Usually a chunk is one line, which is read without copying.
      if (this.#held.length > 0 || this.#skipped || end - start > Math.min(LIMITS.wire.large, this.#options.maxBytes))
        this.#finish(chunk.subarray(start, end));
      else this.#options.onLine(chunk.toString('utf8', start, end), end - start);
      start = end + 1;
    }
  }

  /** Bytes held back because their line is incomplete. */
  get buffered(): number {
    return this.#held.length;
  }

  /** Settles when everything pushed so far has been delivered; undefined when it has been. */
  get reading(): Promise<void> | undefined {
    return this.#reading;
  }

  /** Whether new chunks are only stored for later. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Delivers lines that may overtake, and keeps the rest for later. */
  #wait(chunk: Buffer): void {
    const { mayOvertake, onLine } = this.#options;
    if (!mayOvertake || this.#isFull) {
      this.#isFull = true;
      this.#backlog.push(Buffer.from(chunk));
      return;
    }
    const waiting = Buffer.concat([...this.#backlog.splice(0), chunk]);
    let start = 0;
    for (let end = waiting.indexOf(NEWLINE); end !== -1; end = waiting.indexOf(NEWLINE, start)) {
      const line = waiting.toString('utf8', start, end);
      if (!mayOvertake(line)) break;
      onLine(line, end - start);
      start = end + 1;
    }
    this.#isFull = waiting.length - start > LIMITS.wire.overtaking || waiting.includes(NEWLINE, start);
    this.#backlog.push(waiting.subarray(start));
  }

  #finish(last: Buffer): void {
    if (this.#skipped) this.#skip(last);
    else if (this.#append(last)) return this.#handOn();
    this.#tell(this.#skipped?.tail.toString('utf8'));
    this.#skipped = undefined;
  }

  #keep(part: Buffer): void {
    if (this.#skipped) this.#skip(part);
    else if (this.#append(part)) return this.#findRoom();
    if (this.#skipped && this.#skipped.size > 2 * this.#options.maxBytes) this.#tell(undefined);
  }

  /** Waits until there is room for more of the line. */
  #findRoom(): void {
    const wait = this.#options.room?.hold(this, this.#held.length, () => {
      this.#giveUp('stalled', NOTHING);
      this.#tell(undefined);
    });
    this.#reading = wait?.then(() => this.#goOn());
  }

  /** Gives back the room of an unfinished line, when no more will come. */
  close(): void {
    this.#options.room?.leave(this);
  }

  #handOn(): void {
    const { bytes } = this.#held;
    if (!this.#survey) {
      const line = bytes.toString('utf8');
      this.#reset();
      return this.#options.onLine(line, bytes.length);
    }
    const line = { bytes, values: this.#survey.values };
    this.#reset();
    this.#options.room?.finish(this);
    const reading = this.#options.onLarge(line);
    if (!reading) this.close();
    this.#reading = reading?.then(() => {
      this.close();
      return this.#goOn();
    });
  }

  /** Delivers what arrived while a large line was being read, up to the next large line. */
  #goOn(): Promise<void> | undefined {
    this.#reading = undefined;
    this.#isFull = false;
    for (const chunk of this.#backlog.splice(0)) this.push(chunk);
    return this.#reading;
  }

  /** Keeps a part of a line; returns false if the line is not to be read. */
  #append(part: Buffer): boolean {
    const { maxBytes, maxValues = DEFAULTS.limits.messageValues } = this.#options;
    if (this.#held.length + part.length > maxBytes) return this.#giveUp('too-long', part);
    this.#held.append(part);
    if (this.#held.length <= LIMITS.wire.large) return true;
    const isFirst = this.#survey === undefined;
    if (isFirst && this.#options.isWanted?.(this.#held.bytes.toString('utf8', 0, LIMITS.wire.head)) === false)
      return this.#giveUp('unasked', NOTHING);
    this.#survey ??= new JsonSurvey(maxValues);
    if (this.#survey.push(isFirst ? this.#held.bytes : part)) return true;
    return this.#giveUp(this.#survey.excess ?? 'too-many', NOTHING);
  }

  /** Drops a line except for its beginning and its end. */
  #giveUp(why: LineFault, rest: Buffer): false {
    const held = this.#held.bytes;
    const head = Buffer.concat([held.subarray(0, LIMITS.wire.head), rest.subarray(0, LIMITS.wire.head)]);
    this.close();
    this.#skipped = {
      head: head.toString('utf8', 0, LIMITS.wire.head),
      why,
      tail: Buffer.from(held.subarray(-LIMITS.wire.tail)),
      size: held.length,
      told: false,
    };
    this.#reset();
    this.#skip(rest);
    return false;
  }

  #skip(part: Buffer): void {
    const skipped = this.#skipped as Skipped;
    skipped.size += part.length;
    skipped.tail = Buffer.concat([skipped.tail, part.subarray(-LIMITS.wire.tail)]).subarray(-LIMITS.wire.tail);
  }

  #tell(tail: string | undefined): void {
    if (!this.#skipped || this.#skipped.told) return;
    this.#skipped.told = true;
    this.#options.onUnread(this.#skipped.head, tail, this.#skipped.why);
  }

  #reset(): void {
    // A small buffer stays allocated, so that not every message needs new memory.
    this.#held.clear(this.#survey ? 0 : LIMITS.wire.large);
    this.#survey = undefined;
  }
}

const isBlank = (byte: number | undefined): boolean =>
  byte === NEWLINE || byte === SPACE || byte === CARRIAGE_RETURN || byte === TAB;

/** Returns where the first line begins that is not blank: one search per empty line would take far longer. */
function skipBlankLines(chunk: Buffer, from: number): number {
  let start = from;
  for (let at = from; isBlank(chunk[at]); at++) if (chunk[at] === NEWLINE) start = at + 1;
  return start;
}

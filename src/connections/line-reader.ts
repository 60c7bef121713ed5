/**
 * Bytes in, lines out: newline framing with caps on what one line may hold.
 *
 * A large line is surveyed as it arrives and handed on as bytes. As long as it is being read, what follows waits, except
 * for short lines that may overtake it.
 * @module
 */
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { type Excess, JsonSurvey } from '../json/json-survey.ts';

/** Why a line is not handed on. */
export type LineFault = 'too-long' | 'unasked' | Excess;

/** A line of more than 256 KiB, of which only what its survey says is known. The bytes belong to the receiver. */
export interface LargeLine {
  readonly bytes: Buffer;
  readonly values: number;
}

export interface LineReaderOptions {
  /** Longest line in bytes; of a longer one only the beginning and the end are kept. */
  readonly maxBytes: number;
  /** Values that one large line may hold as JSON. */
  readonly maxValues?: number | undefined;
  readonly onLine: (line: string, bytes: number) => void;
  /** Told how many bytes of empty lines were skipped. */
  readonly onBlank?: ((bytes: number) => void) | undefined;
  /** Told the beginning of a line that turns out to be large; false when it need not be read. */
  readonly isWanted?: ((head: string) => boolean) | undefined;
  /** Called when the lines of one chunk have taken a while. Nothing further is handed on until the promise has settled. */
  readonly onBusy?: (() => Promise<void> | undefined) | undefined;
  /** Nothing further is handed on until the promise has settled, but for what may overtake. It must not reject. */
  readonly onLarge: (line: LargeLine) => Promise<void> | undefined;
  /** Whether this short line may be handed on although others before it wait. Where not, all that follows waits with it. */
  readonly mayOvertake?: ((line: string) => boolean) | undefined;
  /**
   * Called once per line that is not read: at its end with its last bytes, or without them as soon as it has twice the
   * allowed length, because a line without end must not keep anybody waiting.
   */
  readonly onUnread: (head: string, tail: string | undefined, why: LineFault) => void;
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
/** The clock is looked at once for so many lines; few chunks have as many. */
const LINES_AT_ONCE = 64;
const BUSY_MS = 4;
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
  /** The beginning of a line whose end has not come yet; grows by doubling, so one-byte chunks cost no more than others. */
  #held: Buffer = NOTHING;
  #size = 0;
  /** What is known of the held line, once it is large. */
  #survey: JsonSurvey | undefined;
  #skipped: Skipped | undefined;
  /** Settles when the large line at hand has been read. */
  #reading: Promise<void> | undefined;
  readonly #backlog: Buffer[] = [];
  #isFull = false;

  constructor(options: LineReaderOptions) {
    this.#options = options;
  }

  /** Feeds a chunk; complete lines are handed on before this returns, and of the rest a copy is kept. */
  push(chunk: Buffer): void {
    let start = 0;
    let began: number | undefined;
    for (let lines = 1; start < chunk.length; lines++) {
      if (lines % LINES_AT_ONCE === 0) {
        began ??= performance.now();
        if (performance.now() - began > BUSY_MS) this.#reading = this.#options.onBusy?.()?.then(() => this.#goOn());
      }
      if (this.#reading) return this.#wait(chunk.subarray(start));
      if (this.#size === 0 && !this.#skipped && isBlank(chunk[start])) {
        const from = start;
        start = skipBlankLines(chunk, from);
        if (start > from) this.#options.onBlank?.(start - from);
        if (start === chunk.length) return;
      }
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) return this.#keep(chunk.subarray(start));
      // Mostly a chunk is a line, and then it is read where it lies.
      if (this.#size > 0 || this.#skipped || end - start > Math.min(LIMITS.wire.large, this.#options.maxBytes))
        this.#finish(chunk.subarray(start, end));
      else this.#options.onLine(chunk.toString('utf8', start, end), end - start);
      start = end + 1;
    }
  }

  /** Bytes held back because their line is not complete. */
  get buffered(): number {
    return this.#size;
  }

  /** Settles when everything pushed so far has been handed on; undefined when it has. */
  get reading(): Promise<void> | undefined {
    return this.#reading;
  }

  /** Whether whatever comes now would only be kept for later. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Hands on what may overtake, and keeps the rest for later. */
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
    else if (this.#append(part)) return;
    if (this.#skipped && this.#skipped.size > 2 * this.#options.maxBytes) this.#tell(undefined);
  }

  #handOn(): void {
    const [bytes, survey] = [this.#size, this.#survey];
    if (!survey) {
      const line = this.#held.toString('utf8', 0, bytes);
      this.#reset();
      return this.#options.onLine(line, bytes);
    }
    const line = { bytes: this.#held.subarray(0, bytes), values: survey.values };
    this.#reset();
    this.#reading = this.#options.onLarge(line)?.then(() => this.#goOn());
  }

  /** Hands on what came while a large line was being read, and waits for the next large one in it. */
  #goOn(): Promise<void> | undefined {
    this.#reading = undefined;
    this.#isFull = false;
    for (const chunk of this.#backlog.splice(0)) this.push(chunk);
    return this.#reading;
  }

  /** Keeps a part of a line; false when the line is not to be read. */
  #append(part: Buffer): boolean {
    const needed = this.#size + part.length;
    const { maxBytes, maxValues = DEFAULTS.limits.messageValues } = this.#options;
    if (needed > maxBytes) return this.#giveUp('too-long', part);
    if (needed > this.#held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(2 * needed, maxBytes)));
      this.#held.copy(grown, 0, 0, this.#size);
      this.#held = grown;
    }
    part.copy(this.#held, this.#size);
    this.#size = needed;
    if (needed <= LIMITS.wire.large) return true;
    const isFirst = this.#survey === undefined;
    if (isFirst && this.#options.isWanted?.(this.#held.toString('utf8', 0, LIMITS.wire.head)) === false)
      return this.#giveUp('unasked', NOTHING);
    this.#survey ??= new JsonSurvey(maxValues);
    if (this.#survey.push(isFirst ? this.#held.subarray(0, needed) : part)) return true;
    return this.#giveUp(this.#survey.excess ?? 'too-many', NOTHING);
  }

  /** Lets go of a line but for its beginning and its end. */
  #giveUp(why: LineFault, rest: Buffer): false {
    const held = this.#held.subarray(0, this.#size);
    const head = Buffer.concat([held.subarray(0, LIMITS.wire.head), rest.subarray(0, LIMITS.wire.head)]);
    this.#skipped = {
      head: head.toString('utf8', 0, LIMITS.wire.head),
      why,
      tail: Buffer.from(held.subarray(-LIMITS.wire.tail)),
      size: this.#size,
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
    this.#size = 0;
    // What is small stays allocated, so that not every message of a file or a page takes new memory.
    if (this.#survey || this.#held.length > LIMITS.wire.large) this.#held = NOTHING;
    this.#survey = undefined;
  }
}

const isBlank = (byte: number | undefined): boolean =>
  byte === NEWLINE || byte === SPACE || byte === CARRIAGE_RETURN || byte === TAB;

/** Where the first line begins that holds more than white space: a search for each of many empty lines takes far longer. */
function skipBlankLines(chunk: Buffer, from: number): number {
  let start = from;
  for (let at = from; isBlank(chunk[at]); at++) if (chunk[at] === NEWLINE) start = at + 1;
  return start;
}

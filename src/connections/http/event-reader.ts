/**
 * Splits an event stream into whole events, wherever its chunks are cut, drops large ones that are not needed, and
 * estimates what the others cost.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { JsonSurvey, mostValues } from '../../json/json-survey.ts';
import { GrowingBytes } from '../growing-bytes.ts';
import type { Unreadable } from '../json-rpc.ts';
import { isAwaited, isWanted, type Listener } from '../lost-answer.ts';

export interface EventReaderOptions {
  /** Longest event in bytes. */
  readonly maxBytes: number;
  /** Most JSON values in one large event. */
  readonly maxValues: number;
  /** The method of the request that the stream answers, where it matters. */
  readonly method: string | undefined;
  readonly listener: Listener;
  readonly refuse: (why: Unreadable) => Error;
}

/** One event, or several short ones that arrived together. */
interface Events {
  /** Undefined for a part of a dropped event. */
  readonly bytes: Uint8Array | undefined;
  /** What they cost, in milliseconds. */
  readonly ms: number;
  /** Whether this is the answer to a request in flight. */
  readonly isAwaited: boolean;
}

/** The approximate cost in the SDK of one event, and of each megabyte and each value. */
const EVENT_MS = 0.05;
const MEGABYTE_MS = 5;
const VALUE_MS = 0.002;
const FIELD = 'data:';
const LF = 0x0a;
const CR = 0x0d;

/** Returns the cost of a message that the SDK handles, in milliseconds. */
export const handlingMs = (bytes: number, values: number): number =>
  (bytes / 2 ** 20) * MEGABYTE_MS + values * VALUE_MS;

export class EventReader {
  readonly #options: EventReaderOptions;
  readonly #survey: JsonSurvey;
  /** The beginning of an incomplete event, unless it is dropped. */
  readonly #held: GrowingBytes;
  #isDropped = false;
  /** Bytes of the incomplete event and of its line. */
  #size = 0;
  #line = 0;
  /** Bytes of the event that are not charged yet. */
  #untold = 0;
  #afterCr = false;

  constructor(options: EventReaderOptions) {
    this.#options = options;
    this.#survey = new JsonSurvey(options.maxValues);
    this.#held = new GrowingBytes(options.maxBytes);
  }

  /** Bytes held back because their event is incomplete. */
  get buffered(): number {
    return this.#held.length;
  }

  /** Returns the events that end in the chunk; the rest is copied and kept. Throws for an event beyond the limits. */
  *push(chunk: Uint8Array): Generator<Events> {
    // Short events before `start` that are not passed on yet, and their cost.
    let from = 0;
    let ms = 0;
    let start = 0;
    let line = -this.#line;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte !== LF && byte !== CR) continue;
      const isEmpty = at === line;
      line = at + 1;
      if (isEmpty && this.#afterCr && byte === LF) {
        this.#afterCr = false;
        // It belongs to the end of the event before.
        if (at === start && this.#size === 0) start = line;
        continue;
      }
      this.#afterCr = byte === CR;
      if (!isEmpty) continue;
      if (this.#size === 0 && line - start <= LIMITS.wire.shortEvent) {
        ms += this.#shortMs(chunk.subarray(start, line));
        if (ms >= LIMITS.slice.stretch) {
          yield { bytes: chunk.subarray(from, line), ms, isAwaited: false };
          from = line;
          ms = 0;
        }
      } else {
        if (start > from) yield { bytes: chunk.subarray(from, start), ms, isAwaited: false };
        yield this.#finish(chunk.subarray(start, line));
        from = line;
        ms = 0;
      }
      start = line;
    }
    this.#line = chunk.length - line;
    if (start > from) yield { bytes: chunk.subarray(from, start), ms, isAwaited: false };
    if (start === chunk.length) return;
    this.#keep(chunk.subarray(start));
    if (this.#isDropped) yield this.#drop();
  }

  #shortMs(event: Uint8Array): number {
    this.#survey.push(event);
    const ms = EVENT_MS + handlingMs(event.length, this.#survey.values);
    this.#survey.reset();
    return ms;
  }

  #keep(part: Uint8Array): void {
    const { maxBytes, refuse, listener } = this.#options;
    const wasLarge = this.#size > LIMITS.wire.large;
    this.#size += part.length;
    this.#untold += part.length;
    if (this.#size > maxBytes) throw refuse('too-long');
    if (this.#isDropped) return;
    this.#held.append(part);
    this.#survey.push(part);
    if (this.#size <= LIMITS.wire.large) return;
    if (!wasLarge && !isWanted(listener, headOf(this.#held.bytes), undefined)) {
      this.#isDropped = true;
      this.#held.clear(0);
    } else if (this.#survey.excess) throw refuse(this.#survey.excess);
  }

  #finish(last: Uint8Array): Events {
    const { maxValues, method, listener, refuse } = this.#options;
    this.#keep(last);
    const isLarge = this.#size > LIMITS.wire.large;
    const bytes = this.#isDropped ? undefined : this.#held.take();
    const { values } = this.#survey;
    this.#survey.reset();
    this.#isDropped = false;
    this.#size = 0;
    if (!bytes) return this.#drop();
    const head = headOf(bytes);
    const tail = bytes.toString('utf8', Math.max(0, bytes.length - LIMITS.wire.tail));
    if (isLarge && !isWanted(listener, head, tail)) return this.#drop();
    if (isLarge && values > mostValues(maxValues, method)) throw refuse('too-many');
    this.#untold = 0;
    return {
      bytes,
      ms: EVENT_MS + handlingMs(bytes.length, values),
      isAwaited: isAwaited(listener, head, tail),
    };
  }

  #drop(): Events {
    const ms = handlingMs(this.#untold, 0);
    this.#untold = 0;
    return { bytes: undefined, ms, isAwaited: false };
  }
}

/** Returns the beginning of the message in an event. */
function headOf(event: Buffer): string {
  const from = event.indexOf(FIELD) + FIELD.length;
  return event.toString('utf8', from, from + LIMITS.wire.head);
}

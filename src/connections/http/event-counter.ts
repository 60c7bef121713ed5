/**
 * Measures the events of an event stream, wherever its chunks are cut: the length of each event and its JSON values.
 * @module
 */
import { type Excess, JsonSurvey } from '../../json/json-survey.ts';

const LF = 0x0a;
const CR = 0x0d;

/** The measurements after a chunk. */
export interface EventCount {
  /** Bytes of the longest event in the chunk, including its part in earlier chunks. */
  readonly longest: number;
  /** Events that end in the chunk. */
  readonly events: number;
  /** The limit that one of its events exceeds. */
  readonly excess: Excess | undefined;
}

/** Counts events, which end with a blank line. */
export class EventCounter {
  /** Most values of one event that ended in the last chunk or is still open. */
  values = 0;
  readonly #survey: JsonSurvey;
  /** Bytes of the event, and of its line, in earlier chunks. */
  #event = 0;
  #line = 0;
  #afterCr = false;

  constructor(maxValues: number) {
    this.#survey = new JsonSurvey(maxValues);
  }

  push(chunk: Uint8Array): EventCount {
    let longest = 0;
    let events = 0;
    let excess: Excess | undefined;
    let eventStart = -this.#event;
    let lineStart = -this.#line;
    let afterCr = this.#afterCr;
    this.values = 0;
    const look = (end: number) => {
      this.#survey.push(chunk.subarray(Math.max(0, eventStart), end));
      excess ??= this.#survey.excess;
      this.values = Math.max(this.values, this.#survey.values);
    };
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte !== LF && byte !== CR) continue;
      const isEmpty = at === lineStart;
      lineStart = at + 1;
      if (isEmpty && afterCr && byte === LF) {
        afterCr = false;
        continue;
      }
      afterCr = byte === CR;
      if (!isEmpty) continue;
      look(at);
      this.#survey.reset();
      events++;
      longest = Math.max(longest, lineStart - eventStart);
      eventStart = lineStart;
    }
    look(chunk.length);
    this.#event = chunk.length - eventStart;
    this.#line = chunk.length - lineStart;
    this.#afterCr = afterCr;
    return { longest: Math.max(longest, this.#event), events, excess };
  }
}

/**
 * Takes secrets out of a stream of text that comes in arbitrary pieces. Whole lines are let through; a secret that crosses
 * a border between pieces is seen whole, because what may be the beginning of one waits for the rest.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { Redact } from './redactor.ts';
import { startBefore, withoutHidden } from './seen-spans.ts';

export class RedactStream {
  readonly #redact: Redact;
  readonly #maxChars: number;
  #held = '';
  /** The line that is coming in began before what is held, and is left out. */
  #skipping = false;

  /** Holds at most `maxChars`: of what comes faster than it is taken, the oldest lines are left out. */
  constructor(redact: Redact, maxChars: number) {
    this.#redact = redact;
    this.#maxChars = Math.max(maxChars, LIMITS.secrets.line);
  }

  push(text: string): void {
    this.#held += this.#skipping ? this.#afterLine(text) : text;
    if (this.#held.length <= 2 * this.#maxChars) return;
    // Cut between lines only: the rest of a secret would not be recognised.
    const end = this.#held.indexOf('\n', this.#held.length - this.#maxChars) + 1;
    this.#skipping = end === 0;
    this.#held = `[… left out]\n${end === 0 ? '' : this.#held.slice(end)}`;
  }

  /** Leaves the last line out if it has no end: what follows does not belong to it, and half a secret is not recognised. */
  dropUnfinished(): void {
    this.#held = this.#held.slice(0, this.#held.lastIndexOf('\n') + 1);
    this.#skipping = false;
  }

  /** What can be shown by now; at the end of the stream, everything. */
  take(atEnd = false): string {
    const held = this.#held;
    if (atEnd) {
      this.#held = '';
      return this.#redact(held);
    }
    const line = held.lastIndexOf('\n') + 1;
    const reach = Math.max(this.#redact.reach, 1_024);
    const at = held.length - line > LIMITS.secrets.line + reach ? Math.max(line, startBefore(held, reach)) : line;
    if (at === 0) {
      // A long line of which hardly anything is seen.
      if (held.length > 4 * (LIMITS.secrets.line + reach)) this.#held = withoutHidden(held);
      return '';
    }
    const { clean, rest } = this.#redact.split(held, at);
    this.#held = rest;
    return clean;
  }

  #afterLine(text: string): string {
    const end = text.indexOf('\n') + 1;
    this.#skipping = end === 0;
    return end === 0 ? '' : text.slice(end);
  }
}

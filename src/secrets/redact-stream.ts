/**
 * Redacts a stream of text that arrives in arbitrary pieces. Whole lines pass through. A possible start of a secret is
 * held back until the rest arrives, so a secret that crosses a piece boundary is matched whole.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { Redact } from './redactor.ts';
import { startBefore, withoutHidden } from './seen-spans.ts';

export class RedactStream {
  readonly #redact: Redact;
  readonly #maxChars: number;
  #held = '';
  /** The beginning of the current line was dropped, so the rest of the line is skipped. */
  #skipping = false;

  /** Holds at most `maxChars`: if text arrives faster than it is read, the oldest lines are dropped. */
  constructor(redact: Redact, maxChars: number) {
    this.#redact = redact;
    this.#maxChars = Math.max(maxChars, LIMITS.secrets.line);
  }

  push(text: string): void {
    this.#held += this.#skipping ? this.#afterLine(text) : text;
    if (this.#held.length <= 2 * this.#maxChars) return;
    // Cut only between lines: the rest of a secret would not be recognised.
    const end = this.#held.indexOf('\n', this.#held.length - this.#maxChars) + 1;
    this.#skipping = end === 0;
    this.#held = `[… left out]\n${end === 0 ? '' : this.#held.slice(end)}`;
  }

  /** Drops an unfinished last line: half a secret would not be recognised. */
  dropUnfinished(): void {
    this.#held = this.#held.slice(0, this.#held.lastIndexOf('\n') + 1);
    this.#skipping = false;
  }

  /** Returns the text that can be shown now; at the end of the stream, all of it. */
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
      // A long line of mostly hidden characters.
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

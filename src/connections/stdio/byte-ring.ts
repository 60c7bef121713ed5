/**
 * Keeps the last N bytes of a stream.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import type { Redact } from '../../secrets/redactor.ts';

export class ByteRing {
  readonly #capacity: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #overflown = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  push(chunk: Buffer): void {
    const kept = chunk.length > this.#capacity ? chunk.subarray(chunk.length - this.#capacity) : chunk;
    // Copied, because a small slice would keep the whole read buffer alive.
    this.#chunks.push(Buffer.from(kept));
    this.#size += kept.length;
    this.#overflown ||= kept.length < chunk.length || this.#size > this.#capacity;
    while (this.#size > this.#capacity) {
      const first = this.#chunks[0] as Buffer;
      const excess = this.#size - this.#capacity;
      if (first.length <= excess) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(excess);
      this.#size -= Math.min(first.length, excess);
    }
    if (this.#chunks.length > 64) this.#chunks = [Buffer.concat(this.#chunks)];
  }

  /**
   * Returns the kept text without secrets. A line that was cut at its beginning is left out: half a secret cannot be
   * recognised.
   */
  read(redact: Redact): string {
    const text = Buffer.concat(this.#chunks).toString('utf8');
    if (!this.#overflown) return redact(text);
    const line = text.indexOf('\n') + 1;
    return redact(text.slice(line > 0 ? line : Math.min(LIMITS.secrets.line, text.length >> 1)));
  }
}

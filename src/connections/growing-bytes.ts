/**
 * Collects the bytes of one message. The memory grows by doubling, so one-byte chunks cost no more than others.
 * @module
 */

const NOTHING = Buffer.alloc(0);

export class GrowingBytes {
  length = 0;
  readonly #most: number;
  #buffer: Buffer = NOTHING;

  /** `most` is the length beyond which no spare memory is allocated. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The bytes so far. They change with the next `append` after `clear`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  append(part: Uint8Array): void {
    const needed = this.length + part.length;
    if (needed > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(2 * needed, this.#most)));
      this.#buffer.copy(grown, 0, 0, this.length);
      this.#buffer = grown;
    }
    this.#buffer.set(part, this.length);
    this.length = needed;
  }

  /** Begins with another message; memory up to `kept` bytes is used again. */
  clear(kept: number): void {
    this.length = 0;
    if (this.#buffer.length > kept) this.#buffer = NOTHING;
  }

  /** Returns the bytes for good, and begins with another message. */
  take(): Buffer {
    const { bytes } = this;
    this.clear(0);
    return bytes;
  }
}

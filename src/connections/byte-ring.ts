/**
 * The last N bytes of a stream, whatever was written before.
 * @module
 */

export class ByteRing {
  readonly #capacity: number;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  push(chunk: Buffer): void {
    const kept = chunk.length > this.#capacity ? chunk.subarray(chunk.length - this.#capacity) : chunk;
    // Copied, because a small slice would keep the stream's whole read buffer alive.
    this.#chunks.push(Buffer.from(kept));
    this.#size += kept.length;
    while (this.#size > this.#capacity) {
      const first = this.#chunks[0] as Buffer;
      const excess = this.#size - this.#capacity;
      if (first.length <= excess) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(excess);
      this.#size -= Math.min(first.length, excess);
    }
    if (this.#chunks.length > 64) this.#chunks = [Buffer.concat(this.#chunks)];
  }

  get size(): number {
    return this.#size;
  }

  toString(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

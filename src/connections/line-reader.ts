/**
 * Bytes in, lines out: newline framing with a cap on the length of one line.
 * @module
 */

export interface LineReaderOptions {
  /** Longest line in bytes; of a longer one only the beginning and the end are kept. */
  readonly maxBytes: number;
  readonly onLine: (line: string, bytes: number) => void;
  /**
   * Called once per line that was too long: at its end with its last bytes, or without them as soon as it has twice the
   * allowed length, because a line without end must not keep anybody waiting.
   */
  readonly onTooLong: (head: string, tail: string | undefined) => void;
}

const NEWLINE = 0x0a;
const HEAD_BYTES = 1024;
const TAIL_BYTES = 128;
/** As much stays allocated, so that not every message of a file or a page takes new memory. */
const KEPT_BYTES = 256 * 1024;

export class LineReader {
  readonly #options: LineReaderOptions;
  /** The beginning of a line whose end has not come yet; grows by doubling, so one-byte chunks cost no more than others. */
  #held = Buffer.alloc(0);
  #size = 0;
  #long: { readonly head: string; tail: Buffer; size: number; told: boolean } | undefined;

  constructor(options: LineReaderOptions) {
    this.#options = options;
  }

  /** Feeds a chunk; complete lines are handed on before this returns, and of the rest a copy is kept. */
  push(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) return this.#keep(chunk.subarray(start));
      // Mostly a chunk is a line, and then it is read where it lies.
      if (this.#size > 0 || this.#long || end - start > this.#options.maxBytes)
        this.#finish(chunk.subarray(start, end));
      else if (end > start) this.#options.onLine(chunk.toString('utf8', start, end), end - start);
      start = end + 1;
    }
  }

  /** Bytes held back because their line is not complete. */
  get buffered(): number {
    return this.#size;
  }

  #finish(last: Buffer): void {
    if (this.#long || this.#size + last.length > this.#options.maxBytes) {
      this.#skip(last);
      this.#tell(this.#long?.tail.toString('utf8'));
      this.#long = undefined;
      return;
    }
    const bytes = this.#size + last.length;
    this.#append(last);
    const line = this.#held.toString('utf8', 0, bytes);
    this.#reset();
    this.#options.onLine(line, bytes);
  }

  #keep(part: Buffer): void {
    if (!this.#long && this.#size + part.length <= this.#options.maxBytes) return this.#append(part);
    this.#skip(part);
    if (this.#long && this.#long.size > 2 * this.#options.maxBytes) this.#tell(undefined);
  }

  #append(part: Buffer): void {
    const needed = this.#size + part.length;
    if (needed > this.#held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(2 * needed, this.#options.maxBytes)));
      this.#held.copy(grown, 0, 0, this.#size);
      this.#held = grown;
    }
    part.copy(this.#held, this.#size);
    this.#size = needed;
  }

  #skip(part: Buffer): void {
    if (!this.#long) {
      const head = Buffer.concat([
        this.#held.subarray(0, Math.min(this.#size, HEAD_BYTES)),
        part.subarray(0, HEAD_BYTES),
      ]);
      this.#long = { head: head.toString('utf8', 0, HEAD_BYTES), tail: Buffer.alloc(0), size: this.#size, told: false };
      this.#reset();
    }
    const long = this.#long;
    long.size += part.length;
    long.tail = Buffer.concat([long.tail, part.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
  }

  #tell(tail: string | undefined): void {
    if (!this.#long || this.#long.told) return;
    this.#long.told = true;
    this.#options.onTooLong(this.#long.head, tail);
  }

  #reset(): void {
    this.#size = 0;
    if (this.#held.length > KEPT_BYTES) this.#held = Buffer.alloc(0);
  }
}

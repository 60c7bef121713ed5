/**
 * Stores the vectors of one server's tools, one byte per number, and computes cosines. Rounding costs about 0.001 of a
 * cosine and saves three quarters of the memory.
 * @module
 */

const FEWEST_ROWS = 64;

/** Rows for tools, filled one by one. */
export class VectorTable {
  readonly names: readonly string[];
  /** Keys of the texts. */
  readonly keys: readonly string[];
  #bytes = new Int8Array(0);
  #dimensions = 0;
  /** One over the length of each row; 0 for an empty row. */
  readonly #inverse: Float32Array;
  #filled = 0;

  constructor(names: readonly string[], keys: readonly string[]) {
    this.names = names;
    this.keys = keys;
    this.#inverse = new Float32Array(names.length);
  }

  /** The length of a vector; 0 before the first. */
  get dimensions(): number {
    return this.#dimensions;
  }

  /** How many tools have a vector. */
  get filled(): number {
    return this.#filled;
  }

  has(row: number): boolean {
    return (this.#inverse[row] ?? 0) > 0;
  }

  /** Sets a unit vector. Returns false if its length differs from the others, or if it rounds to zero. */
  set(row: number, unit: Float32Array): boolean {
    let largest = 0;
    for (const value of unit) largest = Math.max(largest, Math.abs(value));
    const factor = 127 / largest;
    return this.setBytes(
      row,
      Int8Array.from(unit, (value) => Math.round(value * factor)),
    );
  }

  /** Like `set`, with a row of another table or a file. */
  setBytes(row: number, bytes: Int8Array): boolean {
    if (row >= this.names.length || (this.#dimensions > 0 && bytes.length !== this.#dimensions)) return false;
    let sum = 0;
    for (const value of bytes) sum += value * value;
    if (sum === 0) return false;
    this.#dimensions = bytes.length;
    this.#makeRoom(row);
    if (!this.has(row)) this.#filled++;
    this.#bytes.set(bytes, row * this.#dimensions);
    this.#inverse[row] = 1 / Math.sqrt(sum);
    return true;
  }

  /** Doubles the buffer when needed, so that a service with long vectors does not allocate everything at once. */
  #makeRoom(row: number): void {
    if ((row + 1) * this.#dimensions <= this.#bytes.length) return;
    const rows = Math.min(this.names.length, Math.max(FEWEST_ROWS, 2 * (row + 1)));
    const bytes = new Int8Array(rows * this.#dimensions);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }

  /** Returns the bytes of a row; do not modify them. */
  bytesOf(row: number): Int8Array {
    return this.#bytes.subarray(row * this.#dimensions, (row + 1) * this.#dimensions);
  }

  /** Returns the cosine of a row and a unit vector of the same length. */
  cosine(row: number, unit: Float32Array): number {
    const start = row * this.#dimensions;
    let sum = 0;
    for (let at = 0; at < unit.length; at++) sum += (unit[at] as number) * (this.#bytes[start + at] as number);
    return sum * (this.#inverse[row] as number);
  }
}

/**
 * Lends arrays of zeros to a search and lends them again to the next one. Arrays of a large index that were made anew for
 * each search would keep the garbage collector busy for longer than the search itself takes.
 * @module
 */

type Numbers = Float64Array | Uint32Array | Uint16Array;

/** The arrays of one index. What is lent belongs to the search until the next search starts. */
export class Scratch {
  readonly #arrays: Numbers[] = [];
  #lent = 0;

  /** Takes everything back. */
  start(): void {
    this.#lent = 0;
  }

  /** Lends an array of zeros. Searches of one index ask for the same lengths in the same order. */
  take<T extends Numbers>(Kind: new (length: number) => T, length: number): T {
    const at = this.#lent++;
    const known = this.#arrays[at];
    if (known instanceof Kind && known.length === length) return known.fill(0) as T;
    const fresh = new Kind(length);
    this.#arrays[at] = fresh;
    return fresh;
  }
}

/**
 * Counts what is open now, by name.
 * @module
 */

/** Numbers that go up when something opens and down when it closes. A name without anything open keeps no entry. */
export class OpenCounts {
  readonly #counts = new Map<string, number>();

  /** Returns the function to call when it has closed; only the first call counts. */
  open(name: string): () => void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    let isOpen = true;
    return () => {
      const left = (this.#counts.get(name) ?? 0) - (isOpen ? 1 : 0);
      isOpen = false;
      if (left > 0) this.#counts.set(name, left);
      else this.#counts.delete(name);
    };
  }

  [Symbol.iterator](): Iterator<[string, number]> {
    return this.#counts.entries();
  }
}

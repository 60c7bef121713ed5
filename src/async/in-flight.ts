/**
 * Remembers what is under way, in no order.
 *
 * A `Set` or `Map` is not for this. V8 links each of its tables to the next one, so a table that was moved to the old
 * generation keeps all later ones, with everything that was under way then, until the next full collection.
 * @module
 */

/** Searched from one end to the other, so it is for some hundreds of items at a time. */
export class InFlight<T extends object> {
  readonly #all: T[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(item: T): void {
    if (!this.#all.includes(item)) this.#all.push(item);
  }

  /** Returns whether it was under way. */
  delete(item: T): boolean {
    const at = this.#all.indexOf(item);
    if (at === -1) return false;
    const last = this.#all.pop();
    if (last !== undefined && last !== item) this.#all[at] = last;
    return true;
  }

  find(isIt: (item: T) => boolean): T | undefined {
    return this.#all.find(isIt);
  }

  /** All that is under way now. What begins or ends meanwhile does not matter. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#all][Symbol.iterator]();
  }
}

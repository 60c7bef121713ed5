/**
 * Connects a producer that pushes values with a consumer that iterates over them.
 * @module
 */

/** Passes values from `push` to one `for await` loop; ends after `end`. */
export class EventQueue<T> {
  readonly #values: T[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  /** Adds a value; ignored after the end. */
  push(value: T): void {
    if (this.#ended) return;
    this.#values.push(value);
    this.#wake?.();
  }

  /** Ends the queue. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Returns the next value, or undefined after the last. */
  async take(): Promise<T | undefined> {
    while (this.#values.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    return this.#values.shift();
  }
}

/**
 * Limits how much work runs at the same time, first come, first served.
 * @module
 */

export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#free = size;
  }

  /** Runs the work in its turn. With `atMostMs`, the turn ends after that time although the work goes on. */
  async run<T>(work: () => T | Promise<T>, atMostMs?: number): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    };
    const timer = atMostMs === undefined ? undefined : setTimeout(end, atMostMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      end();
    }
  }
}

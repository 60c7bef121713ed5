/**
 * Provides a clock that tests advance by hand, for anything that takes a `Clock`.
 * @module
 */
import type { Clock, Timer } from './timers.ts';

interface Pending {
  readonly due: number;
  readonly fire: () => void;
}

/** A clock that stands still until `advance` is called. */
export class ManualClock implements Clock {
  readonly #pending = new Set<Pending>();
  #now = 0;

  now(): number {
    return this.#now;
  }

  after(ms: number, fire: () => void): Timer {
    const entry = { due: this.#now + Math.max(0, ms), fire };
    this.#pending.add(entry);
    return { clear: () => void this.#pending.delete(entry) };
  }

  /** How many timers have neither fired nor been cleared. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Advances time: fires due timers in order and lets promises settle in between. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await settled();
    for (let next = this.#next(target); next !== undefined; next = this.#next(target)) {
      this.#pending.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.fire();
      await settled();
    }
    this.#now = target;
  }

  #next(target: number): Pending | undefined {
    let first: Pending | undefined;
    for (const entry of this.#pending) {
      if (entry.due <= target && (first === undefined || entry.due < first.due)) first = entry;
    }
    return first;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Watches many time limits with one timer. An item that finishes in time never needs a timer of its own.
 * @module
 */
import { InFlight } from '../async/in-flight.ts';
import type { Clock, Timer } from './timers.ts';

/** An item with a time limit. */
export interface Watched {
  /** When to check it next, on the watchdog's clock; while watched, it may move later, never earlier. */
  readonly due: number;
  /** Called at that time. The item is no longer watched by then. */
  expire(now: number): void;
}

/** Checks all items when the first of them is due. */
export class Watchdog {
  readonly #clock: Clock;
  readonly #watched = new InFlight<Watched>();
  #timer: Timer | undefined;
  #fires = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(watched: Watched): void {
    this.#watched.add(watched);
    if (watched.due < this.#fires) this.#arm(watched.due);
    else if (this.#watched.size === 1) this.#timer?.keepAlive?.(true);
  }

  delete(watched: Watched): void {
    // The timer outlives its items, and must not keep an idle process alive.
    if (this.#watched.delete(watched) && this.#watched.size === 0) this.#timer?.keepAlive?.(false);
  }

  #arm(due: number): void {
    this.#timer?.clear();
    this.#fires = due;
    this.#timer = this.#clock.after(Math.max(1, due - this.#clock.now()), this.#look);
  }

  readonly #look = (): void => {
    const now = this.#clock.now();
    this.#fires = Number.POSITIVE_INFINITY;
    const over: Watched[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const watched of this.#watched) {
      // Node's timers may fire a fraction of a millisecond early.
      if (watched.due <= now + 1) over.push(watched);
      else next = Math.min(next, watched.due);
    }
    for (const watched of over) this.#watched.delete(watched);
    if (next < this.#fires) this.#arm(next);
    for (const watched of over) watched.expire(now);
  };
}

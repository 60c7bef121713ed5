/**
 * One timer for many who must not take too long: each says when it wants to be looked at, and whoever is done leaves
 * without a timer having been set or cleared for it.
 * @module
 */
import type { Clock, Timer } from './timers.ts';

/** Somebody with a time limit. */
export interface Watched {
  /** When to look at it next, on the watchdog's clock; may move away while it is watched, never nearer. */
  readonly due: number;
  /** Called when that time has come. It has left by then. */
  expire(now: number): void;
}

/** Looks at all it watches when the first of them is due. */
export class Watchdog {
  readonly #clock: Clock;
  readonly #watched = new Set<Watched>();
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
    // The timer outlives those it was set for, and must not keep a process running for nobody.
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

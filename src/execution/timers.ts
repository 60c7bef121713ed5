/**
 * Defines the clock that steps take as an argument, so that tests can control time.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** A running timer. */
export interface Timer {
  /** Stops the timer; stopping twice, or after it fired, does nothing. */
  clear(): void;
  /** Sets whether the process stays alive until the timer fires. Default: yes. */
  keepAlive?(wanted: boolean): void;
}

/** The source of time for steps. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls `fire` once, after `ms`. */
  after(ms: number, fire: () => void): Timer;
}

class NodeTimer implements Timer {
  readonly #handle: NodeJS.Timeout;

  constructor(ms: number, fire: () => void) {
    this.#handle = setTimeout(fire, Math.min(ms, LIMITS.time.timer));
  }

  clear(): void {
    clearTimeout(this.#handle);
  }

  keepAlive(wanted: boolean): void {
    if (wanted) this.#handle.ref();
    else this.#handle.unref();
  }
}

/** The system's clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, fire) => new NodeTimer(ms, fire),
};

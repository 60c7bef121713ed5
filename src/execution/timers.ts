/**
 * Time as an argument: a monotonic `now` and timers, so that tests move time by hand.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** A running timer. */
export interface Timer {
  /** Stops it; stopping twice, or after it fired, does nothing. */
  clear(): void;
  /** Whether the process goes on until it fires, which it does unless told otherwise. */
  keepAlive?(wanted: boolean): void;
}

/** Where the steps take their time from. */
export interface Clock {
  /** Milliseconds that never run backwards. */
  now(): number;
  /** Calls `fire` once, `ms` from now. */
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

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, fire) => new NodeTimer(ms, fire),
};

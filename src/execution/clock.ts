/**
 * Time as an argument: a monotonic `now` and timers, so that tests move time by hand.
 * @module
 */

/** A running timer. */
export interface Timer {
  /** Stops it; stopping twice, or after it fired, does nothing. */
  clear(): void;
}

/** Where the steps take their time from. */
export interface Clock {
  /** Milliseconds that never run backwards. */
  now(): number;
  /** Calls `fire` once, `ms` from now. A timer in the background keeps no process running. */
  after(ms: number, fire: () => void, options?: { readonly background?: boolean }): Timer;
}

class NodeTimer implements Timer {
  readonly #handle: NodeJS.Timeout;

  constructor(ms: number, fire: () => void, background: boolean) {
    this.#handle = setTimeout(fire, ms);
    if (background) this.#handle.unref();
  }

  clear(): void {
    clearTimeout(this.#handle);
  }
}

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, fire, { background = false } = {}) => new NodeTimer(ms, fire, background),
};

/**
 * Keeps one connection from taking more than its share of the event loop with what nobody asked for.
 *
 * Pings, questions, notifications, answers to nothing and noise cost us more than they cost the sender. A connection has
 * a small credit of time for them, which grows back slowly. Whoever has used it up is not read until it has.
 * @module
 */

/** Loop time that may be used before anybody is slowed down. */
const CREDIT_MS = 5;
/** The part of all time that comes back as credit. */
const SHARE = 0.08;
/** The longest a connection is left unread, so that a slow moment of the machine is not held against it for long. */
const LONGEST_PAUSE_MS = 500;

export class LoopShare {
  readonly #now: () => number;
  #debt = 0;
  #since: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  /** Notes time that was used; returns how long nothing should be read now, in milliseconds. */
  charge(ms: number): number {
    const now = this.#now();
    this.#debt = Math.max(0, this.#debt - (now - this.#since) * SHARE) + ms;
    this.#since = now;
    const excess = this.#debt - CREDIT_MS;
    return excess > 0 ? Math.min(excess / SHARE, LONGEST_PAUSE_MS) : 0;
  }
}

/**
 * Accounts for the time of the event loop that one user of it takes, and says when it should rest.
 *
 * There is a small credit of time, which grows back slowly. Whoever has used it up rests until there is some again. So
 * what happens now and then costs nobody anything, and what never ends takes no more than its share.
 * @module
 */

/** How much time may be used. */
export interface ShareOptions {
  /** Milliseconds that may be used before any rest. */
  readonly credit: number;
  /** The part of all time that comes back as credit. */
  readonly share: number;
  /** The longest rest in milliseconds, so that a slow moment of the machine is not held against anybody for long. */
  readonly longestRest: number;
  readonly now?: (() => number) | undefined;
}

export class LoopShare {
  readonly #options: ShareOptions;
  readonly #now: () => number;
  #debt = 0;
  #since: number;

  constructor(options: ShareOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#since = this.#now();
  }

  /** Notes milliseconds that were used; returns for how many to rest now. */
  charge(ms: number): number {
    const { credit, share, longestRest } = this.#options;
    const now = this.#now();
    this.#debt = Math.max(0, this.#debt - (now - this.#since) * share) + ms;
    this.#since = now;
    const excess = this.#debt - credit;
    return excess > 0 ? Math.min(excess / share, longestRest) : 0;
  }
}

/**
 * What one connection may take with what nobody asked for: pings, questions, notifications, answers to nothing, noise.
 * They cost us more than they cost the sender.
 */
export const UNASKED: ShareOptions = { credit: 5, share: 0.08, longestRest: 500 };

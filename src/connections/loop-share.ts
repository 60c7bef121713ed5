/**
 * Accounts for the event loop time of one source of work, and says when to pause it.
 *
 * A source has a small credit of time, which grows back slowly. When the credit is used up, the source pauses until
 * there is some again. Occasional work is never delayed, and endless work gets no more than its share.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

/** How much time a source may use. */
export interface ShareOptions {
  /** Milliseconds that may be used before any pause. */
  readonly credit: number;
  /** The fraction of elapsed time that is added to the credit. */
  readonly share: number;
  /** The longest pause in milliseconds, so that a slow moment of the machine has no long effect. */
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

  /** Charges milliseconds that were used; returns for how many to pause now. */
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
 * The share of one connection for messages that were not requested: pings, questions, notifications, unexpected
 * answers, noise. They cost us more than they cost the sender.
 */
export const UNASKED: ShareOptions = { credit: 5, share: 0.08, longestRest: LIMITS.slice.unaskedRest };

/**
 * Implements one circuit breaker: records the outcome of calls and decides whether the next call may go. It is closed,
 * open, or lets one probe through.
 * @module
 */

import { DEFAULTS, LIMITS } from '../core/limits.ts';

/** When a breaker opens and for how long. */
export interface BreakerOptions {
  /** Failures in a row that open it. Default 5. */
  readonly inARow?: number | undefined;
  /** Share of failures within the window that opens it. Default 0.5. */
  readonly share?: number | undefined;
  /** Calls in the window before the share counts. Default 10. */
  readonly atLeast?: number | undefined;
  /** Length of the window in ms. Default 30 s. */
  readonly window?: number | undefined;
  /** How long it stays open, in ms. Default 30 s. */
  readonly open?: number | undefined;
}

const BUCKETS = 6;

/** Counts infrastructure failures of one server. */
export class CircuitBreaker {
  readonly #options: Required<{ [K in keyof BreakerOptions]: number }>;
  readonly #good = new Float64Array(BUCKETS);
  readonly #bad = new Float64Array(BUCKETS);
  #bucket = 0;
  #run = 0;
  #lastEvent: unknown;
  #openUntil: number | undefined;
  #probing = false;

  constructor(options: BreakerOptions = {}) {
    const { breaker } = DEFAULTS.limits;
    const { inARow = breaker.failures, share = breaker.rate, atLeast = breaker.minimum } = options;
    const { window = breaker.window, open = breaker.open } = options;
    this.#options = { inARow, share, atLeast, window, open };
  }

  /** Returns the milliseconds until a call may go; 0 when one may go now. Changes nothing. */
  waitTime(now: number): number {
    if (this.#openUntil === undefined) return 0;
    if (now < this.#openUntil) return Math.ceil(this.#openUntil - now);
    return this.#probing ? LIMITS.pace.breaker : 0;
  }

  /** Lets a call go, as the probe if the breaker was open. Call `waitTime` first. */
  enter(): void {
    if (this.#openUntil !== undefined) this.#probing = true;
  }

  /**
   * Records how a call that entered went; `undefined` when it says nothing about the server. Failures by the same
   * event, such as the end of a shared connection, count as one.
   */
  leave(now: number, success: boolean | undefined, event?: unknown): void {
    if (success === undefined) {
      this.#probing = false;
      return;
    }
    this.#turn(now);
    if (success) {
      this.#run = 0;
      this.#add(this.#good);
      // A late success of a call from before the breaker opened counts too.
      if (this.#openUntil !== undefined) this.#close();
      return;
    }
    if (event !== undefined && event === this.#lastEvent) return;
    this.#lastEvent = event;
    this.#run++;
    this.#add(this.#bad);
    if (this.#probing || (this.#openUntil === undefined && this.#tooBad())) {
      this.#openUntil = now + this.#options.open;
      this.#probing = false;
    }
  }

  #close(): void {
    this.#openUntil = undefined;
    this.#probing = false;
    this.#good.fill(0);
    this.#bad.fill(0);
  }

  #tooBad(): boolean {
    const { inARow, share, atLeast } = this.#options;
    if (this.#run >= inARow) return true;
    const bad = this.#bad.reduce((sum, count) => sum + count, 0);
    const all = this.#good.reduce((sum, count) => sum + count, bad);
    return all >= atLeast && bad / all >= share;
  }

  #add(counts: Float64Array): void {
    const slot = this.#bucket % BUCKETS;
    counts[slot] = (counts[slot] ?? 0) + 1;
  }

  /** Empties the buckets that have left the window. */
  #turn(now: number): void {
    const bucket = Math.floor(now / (this.#options.window / BUCKETS));
    for (let slot = Math.max(this.#bucket + 1, bucket - BUCKETS + 1); slot <= bucket; slot++) {
      this.#good[slot % BUCKETS] = 0;
      this.#bad[slot % BUCKETS] = 0;
    }
    this.#bucket = Math.max(this.#bucket, bucket);
  }
}

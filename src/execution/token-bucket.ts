/**
 * Implements a token bucket: a taker learns how long to wait, or that its turn would come too late.
 * @module
 */
import type { RateLimit } from '../core/types.ts';

/** Allows `requestsPerSecond` in the long run and `burst` at once. */
export class TokenBucket {
  #perMs: number;
  #burst: number;
  #tokens: number;
  #filledAt: number;

  constructor(limit: RateLimit, now: number) {
    this.#perMs = limit.requestsPerSecond / 1_000;
    this.#burst = Math.max(1, limit.burst);
    this.#tokens = this.#burst;
    this.#filledAt = now;
  }

  /** Applies another limit from now on. Turns that were taken stay taken. */
  change(limit: RateLimit, now: number): void {
    this.#fill(now);
    const used = this.#burst - this.#tokens;
    this.#perMs = limit.requestsPerSecond / 1_000;
    this.#burst = Math.max(1, limit.burst);
    this.#tokens = this.#burst - used;
  }

  /** Returns the milliseconds until the next turn. */
  waitTime(now: number): number {
    this.#fill(now);
    if (this.#tokens >= 1) return 0;
    return Math.ceil((1 - this.#tokens) / this.#perMs);
  }

  /**
   * Takes a turn and returns how long to wait for it; returns undefined and takes nothing if that exceeds `maxWait`.
   */
  take(now: number, maxWait: number): number | undefined {
    const wait = this.waitTime(now);
    if (wait > maxWait) return undefined;
    this.#tokens -= 1;
    return wait;
  }

  /** Returns an unused turn. */
  giveBack(): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }

  #fill(now: number): void {
    if (now <= this.#filledAt) return;
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
  }
}

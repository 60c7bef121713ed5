/**
 * Computes how long to wait before the next attempt on a failing server: one second, doubling to five minutes, reset
 * after a healthy minute.
 * @module
 */

import { pauseAfter } from '../async/back-off.ts';
import { elapsedNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';

interface BackoffOptions {
  readonly initialMs?: number;
  readonly now?: () => number;
  readonly random?: () => number;
}

const LAST_DEATH = 4;
const LONGEST = LIMITS.pace.connectRetryMost;

export class Backoff {
  readonly #initialMs: number;
  readonly #now: () => number;
  readonly #random: () => number;
  #failures = 0;
  #until = 0;
  #openedAt = Number.NaN;
  #error: Error | undefined;

  constructor({ initialMs = LIMITS.pace.connectRetry, now = elapsedNow, random = Math.random }: BackoffOptions = {}) {
    this.#initialMs = initialMs;
    this.#now = now;
    this.#random = random;
  }

  /** The last failure, until the server has been healthy for long enough. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** Milliseconds until the next attempt is allowed. */
  get waitMs(): number {
    return Math.max(0, this.#until - this.#now());
  }

  /** Allows the next attempt now. */
  retryNow(): void {
    this.#until = 0;
  }

  /** Notes a successful connect. Earlier failures are forgotten once the connection has lasted. */
  opened(): void {
    this.#openedAt = this.#now();
    this.#error = undefined;
  }

  /**
   * Notes a failed connect. With `final`, an early retry is pointless; `atLeastMs` is the delay that the server asked
   * for.
   */
  failed(error: Error, { final = false, atLeastMs = 0 }: { final?: boolean; atLeastMs?: number } = {}): void {
    this.#count(error);
    const wait = this.#jittered(final ? LONGEST : this.#pause(this.#failures));
    this.#until = this.#now() + Math.max(wait, Math.min(atLeastMs, LONGEST));
  }

  /** Notes a failed connect for a reason that waiting does not cure. The next attempt is allowed at once. */
  refused(error: Error): void {
    this.#error = error;
  }

  /** Notes an unexpected disconnect. The first one causes no delay; repeated ones do. */
  died(error: Error): void {
    this.#count(error);
    if (this.#failures === 1) return;
    // A start costs more than a request: after five starts in ten minutes the server is left alone.
    const wait = this.#failures >= LAST_DEATH ? LONGEST : this.#jittered(this.#pause(this.#failures - 1));
    this.#until = this.#now() + wait;
  }

  #count(error: Error): void {
    if (this.#now() - this.#openedAt >= LIMITS.age.healthy) this.#failures = 0;
    this.#openedAt = Number.NaN;
    this.#error = error;
    this.#failures++;
  }

  #pause(failures: number): number {
    return pauseAfter(failures, { initial: this.#initialMs, max: LONGEST });
  }

  #jittered(ms: number): number {
    return ms * (0.5 + this.#random() / 2);
  }
}

/**
 * Decides when a server that announces changed tools is listed again. A few changes in a row are followed every five
 * seconds. A server that announces changes after every list is listed once in thirty seconds.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

/** How many lists in a row use the short pause; together they last less than a minute. */
const IN_A_ROW = 8;

export class ChangePace {
  readonly #now: () => number;
  #left = IN_A_ROW;
  #countedAt: number;
  #listedAt = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds of a clock that never jumps */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#countedAt = now();
  }

  /** Milliseconds to wait before listing the server because of a change. */
  waitMs(): number {
    this.#refill();
    const since = this.#now() - this.#listedAt;
    const forTurn = this.#left >= 1 ? 0 : (1 - this.#left) * LIMITS.pace.slowChanges;
    return Math.max(LIMITS.pace.gatheredChanges, LIMITS.pace.changes - since, forTurn);
  }

  /** Call when the server is listed because of a change. */
  listed(): void {
    this.#refill();
    this.#left = Math.max(0, this.#left - 1);
    this.#listedAt = this.#now();
  }

  #refill(): void {
    const now = this.#now();
    this.#left = Math.min(IN_A_ROW, this.#left + (now - this.#countedAt) / LIMITS.pace.slowChanges);
    this.#countedAt = now;
  }
}

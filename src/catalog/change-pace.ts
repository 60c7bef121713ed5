/**
 * Decides when a server that says its tools changed is listed again. A few changes in a row are followed every five
 * seconds; a server that goes on saying so after every list is listed once in thirty.
 * @module
 */

/** The shortest time between two lists. */
const PAUSE_MS = 5000;
/** What a server that never stops is left with. */
const SLOW_PAUSE_MS = 30_000;
/** Lists in a row before that: at one in five seconds they last for less than a minute. */
const IN_A_ROW = 8;
/** A burst of notices in the same moment is one change. */
const GATHER_MS = 50;

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

  /** Milliseconds until the server may be listed because of a change. */
  waitMs(): number {
    this.#refill();
    const since = this.#now() - this.#listedAt;
    const forTurn = this.#left >= 1 ? 0 : (1 - this.#left) * SLOW_PAUSE_MS;
    return Math.max(GATHER_MS, PAUSE_MS - since, forTurn);
  }

  /** The server is being listed because of a change. */
  listed(): void {
    this.#refill();
    this.#left = Math.max(0, this.#left - 1);
    this.#listedAt = this.#now();
  }

  #refill(): void {
    const now = this.#now();
    this.#left = Math.min(IN_A_ROW, this.#left + (now - this.#countedAt) / SLOW_PAUSE_MS);
    this.#countedAt = now;
  }
}

/**
 * Lets large messages use the event loop one at a time, in short slices.
 *
 * An occasional large message is read without delay and only yields between two slices. When they keep coming, all of
 * them together get about a quarter of the loop, however many servers and clients send them. Other work finds the loop
 * free most of the time, and otherwise waits for one slice.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { LoopShare, type ShareOptions } from './loop-share.ts';

const SHARE: ShareOptions = { credit: 80, share: 0.25, longestRest: LIMITS.slice.largeRest };

export class LargeTurns {
  readonly #share = new LoopShare(SHARE);
  readonly #holds = new Set<Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Runs the steps when it is their turn. Rejects with what they throw. The work that follows takes about `laterMs`.
   */
  run<T>(steps: Generator<unknown, T>, laterMs = 0): Promise<T> {
    const turn = this.#run(this.#last, steps);
    const rest = () => this.#rest(laterMs);
    this.#last = turn.then(rest, rest);
    return turn;
  }

  /** Waits for a turn for work that is done elsewhere and takes about `ms`. */
  pass(ms: number): Promise<void> {
    return this.run(nothing(), ms);
  }

  /** Starts no other turn until the promise has settled: the result must be consumed first. */
  hold(until: Promise<unknown>): void {
    this.#holds.add(until);
    const release = () => this.#holds.delete(until);
    until.then(release, release);
  }

  async #run<T>(before: Promise<unknown>, steps: Generator<unknown, T>): Promise<T> {
    await before;
    while (this.#holds.size > 0) await Promise.allSettled([...this.#holds]);
    let began = performance.now();
    try {
      for (;;) {
        const step = steps.next();
        if (step.done) return step.value;
        const took = performance.now() - began;
        if (took < LIMITS.slice.stretch) continue;
        began = Number.POSITIVE_INFINITY;
        await this.#rest(took);
        began = performance.now();
      }
    } finally {
      this.#share.charge(Math.max(0, performance.now() - began));
    }
  }

  #rest(took: number): Promise<void> {
    const ms = this.#share.charge(took);
    return new Promise((resolve) => (ms > 0 ? setTimeout(resolve, ms) : setImmediate(resolve)));
  }
}

/** The turns of this process: it has one event loop, shared by all its engines. */
export const largeTurns = new LargeTurns();

function* nothing(): Generator<void, void> {}

/**
 * Gives large messages the event loop one at a time, in short stretches.
 *
 * A large message now and then is read without delay, and only lets others have the loop between two stretches. Where they
 * keep coming, all of them together get about a quarter of the loop, however many servers and clients send them: others
 * find it free most of the time, and wait for one stretch where they do not.
 * @module
 */
import { LoopShare, type ShareOptions } from './loop-share.ts';

/** Longest stretch before the loop is given up, unless one step takes longer. */
const STRETCH_MS = 4;
const SHARE: ShareOptions = { credit: 80, share: 0.25, longestRest: 300 };

export class LargeTurns {
  readonly #share = new LoopShare(SHARE);
  readonly #holds = new Set<Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the steps when it is their turn. Rejects with what they throw. What others do afterwards takes about `laterMs`. */
  run<T>(steps: Generator<unknown, T>, laterMs = 0): Promise<T> {
    const turn = this.#run(this.#last, steps);
    const rest = () => this.#rest(laterMs);
    this.#last = turn.then(rest, rest);
    return turn;
  }

  /** Waits for a turn of work that somebody else does afterwards, and that takes about so long. */
  pass(ms: number): Promise<void> {
    return this.run(nothing(), ms);
  }

  /** Begins nothing new until the promise has settled: somebody must first take what is there. */
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
        if (took < STRETCH_MS) continue;
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

/** The turns of this process: it has one event loop, however many engines share it. */
export const largeTurns = new LargeTurns();

function* nothing(): Generator<void, void> {}

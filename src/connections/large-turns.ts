/**
 * Gives large messages the event loop one at a time, in short stretches with rests between them.
 *
 * Whatever is large takes at most a fifth of the loop, however many servers and clients send it at once. So others find
 * the loop free most of the time, and wait for one stretch where they do not.
 * @module
 */

/** Longest stretch before the loop is given up, unless one step takes longer. */
const STRETCH_MS = 4;
/** A rest is this many times as long as the stretch before it. */
const REST_FACTOR = 4;
/** The longest rest after one step that took unusually long, such as a garbage collection inside it. */
const LONGEST_REST_MS = 400;

export class LargeTurns {
  #last: Promise<unknown> = Promise.resolve();
  readonly #holds = new Set<Promise<unknown>>();

  /** Runs the steps when it is their turn. Rejects with what they throw. */
  run<T>(steps: Generator<unknown, T>): Promise<T> {
    let finish: (rest: Promise<void>) => void = () => {};
    const before = this.#last;
    this.#last = new Promise((resolve) => {
      finish = resolve;
    });
    return this.#run(before, steps, (took) => finish(rest(took)));
  }

  /** Waits for a turn of work that somebody else does afterwards, and that takes about so long. */
  pass(ms: number): Promise<void> {
    return this.run(nothing()).then(() => {
      this.#last = Promise.all([this.#last, rest(ms)]);
    });
  }

  /** Begins nothing new until the promise has settled: somebody must first take what is there. */
  hold(until: Promise<unknown>): void {
    this.#holds.add(until);
    const release = () => this.#holds.delete(until);
    until.then(release, release);
  }

  async #run<T>(before: Promise<unknown>, steps: Generator<unknown, T>, done: (took: number) => void): Promise<T> {
    await before;
    while (this.#holds.size > 0) await Promise.allSettled([...this.#holds]);
    let began = performance.now();
    try {
      for (;;) {
        const step = steps.next();
        if (step.done) return step.value;
        const took = performance.now() - began;
        if (took < STRETCH_MS) continue;
        await rest(took);
        began = performance.now();
      }
    } finally {
      done(performance.now() - began);
    }
  }
}

/** The turns of this process: it has one event loop, however many engines share it. */
export const largeTurns = new LargeTurns();

function* nothing(): Generator<void, void> {}

const rest = (took: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.min(REST_FACTOR * took, LONGEST_REST_MS)));

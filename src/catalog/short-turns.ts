/**
 * Runs work a few at a time. Work that takes long leaves its turn to the next: what hangs must not keep the rest waiting.
 * @module
 */
import { Semaphore } from '../semaphore.ts';

/** How long a turn lasts. Most servers that answer at all have answered by then. */
const TURN_MS = 1000;

export class ShortTurns {
  readonly #turns: Semaphore;

  constructor(parallel: number) {
    this.#turns = new Semaphore(parallel);
  }

  /** Waits for a turn and works. The turn ends with the work, or when its time is over. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    let working: Promise<T> | undefined;
    await this.#turns.run(async () => {
      working = work();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, TURN_MS).unref();
      });
      const over = () => {};
      await Promise.race([late, working.then(over, over)]);
      clearTimeout(timer);
    });
    return working as Promise<T>;
  }
}

/**
 * Long work in small steps: a generator in, its end out, and everybody else gets the loop in between.
 * @module
 */
import { setImmediate as breath } from 'node:timers/promises';

/** Longer than this nobody keeps the loop to himself. */
const STRETCH_MS = 10;

/** Runs the steps, giving the loop up whenever they have had it for a while. Short work is done at once. */
export async function paced<T>(steps: Generator<unknown, T>): Promise<T> {
  let began = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - began < STRETCH_MS) continue;
    await breath();
    began = performance.now();
  }
}

/** Runs the steps in one go, for work that is known to be short. */
export function atOnce<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

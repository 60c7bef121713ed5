/**
 * Runs long work in small steps, yielding to the event loop in between.
 * @module
 */

import { setImmediate as breath } from 'node:timers/promises';
import { LIMITS } from '../core/limits.ts';

/** Runs the steps, yielding after each slice. Short work runs at once. */
export async function paced<T>(steps: Generator<unknown, T>): Promise<T> {
  let began = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - began < LIMITS.slice.catalogue) continue;
    await breath();
    began = performance.now();
  }
}

/** Runs the steps without yielding, for work that is known to be short. */
export function atOnce<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Work that a failing disk must not stop in, its result or undefined out. Why it failed is said, at most once a minute:
 * where one write fails, the next thousand do.
 * @module
 */
import { ageSince } from '../async/clock.ts';
import type { Logger } from './types.ts';

/** What the work gives; undefined, and the complaint in the log, where it fails. */
export type Attempt = <T>(work: () => Promise<T>, complaint: string) => Promise<T | undefined>;

const EVERY_MS = 60_000;

/** Tries works of one kind, whose complaints count as one. */
export function warnOnce({ logger, now }: { readonly logger: Logger; readonly now: () => number }): Attempt {
  let saidAt = Number.NEGATIVE_INFINITY;
  return async (work, complaint) => {
    try {
      return await work();
    } catch (error) {
      const at = now();
      // Either way: a clock that is put back must not silence this.
      if (ageSince(saidAt, at) >= EVERY_MS) {
        saidAt = at;
        const reason = error instanceof Error ? error.message : String(error);
        logger.warn({ code: 'STORAGE_ERROR', reason }, complaint);
      }
      return undefined;
    }
  };
}

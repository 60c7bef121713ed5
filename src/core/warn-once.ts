/**
 * Runs work; on an error warns at most once a minute and returns undefined. Repeated warnings are suppressed, because
 * after one failed write the next thousand fail too.
 * @module
 */

import { ageSince } from '../async/clock.ts';
import { LIMITS } from './limits.ts';
import type { Logger } from './types.ts';

/** Returns the result of the work; on failure, logs the complaint and returns undefined. */
export type Attempt = <T>(work: () => Promise<T>, complaint: string) => Promise<T | undefined>;

/** Creates a runner for work of one kind; all its failures share one warning per minute. */
export function warnOnce({ logger, now }: { readonly logger: Logger; readonly now: () => number }): Attempt {
  let saidAt = Number.NEGATIVE_INFINITY;
  return async (work, complaint) => {
    try {
      return await work();
    } catch (error) {
      const at = now();
      // `ageSince` is never negative, so a clock that was set back does not silence warnings.
      if (ageSince(saidAt, at) >= LIMITS.pace.warning) {
        saidAt = at;
        const reason = error instanceof Error ? error.message : String(error);
        logger.warn({ code: 'STORAGE_ERROR', reason }, complaint);
      }
      return undefined;
    }
  };
}

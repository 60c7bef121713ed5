/**
 * Work with a deadline: a signal goes in with the work, and neither timer nor listener is left behind.
 * (`AbortSignal.any` on a long-lived signal keeps a record per call for as long as that signal lives.)
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** Runs `work` with a signal that aborts with `overdue()` after `ms`, or with the parent's reason when that aborts first. */
export async function withTimeLimit<T>(
  ms: number,
  parent: AbortSignal | undefined,
  overdue: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent?.throwIfAborted();
  const controller = new AbortController();
  const onAbort = () => controller.abort(parent?.reason);
  const timer = setTimeout(() => controller.abort(overdue()), Math.min(ms, LIMITS.time.timer));
  parent?.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener('abort', onAbort);
  }
}

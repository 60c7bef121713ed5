/**
 * Work that may take only so long: the wait ends in time even where the work takes no notice of its signal.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** `unwatched`: nobody waits, so the process may end meanwhile. */
export interface TimeLimit {
  readonly ms: number;
  readonly parent?: AbortSignal | undefined;
  readonly overdue: () => Error;
  readonly unwatched?: boolean | undefined;
}

/** Runs `work`; rejects with `overdue()` after `ms`, or with the parent's reason when that aborts first. */
export async function limitTime<T>(
  { ms, parent, overdue, unwatched = false }: TimeLimit,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  parent?.throwIfAborted();
  const controller = new AbortController();
  let onAbort = (): void => {};
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_, reject) => {
    const stop = (reason: unknown): void => {
      reject(reason);
      controller.abort(reason);
    };
    onAbort = () => stop(parent?.reason);
    parent?.addEventListener('abort', onAbort, { once: true });
    if (Number.isFinite(ms)) timer = setTimeout(() => stop(overdue()), Math.min(ms, LIMITS.time.timer));
    if (unwatched) timer?.unref();
  });
  try {
    return await Promise.race([work(controller.signal), end]);
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener('abort', onAbort);
  }
}

/** Gives what `work` gives, but no later than the signal aborts; rejects with the signal's reason then. */
export async function untilAborted<T>(signal: AbortSignal, work: PromiseLike<T>): Promise<T> {
  let onAbort = (): void => {};
  const end = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Waits for a promise that never rejects, but not for long. */
export async function waitAtMost(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    promise,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.min(ms, LIMITS.time.timer));
    }),
  ]);
  clearTimeout(timer);
}

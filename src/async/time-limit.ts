/**
 * Runs work with a deadline. No timer or listener is left behind.
 * (`AbortSignal.any` on a long-lived signal keeps a record per call for as long as that signal lives.)
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { abortable } from './abortable.ts';

/** Starts a timer; none for an infinite time. */
const startTimer = (ms: number, onEnd: () => void): NodeJS.Timeout | undefined =>
  Number.isFinite(ms) ? setTimeout(onEnd, Math.min(ms, LIMITS.time.timer)) : undefined;

/** A deadline. `unwatched`: no caller waits, so the timer does not keep the process alive. */
interface TimeLimit {
  readonly ms: number;
  readonly parent?: AbortSignal | undefined;
  readonly overdue: () => Error;
  readonly unwatched?: boolean | undefined;
}

/**
 * Runs `work` with a signal that aborts with `overdue()` after `ms`, or with the parent's reason when that aborts first.
 * Settles when the work does: for work that obeys its signal.
 */
export async function withTimeLimit<T>(
  ms: number,
  parent: AbortSignal | undefined,
  overdue: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
  unwatched = false,
): Promise<T> {
  parent?.throwIfAborted();
  const controller = new AbortController();
  const onAbort = () => controller.abort(parent?.reason);
  const timer = startTimer(ms, () => controller.abort(overdue()));
  if (unwatched) timer?.unref();
  parent?.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener('abort', onAbort);
  }
}

/** Like `withTimeLimit`, but the wait ends in time even if the work ignores its signal. */
export function limitTime<T>(
  { ms, parent, overdue, unwatched }: TimeLimit,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const run = async (signal: AbortSignal): Promise<T> => abortable(Promise.resolve(work(signal)), signal);
  return withTimeLimit(ms, parent, overdue, run, unwatched);
}

/** Waits for a promise that never rejects, but at most `ms`. Resolves with whether it settled in time. */
export async function waitAtMost(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<boolean>((resolve) => {
    timer = startTimer(ms, () => resolve(false));
  });
  const settled = await Promise.race([promise.then(() => true), over]);
  clearTimeout(timer);
  return settled;
}

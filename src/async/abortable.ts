/**
 * Waiting that can be given up, for work that cannot.
 * @module
 */
import type { CallSignal } from './cancellation.ts';

/** Settles like `work`, or rejects with the signal's reason if that comes first. The work itself goes on. */
export function abortable<T>(work: Promise<T>, signal: CallSignal | undefined): Promise<T> {
  if (!signal) return work;
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

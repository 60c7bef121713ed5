/**
 * Stops waiting for work that cannot be cancelled.
 * @module
 */
import type { CallSignal } from './cancellation.ts';

/** Settles like `work`, or rejects with the signal's reason if that comes first. The work itself goes on. */
export function abortable<T>(work: PromiseLike<T>, signal: CallSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal?.reason);
    const end = () => signal?.removeEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort);
    work.then(
      (value) => {
        end();
        resolve(value);
      },
      (error) => {
        end();
        reject(error);
      },
    );
  });
}

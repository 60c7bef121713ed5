/**
 * Tells whether a server that failed may answer soon, so that a caller waits for the next attempt: 429, 503, a time-out or
 * a reset. Nobody waits for an address at which nobody listens, or for what only a person can mend.
 * @module
 */
import type { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

const NOBODY_THERE: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_INVALID_URL',
]);

/** Whether the next attempt is worth waiting for. */
export function worthWaiting(error: DiscoveryError): boolean {
  if (!error.toInfo().retryable) return false;
  let inner: unknown = error.cause;
  for (let depth = 0; depth < LIMITS.text.causes && inner instanceof Error; depth++) {
    if (NOBODY_THERE.has((inner as NodeJS.ErrnoException).code)) return false;
    // Several addresses of one name, tried one after the other.
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  }
  return true;
}

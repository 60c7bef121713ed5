/**
 * Tells whether a failed server may answer soon, so that a caller should wait for the next attempt: after any failure that
 * may pass. An address without a listener, or an error that only a person can fix, is not worth waiting for.
 * @module
 */
import type { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_INVALID_URL',
]);

/** Tells whether the next attempt is worth waiting for. */
export function worthWaiting(error: DiscoveryError): boolean {
  if (!error.toInfo().retryable) return false;
  let inner: unknown = error.cause;
  for (let depth = 0; depth < LIMITS.text.causes && inner instanceof Error; depth++) {
    if (UNREACHABLE.has((inner as NodeJS.ErrnoException).code)) return false;
    // An AggregateError holds one error per address of a host name.
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  }
  return true;
}

/**
 * Decides whether and when a failed attempt to reach a server is retried, and whether callers wait for that. One policy
 * for all readers of lists: searches, commands, probes and background refreshes.
 * @module
 */
import { type BackOff, pauseAfter } from '../async/back-off.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { messageOf, thrownAs } from '../text/thrown-message.ts';

/** How often, and after what pauses, a failed attempt is retried. */
export interface RetryPolicy extends BackOff {
  readonly attempts: number;
  /** Time budget of all attempts together. Skips an attempt that is expected to overrun, judging by the last one. */
  readonly withinMs: number;
}

/** The attempts so far; times in milliseconds. */
export interface Attempts {
  readonly made: number;
  readonly spentMs: number;
  readonly lastMs: number;
}

/** Milliseconds to wait before the next attempt; undefined if there is none. */
export function pauseBefore(
  failure: DiscoveryError,
  { made, spentMs, lastMs }: Attempts,
  { attempts, withinMs, ...backOff }: RetryPolicy,
  random: () => number = Math.random,
): number | undefined {
  const { code, retryable, retryAfterMs = 0 } = failure.toInfo();
  if (!retryable || made > attempts) return undefined;
  const own = pauseAfter(made, backOff, random);
  // The connection pool refused without asking the server, and knows when to try again.
  const held = code === 'SERVER_UNAVAILABLE' && retryAfterMs > 0;
  const pause = held ? retryAfterMs : Math.max(retryAfterMs, own);
  return spentMs + pause + lastMs <= withinMs ? pause : undefined;
}

/** Wraps what was thrown while a server was asked. */
export const toServerError = (thrown: unknown, server: string): DiscoveryError =>
  thrownAs(DiscoveryError, thrown) ??
  new DiscoveryError('SERVER_CONNECTION_ERROR', messageOf(thrown), { server, cause: thrown });

const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_INVALID_URL',
]);

/**
 * Tells whether a caller should wait for the next attempt: after any failure that may pass soon. An address without a
 * listener, or an error that only a person can fix, is not worth waiting for.
 */
export const worthWaiting = (error: DiscoveryError): boolean =>
  error.toInfo().retryable && !codesBehind(error).some((code) => UNREACHABLE.has(code));

/** Tells whether the server did not answer in time. */
export const isTimeout = (error: DiscoveryError): boolean => codesBehind(error).includes('ETIMEDOUT');

function codesBehind(error: DiscoveryError): unknown[] {
  const codes: unknown[] = [];
  let inner: unknown = error.cause;
  for (let depth = 0; depth < LIMITS.text.causes && inner instanceof Error; depth++) {
    codes.push((inner as NodeJS.ErrnoException).code);
    // An AggregateError holds one error per address of a host name.
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  }
  return codes;
}

/**
 * Decides whether and when a failed attempt to reach a server is made again. One policy for all who read lists: searches,
 * commands, probes and the background.
 * @module
 */
import { type BackOff, pauseAfter } from '../async/back-off.ts';
import { DiscoveryError } from '../core/errors.ts';
import { messageOf, thrownAs } from '../text/thrown-message.ts';

/** How often and after what pauses a failed attempt is repeated. */
export interface RetryPolicy extends BackOff {
  readonly attempts: number;
  /** The longest all attempts together may take: one that would end later, if it took as long as the last, is not made. */
  readonly withinMs: number;
}

/** What is known of the attempts so far, in milliseconds. */
export interface Attempts {
  readonly made: number;
  readonly spentMs: number;
  readonly lastMs: number;
}

/** Milliseconds to wait before the next attempt; undefined when none is made. */
export function pauseBefore(
  failure: DiscoveryError,
  { made, spentMs, lastMs }: Attempts,
  { attempts, withinMs, ...backOff }: RetryPolicy,
  random: () => number = Math.random,
): number | undefined {
  const { code, retryable, retryAfterMs = 0 } = failure.toInfo();
  if (!retryable || made > attempts) return undefined;
  const own = pauseAfter(made, backOff, random);
  // Nobody was asked: the connection pool knows when it will be possible again.
  const held = code === 'SERVER_UNAVAILABLE' && retryAfterMs > 0;
  const pause = held ? retryAfterMs : Math.max(retryAfterMs, own);
  return spentMs + pause + lastMs <= withinMs ? pause : undefined;
}

/** What was thrown while a server was asked, as an error of ours. */
export const toServerError = (thrown: unknown, server: string): DiscoveryError =>
  thrownAs(DiscoveryError, thrown) ??
  new DiscoveryError('SERVER_CONNECTION_ERROR', messageOf(thrown), { server, cause: thrown });

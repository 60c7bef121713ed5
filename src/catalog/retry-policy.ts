/**
 * Decides whether and when a failed attempt to reach a server is made again. One policy for all who read lists: searches,
 * commands, probes and the background.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';

/** How often and after what pauses a failed attempt is repeated. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly initial: number;
  readonly max: number;
  readonly factor: number;
  readonly jitter: number;
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
  { attempts, initial, max, factor, jitter, withinMs }: RetryPolicy,
  random: () => number = Math.random,
): number | undefined {
  const { code, retryable, retryAfterMs = 0 } = failure.toInfo();
  if (!retryable || made > attempts) return undefined;
  const own = Math.min(initial * factor ** (made - 1), max) * (1 + jitter * (2 * random() - 1));
  // Nobody was asked: the connection pool knows when it will be possible again.
  const held = code === 'SERVER_UNAVAILABLE' && retryAfterMs > 0;
  const pause = held ? retryAfterMs : Math.max(retryAfterMs, own);
  return spentMs + pause + lastMs <= withinMs ? pause : undefined;
}

/** Whatever was thrown while a server was asked, as an error of ours. */
export const toServerError = (error: unknown, server: string): DiscoveryError =>
  error instanceof DiscoveryError
    ? error
    : new DiscoveryError('SERVER_CONNECTION_ERROR', error instanceof Error ? error.message : String(error), {
        server,
        cause: error,
      });

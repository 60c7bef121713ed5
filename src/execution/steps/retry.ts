/**
 * Tries again where that is safe: the call provably never left, or the tool may be repeated. Waits longer each time,
 * listens to the server's own wish, and stays within the caller's deadline.
 * @module
 */
import type { ErrorInfo } from '../../errors.ts';
import type { ToolCall } from '../../types.ts';
import { abortFailure, pause } from '../abort.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Step } from '../pipeline.ts';
import { DEFAULT_CEILING_MS } from './timeout.ts';

/** How often and how patiently to try again. */
export interface RetryOptions {
  /** Attempts in all. Default 3. */
  readonly attempts?: number | undefined;
  /** The first wait in ms, doubled each time. Default 1 s. */
  readonly delay?: number | undefined;
  /** The longest wait of our own choosing, in ms. Default 30 s. */
  readonly maxDelay?: number | undefined;
  /** The longest wait a server may ask for, in ms. Default 60 s. */
  readonly maxRetryAfter?: number | undefined;
  /** Waits vary by this share, so that callers do not come back all at once. Default 0.1. */
  readonly jitter?: number | undefined;
  /** Time for all attempts of a call without a deadline of its own, in ms. Default 10 min. */
  readonly within?: number | undefined;
  /** Whether calling twice does no harm: the operator said so, or a trusted server hints so. */
  readonly isRepeatable?: ((call: ToolCall) => boolean) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** Repeats failed calls that are safe to repeat. */
export function retry(options: RetryOptions = {}): Step {
  const { attempts = 3, within = DEFAULT_CEILING_MS, isRepeatable, clock = systemClock } = options;
  return (next) => async (call) => {
    let result = await next(call);
    if (result.success || attempts <= 1) return result;
    const deadline = call.deadline ?? clock.now() + within;
    for (let attempt = 1; attempt < attempts && !result.success; attempt++) {
      if (!mayGoAway(result.error)) return result;
      if (result.error.outcome !== 'not_sent' && isRepeatable?.(call) !== true) return result;
      const wait = waitBefore(attempt, result.error.retryAfterMs, options);
      if (clock.now() + wait >= deadline) return result;
      const { outcome } = result.error;
      if (!(await pause(wait, call.signal, clock))) return abortFailure(call, outcome ?? 'unknown');
      result = await next(call);
    }
    return result;
  };
}

/** Our own refusals, and a server known to be away, are answered at once rather than waited for. */
const mayGoAway = (error: ErrorInfo): boolean =>
  error.retryable && error.code !== 'SERVER_BUSY' && error.code !== 'SERVER_UNAVAILABLE';

/** Milliseconds to wait before the next attempt. */
export function waitBefore(attempt: number, retryAfterMs: number | undefined, options: RetryOptions = {}): number {
  const { delay = 1_000, maxDelay = 30_000, maxRetryAfter = 60_000, jitter = 0.1, random = Math.random } = options;
  const own = Math.min(maxDelay, delay * 2 ** (attempt - 1)) * (1 + jitter * (2 * random() - 1));
  const wish =
    retryAfterMs !== undefined && retryAfterMs > 0 && retryAfterMs < Number.POSITIVE_INFINITY ? retryAfterMs : 0;
  return Math.max(own, Math.min(wish, maxRetryAfter));
}

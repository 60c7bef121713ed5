/**
 * Retries a failed call where that is safe: the call was certainly never sent, or the tool may be repeated. The delay
 * grows each time, respects the server's Retry-After, and stays within the caller's deadline.
 * @module
 */

import { pauseAfter } from '../../async/back-off.ts';
import { noteFlag, SENT_AGAIN } from '../../core/call-notes.ts';
import { DiscoveryError, type ErrorInfo, type Outcome } from '../../core/errors.ts';
import { DEFAULTS, LIMITS } from '../../core/limits.ts';
import { causeOf, type ToolResult, toFailure, UnheededError } from '../../core/result.ts';
import type { CallToolResult, ToolCall } from '../../core/types.ts';
import { abortFailure, pause } from '../abort.ts';
import type { Step } from '../pipeline.ts';
import { type Clock, systemClock } from '../timers.ts';

/** How often and with which delays to retry. */
export interface RetryOptions {
  /** How often a failed call is retried; 3 sends it up to four times. Default 3. */
  readonly attempts?: number | undefined;
  /** The first delay in ms. Default 1 s. */
  readonly delay?: number | undefined;
  /** The growth factor of the delay. Default 2. */
  readonly factor?: number | undefined;
  /** The longest delay of our own, in ms. Default 30 s. */
  readonly maxDelay?: number | undefined;
  /** Random share of each delay, so that callers do not all retry at once. Default 0.1. */
  readonly jitter?: number | undefined;
  /** Time for all attempts of a call without its own deadline, in ms. Default 10 min. */
  readonly within?: number | undefined;
  /** Tells whether calling twice does no harm: the operator said so, or a trusted server hints so. */
  readonly isRepeatable?: ((call: ToolCall) => boolean) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** Retries failed calls that are safe to retry. */
export function retry(options: RetryOptions = {}): Step {
  const { attempts = 3, within = DEFAULTS.limits.callCeiling, isRepeatable, clock = systemClock } = options;
  return (next) => async (call) => {
    let result = await next(call);
    if (result.success) return result;
    const repeatable = isRepeatable?.(call) === true;
    const deadline = call.deadline ?? clock.now() + within;
    let outcome = result.error.outcome;
    // If a server refuses everything, the call is sent once more, and never a third time.
    let isUnheeded = causeOf(result.error) instanceof UnheededError;
    for (let repetition = 1; repetition <= attempts && !result.success; repetition++) {
      if (!mayGoAway(result.error) || (outcome !== 'not_sent' && !repeatable && !isUnheeded)) break;
      const wait = waitBefore(repetition, result.error.retryAfterMs, options);
      if (clock.now() + wait >= deadline) break;
      if (!(await pause(wait, call.signal, clock))) return abortFailure(call, outcome ?? 'unknown');
      isUnheeded = false;
      if (outcome !== 'not_sent') noteFlag(call, SENT_AGAIN);
      result = await next(call);
      if (!result.success) outcome = outcomeOfBoth(outcome, result.error.outcome);
    }
    return asWhole(result, outcome, repeatable);
  };
}

/**
 * Combines the outcomes of two attempts. An earlier attempt that was sent may have taken effect, whatever the last says.
 */
const outcomeOfBoth = (earlier: Outcome | undefined, last: Outcome | undefined): Outcome | undefined =>
  earlier === 'not_sent' || earlier === last ? last : 'unknown';

/**
 * Returns the last failure with the outcome of the whole call. A call that may have taken effect and must not be
 * repeated is final.
 */
function asWhole(
  result: ToolResult<CallToolResult>,
  outcome: Outcome | undefined,
  repeatable: boolean,
): ToolResult<CallToolResult> {
  if (result.success) return result;
  const { error } = result;
  const retryable = error.retryable && (outcome !== 'unknown' || repeatable);
  if (outcome === error.outcome && retryable === error.retryable) return result;
  const details = { ...error, outcome, retryable, cause: causeOf(error) };
  return toFailure(new DiscoveryError(error.code, error.message, details));
}

/** Our own refusals, and a server known to be down, are reported at once instead of retried. */
const mayGoAway = (error: ErrorInfo): boolean =>
  error.retryable && error.code !== 'SERVER_BUSY' && error.code !== 'SERVER_UNAVAILABLE';

/** Returns the delay in milliseconds before the n-th retry. */
export function waitBefore(repetition: number, retryAfterMs: number | undefined, options: RetryOptions = {}): number {
  const { delay = DEFAULTS.retry.initial, factor = DEFAULTS.retry.factor, maxDelay = DEFAULTS.retry.max } = options;
  const { jitter = DEFAULTS.retry.jitter, random = Math.random } = options;
  const own = pauseAfter(repetition, { initial: delay, max: maxDelay, factor, jitter }, random);
  const wish =
    retryAfterMs !== undefined && retryAfterMs > 0 && retryAfterMs < Number.POSITIVE_INFINITY ? retryAfterMs : 0;
  return Math.max(own, Math.min(wish, LIMITS.time.retryAfter));
}

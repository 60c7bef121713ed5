/**
 * Tries again where that is safe: the call provably never left, or the tool may be repeated. Waits longer each time,
 * listens to the server's own wish, and stays within the caller's deadline.
 * @module
 */

import { DiscoveryError, type ErrorInfo, type Outcome } from '../../core/errors.ts';
import { DEFAULTS, LIMITS } from '../../core/limits.ts';
import { causeOf, type ToolResult, toFailure, UnheededError } from '../../core/result.ts';
import type { CallToolResult, ToolCall } from '../../core/types.ts';
import { abortFailure, pause } from '../abort.ts';
import type { Step } from '../pipeline.ts';
import { type Clock, systemClock } from '../timers.ts';

/** How often and how patiently to try again. */
export interface RetryOptions {
  /** How often a failed call is repeated, so that 3 sends it up to four times. Default 3. */
  readonly attempts?: number | undefined;
  /** The first wait in ms. Default 1 s. */
  readonly delay?: number | undefined;
  /** How the wait grows each time. Default 2. */
  readonly factor?: number | undefined;
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
  const { attempts = 3, within = DEFAULTS.limits.callCeiling, isRepeatable, clock = systemClock } = options;
  return (next) => async (call) => {
    let result = await next(call);
    if (result.success) return result;
    const repeatable = isRepeatable?.(call) === true;
    const deadline = call.deadline ?? clock.now() + within;
    let outcome = result.error.outcome;
    // A server that refuses everything gets the call once more, and never a third time.
    let isUnheeded = causeOf(result.error) instanceof UnheededError;
    for (let repetition = 1; repetition <= attempts && !result.success; repetition++) {
      if (!mayGoAway(result.error) || (outcome !== 'not_sent' && !repeatable && !isUnheeded)) break;
      const wait = waitBefore(repetition, result.error.retryAfterMs, options);
      if (clock.now() + wait >= deadline) break;
      if (!(await pause(wait, call.signal, clock))) return abortFailure(call, outcome ?? 'unknown');
      isUnheeded = false;
      result = await next(call);
      if (!result.success) outcome = outcomeOfBoth(outcome, result.error.outcome);
    }
    return asWhole(result, outcome, repeatable);
  };
}

/** What is known after one more attempt: an earlier one that left may have taken effect, whatever became of the last. */
const outcomeOfBoth = (earlier: Outcome | undefined, last: Outcome | undefined): Outcome | undefined =>
  earlier === 'not_sent' || earlier === last ? last : 'unknown';

/** The last failure, as what it means for the whole call. What may have happened and must not happen twice is final. */
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

/** Our own refusals, and a server known to be away, are answered at once rather than waited for. */
const mayGoAway = (error: ErrorInfo): boolean =>
  error.retryable && error.code !== 'SERVER_BUSY' && error.code !== 'SERVER_UNAVAILABLE';

/** Milliseconds to wait before the n-th repetition. */
export function waitBefore(repetition: number, retryAfterMs: number | undefined, options: RetryOptions = {}): number {
  const { delay = DEFAULTS.retry.initial, factor = DEFAULTS.retry.factor, maxDelay = DEFAULTS.retry.max } = options;
  const { maxRetryAfter = LIMITS.time.retryAfter, jitter = DEFAULTS.retry.jitter, random = Math.random } = options;
  const own = Math.min(maxDelay, delay * factor ** (repetition - 1)) * (1 + jitter * (2 * random() - 1));
  const wish =
    retryAfterMs !== undefined && retryAfterMs > 0 && retryAfterMs < Number.POSITIVE_INFINITY ? retryAfterMs : 0;
  return Math.max(own, Math.min(wish, maxRetryAfter));
}

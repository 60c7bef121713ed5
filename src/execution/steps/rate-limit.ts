/**
 * Keeps calls to a server within its configured rate. A call waits for its turn if that comes before its deadline;
 * otherwise it is refused with the time to wait.
 * @module
 */

import { DEFAULTS } from '../../core/limits.ts';
import { fail } from '../../core/result.ts';
import type { RateLimit, ToolCall } from '../../core/types.ts';
import { abortFailure, pause } from '../abort.ts';
import type { Step } from '../pipeline.ts';
import { type Clock, systemClock } from '../timers.ts';
import { TokenBucket } from '../token-bucket.ts';

/** Which servers are limited, and how. */
export interface RateLimitOptions {
  /** Returns a server's limit, if configured. */
  readonly limitOf: (server: string) => RateLimit | undefined;
  /** The longest wait of a call without its own deadline, in ms. Default 10 min. */
  readonly maxWait?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** One bucket per limited server; a changed limit starts a new bucket. */
export class RateBuckets {
  /** Returns a server's limit, by the newest settings. */
  limitOf: RateLimitOptions['limitOf'] = () => undefined;
  readonly #buckets = new Map<string, { readonly limit: RateLimit; readonly bucket: TokenBucket }>();

  of(server: string, now: number): TokenBucket | undefined {
    const limit = this.limitOf(server);
    if (limit === undefined) {
      this.forget(server);
      return undefined;
    }
    const known = this.#buckets.get(server);
    if (known?.limit.requestsPerSecond === limit.requestsPerSecond && known.limit.burst === limit.burst) {
      return known.bucket;
    }
    const bucket = new TokenBucket(limit, now);
    this.#buckets.set(server, { limit, bucket });
    return bucket;
  }

  forget(server: string): void {
    if (this.#buckets.size > 0) this.#buckets.delete(server);
  }
}

/**
 * Delays calls to the configured rate. If buckets are passed in, the newest limits apply to all executors that share
 * them.
 */
export function rateLimit(options: RateLimitOptions, buckets: RateBuckets = new RateBuckets()): Step {
  const { limitOf, maxWait = DEFAULTS.limits.callCeiling, clock = systemClock } = options;
  buckets.limitOf = limitOf;
  return (next) => {
    const inTurn = async (call: ToolCall, bucket: TokenBucket, now: number) => {
      const wait = bucket.take(now, call.deadline === undefined ? maxWait : call.deadline - now);
      if (wait === undefined) {
        const { server, tool } = call;
        const retryAfterMs = bucket.waitTime(now);
        return fail(
          'RATE_LIMITED',
          `"${server}" has reached its configured rate limit. The next call can be sent in ${retryAfterMs} ms, after this call's deadline.`,
          { server, tool, outcome: 'not_sent', retryAfterMs },
        );
      }
      if (wait > 0 && !(await pause(wait, call.signal, clock))) {
        bucket.giveBack();
        return abortFailure(call, 'not_sent');
      }
      return next(call);
    };
    return (call) => {
      const now = clock.now();
      const bucket = buckets.of(call.gate ?? call.server, now);
      return bucket === undefined ? next(call) : inTurn(call, bucket, now);
    };
  };
}

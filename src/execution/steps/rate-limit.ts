/**
 * Keeps calls to a server within its configured rate. A call waits its turn if that comes before its deadline, and is
 * refused with the time to wait otherwise.
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
  /** A server's limit, where it is configured. */
  readonly limitOf: (server: string) => RateLimit | undefined;
  /** The longest wait for a turn of a call without a deadline of its own, in ms. Default 10 min. */
  readonly maxWait?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** One bucket per limited server; a changed limit starts a new bucket. */
export class RateBuckets {
  /** A server's limit, by the newest settings. */
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

/** Makes calls wait their turn. With buckets handed in, the newest limits count for all who use them. */
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
          `"${server}" is limited by its configured rate. The next turn comes in ${retryAfterMs} ms, after this call's deadline.`,
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
      const bucket = buckets.of(call.server, now);
      return bucket === undefined ? next(call) : inTurn(call, bucket, now);
    };
  };
}

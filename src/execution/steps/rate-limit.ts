/**
 * Keeps calls to a server within its configured rate. A call waits for its turn if that comes before its deadline;
 * otherwise it is refused with the time to wait.
 * @module
 */

import { shareOf } from '../../core/fair-share.ts';
import { DEFAULTS, LIMITS } from '../../core/limits.ts';
import { ownedKey, serverIn } from '../../core/owned-key.ts';
import { fail, type ToolResult } from '../../core/result.ts';
import type { Caller, RateLimit, ToolCall } from '../../core/types.ts';
import { abortFailure, pause } from '../abort.ts';
import type { Step } from '../pipeline.ts';
import { type Clock, systemClock } from '../timers.ts';
import { TokenBucket } from '../token-bucket.ts';

/** Which servers and users are limited, and how. */
interface RateLimitOptions {
  /** Returns a server's limit, if configured. */
  readonly limitOf: (server: string) => ServerRate | undefined;
  /** Returns the limit of a user for all servers together, if configured. */
  readonly userLimitOf?: ((caller: Caller) => RateLimit | undefined) | undefined;
  /** The longest wait of a call without its own deadline, in ms. Default 10 min. */
  readonly maxWait?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Where turns are taken together with other replicas. Default: each process has the whole rate. */
  readonly shared?: (() => SharedRates | undefined) | undefined;
}

/** Rates that several replicas share. */
export interface SharedRates {
  /** How many replicas there are. */
  readonly replicas: number;
  /** Takes a turn if it comes within `maxWait` milliseconds. Undefined if the others cannot be asked. */
  take(
    name: string,
    limit: RateLimit,
    maxWait: number,
  ): Promise<{ readonly isTaken: boolean; readonly wait: number } | undefined>;
  giveBack(name: string, limit: RateLimit): void;
}

/** A rate that a call has to keep, and the name it is counted under. */
interface Rate {
  readonly name: string;
  readonly limit: RateLimit;
}

interface Turn {
  /** False: it would come too late, and nothing was taken. */
  readonly isTaken: boolean;
  readonly wait: number;
  giveBack(): void;
}

/** The rate limit of a server. */
export interface ServerRate extends RateLimit {
  /** Each user has its own credentials, so that each has the whole rate. */
  readonly perUser?: boolean | undefined;
}

/** One bucket per limited server, and one for each of its users; a changed limit starts a new bucket. */
export class RateBuckets {
  /** Return the limits, by the newest settings. */
  limitOf: RateLimitOptions['limitOf'] = () => undefined;
  userLimitOf: RateLimitOptions['userLimitOf'];
  readonly #buckets = new Map<string, { readonly limit: RateLimit; readonly bucket: TokenBucket }>();

  shared: RateLimitOptions['shared'];

  /**
   * The rates that a call takes a turn of, one after the other: the user's for all servers, the user's for this server,
   * and the server's. A user has at most three quarters of a server's rate, so that others find turns.
   */
  of({ server, gate = server, caller }: ToolCall): readonly Rate[] {
    const { principal } = caller;
    const limit = this.limitOf(gate);
    if (limit === undefined && this.#buckets.size > 0) this.#buckets.delete(gate);
    if (principal === undefined) return limit === undefined ? NONE : [{ name: gate, limit }];
    const own = this.userLimitOf?.(caller);
    return [
      ...(own === undefined ? [] : [{ name: ownedKey('', principal), limit: own }]),
      ...(limit === undefined
        ? []
        : [{ name: ownedKey(gate, principal), limit: limit.perUser ? limit : shareOf(limit) }]),
      ...(limit === undefined || limit.perUser ? [] : [{ name: gate, limit }]),
    ];
  }

  /** Takes a turn if it comes within `maxWait`: of all replicas together, or of this one's part if it is alone. */
  async take({ name, limit }: Rate, maxWait: number, clock: Clock): Promise<Turn> {
    const shared = this.shared?.();
    const turn = await shared?.take(name, limit, maxWait);
    if (shared && turn) return { ...turn, giveBack: () => shared.giveBack(name, limit) };
    const bucket = this.#bucket(name, shared ? partOf(limit, shared.replicas) : limit, clock.now());
    const wait = bucket.take(clock.now(), maxWait);
    return {
      isTaken: wait !== undefined,
      wait: wait ?? bucket.waitTime(clock.now()),
      giveBack: () => bucket.giveBack(),
    };
  }

  #bucket(key: string, limit: RateLimit, now: number): TokenBucket {
    const known = this.#buckets.get(key);
    if (known?.limit.requestsPerSecond === limit.requestsPerSecond && known.limit.burst === limit.burst)
      return known.bucket;
    if (this.#buckets.size >= LIMITS.cache.buckets) this.#buckets.delete(this.#buckets.keys().next().value as string);
    const bucket = new TokenBucket(limit, now);
    this.#buckets.set(key, { limit, bucket });
    return bucket;
  }

  /** Drops the buckets of a server and of its users. */
  reset(server: string): void {
    for (const key of this.#buckets.keys()) if (serverIn(key) === server) this.#buckets.delete(key);
  }
}

const NONE: readonly Rate[] = [];

const partOf = ({ requestsPerSecond, burst }: RateLimit, replicas: number): RateLimit => ({
  requestsPerSecond: requestsPerSecond / replicas,
  burst: burst / replicas,
});

/**
 * Delays calls to the configured rate. If buckets are passed in, the newest limits apply to all executors that share
 * them.
 */
export function rateLimit(options: RateLimitOptions, buckets: RateBuckets = new RateBuckets()): Step {
  const { limitOf, userLimitOf, maxWait = DEFAULTS.limits.callCeiling, clock = systemClock } = options;
  buckets.limitOf = limitOf;
  buckets.userLimitOf = userLimitOf;
  buckets.shared = options.shared;
  return (next) => {
    const inTurn = async (call: ToolCall, mine: readonly Rate[]) => {
      for (const rate of mine) {
        const turn = await buckets.take(
          rate,
          call.deadline === undefined ? maxWait : call.deadline - clock.now(),
          clock,
        );
        const isServers = rate === mine.at(-1) && limitOf(call.gate ?? call.server) !== undefined;
        if (!turn.isTaken) return tooLate(call, turn.wait, isServers);
        if (turn.wait > 0 && !(await pause(turn.wait, call.signal, clock))) {
          turn.giveBack();
          return abortFailure(call, 'not_sent');
        }
      }
      return next(call);
    };
    return (call) => {
      const mine = buckets.of(call);
      return mine.length === 0 ? next(call) : inTurn(call, mine);
    };
  };
}

function tooLate({ server, tool }: ToolCall, retryAfterMs: number, isServers: boolean): ToolResult<never> {
  const whose = isServers ? `"${server}" has reached its configured rate limit.` : 'You have reached your rate limit.';
  return fail('RATE_LIMITED', `${whose} The next call can be sent in ${retryAfterMs} ms, after this call's deadline.`, {
    server,
    tool,
    outcome: 'not_sent',
    retryAfterMs,
  });
}

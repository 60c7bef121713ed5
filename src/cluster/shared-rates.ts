/**
 * Takes turns at rates that all replicas share, by the clock of Redis. Each turn is reserved: later takers, on whatever
 * replica, get later turns.
 * @module
 */
import type { RateLimit } from '../core/types.ts';
import { RedisAway, type RedisLink } from './redis-link.ts';
import { RedisScript } from './redis-script.ts';

/** A turn at a rate, or how long the next one would be waited for. */
export interface SharedTurn {
  readonly isTaken: boolean;
  readonly wait: number;
}

/**
 * The generic cell rate algorithm. The value is the time, in microseconds, at which all turns taken so far are used up;
 * it may be ahead of the clock by `burst` turns without a wait.
 */
const TAKE = new RedisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local turn, burst, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local used = math.max(now, tonumber(redis.call('GET', KEYS[1])) or 0)
local wait = math.max(0, used + turn - burst * turn - now)
if wait > most then return {0, math.ceil(wait / 1000)} end
redis.call('SET', KEYS[1], string.format('%.0f', used + turn), 'PX', math.ceil((used + turn - now) / 1000) + 1)
return {1, math.ceil(wait / 1000)}`);

const GIVE_BACK = new RedisScript(`
local used = tonumber(redis.call('GET', KEYS[1]))
if used then redis.call('SET', KEYS[1], string.format('%.0f', used - ARGV[1]), 'KEEPTTL') end`);

export class SharedRates {
  readonly #link: RedisLink;
  readonly #keyOf: (name: string) => string;
  readonly #replicas: { readonly size: number };
  #alone = 0;

  constructor(link: RedisLink, keyOf: (name: string) => string, replicas: { readonly size: number }) {
    this.#link = link;
    this.#keyOf = keyOf;
    this.#replicas = replicas;
  }

  /** How many replicas share a rate. */
  get replicas(): number {
    return this.#replicas.size;
  }

  /** How many turns could not be taken here. */
  get alone(): number {
    return this.#alone;
  }

  /** Takes a turn that comes within `maxWait` milliseconds. Undefined when Redis does not answer. */
  async take(name: string, limit: RateLimit, maxWait: number): Promise<SharedTurn | undefined> {
    try {
      const [isTaken, wait] = await TAKE.run<[number, number]>(
        this.#link,
        this.#keyOf(name),
        microsecondsOf(limit),
        Math.max(1, limit.burst),
        Math.floor(maxWait * 1_000),
      );
      return { isTaken: isTaken === 1, wait };
    } catch (error) {
      if (!(error instanceof RedisAway)) throw error;
      this.#alone += 1;
      return undefined;
    }
  }

  /** Returns an unused turn. */
  giveBack(name: string, limit: RateLimit): void {
    GIVE_BACK.run(this.#link, this.#keyOf(name), microsecondsOf(limit)).catch(() => {});
  }
}

/** The time between two turns. */
const microsecondsOf = ({ requestsPerSecond }: RateLimit): number => Math.max(1, Math.round(1e6 / requestsPerSecond));

/**
 * Counts the replicas that are alive: each adds itself to a set once a second, and drops those that have stopped.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisScript } from './redis-script.ts';

const BEAT = new RedisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])`);

export class ReplicaCount {
  readonly #link: RedisLink;
  readonly #key: string;
  readonly #id: string;
  #timer: NodeJS.Timeout | undefined;
  #size = 1;

  constructor(link: RedisLink, key: string, id: string) {
    this.#link = link;
    this.#key = key;
    this.#id = id;
  }

  /** How many replicas there were when Redis last answered, this one included. */
  get size(): number {
    return this.#size;
  }

  open(): Promise<void> {
    this.#timer = setInterval(() => void this.#beat(), LIMITS.cluster.beat).unref();
    this.#link.onUp(() => void this.#beat());
    return this.#beat();
  }

  /** Leaves the set. Call it before the link closes. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#link.run('ZREM', this.#key, this.#id).catch(() => {});
  }

  async #beat(): Promise<void> {
    if (!this.#link.isUp) return;
    await BEAT.run<number>(this.#link, this.#key, this.#id, LIMITS.cluster.gone).then(
      (size) => {
        this.#size = Math.max(1, size);
      },
      () => {},
    );
  }
}

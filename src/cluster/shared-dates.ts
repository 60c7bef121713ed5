/**
 * Remembers in Redis when each of many things was last changed, so that one command tells what is new.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { hashOf } from './key-ring.ts';
import type { RedisLink } from './redis-link.ts';

export class SharedDates {
  readonly #link: RedisLink;
  readonly #key: string;

  constructor(link: RedisLink, key: string) {
    this.#link = link;
    this.#key = key;
  }

  /** @param at milliseconds by the clock of Redis */
  async add(name: string, at: number): Promise<void> {
    await this.#link.run('ZADD', this.#key, at, hashOf(name));
  }

  /** Tells which names were changed since then. Forgets those of more than a day ago. */
  async since(at: number): Promise<{ has(name: string): boolean }> {
    await this.#link.run('ZREMRANGEBYSCORE', this.#key, '-inf', this.#link.now() - LIMITS.age.list);
    const found = await this.#link.run<Buffer[]>('ZRANGEBYSCORE', this.#key, at, '+inf');
    const hashes = new Set(found.map(String));
    return { has: (name) => hashes.has(hashOf(name)) };
  }
}

/**
 * Runs a Lua script on one key: by its hash, and as a whole where Redis does not know it yet.
 * @module
 */
import { createHash } from 'node:crypto';
import { messageOf } from '../text/thrown-message.ts';
import type { RedisLink } from './redis-link.ts';

export class RedisScript {
  readonly #text: string;
  readonly #hash: string;

  constructor(text: string) {
    this.#text = text;
    this.#hash = createHash('sha1').update(text).digest('hex');
  }

  async run<T>(link: RedisLink, key: string, ...args: (string | number | Uint8Array)[]): Promise<T> {
    try {
      return await link.run<T>('EVALSHA', this.#hash, 1, key, ...args);
    } catch (error) {
      if (!messageOf(error).startsWith('NOSCRIPT')) throw error;
      return link.run<T>('EVAL', this.#text, 1, key, ...args);
    }
  }
}

/**
 * Gives one of several replicas a right for a while. It is renewed until it is released; the lease of a dead replica ends
 * by itself.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { LIMITS } from '../core/limits.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisScript } from './redis-script.ts';

const RENEW = new RedisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`);

const RELEASE = new RedisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`);

/** Bytes of the text that tells one holder from the next. */
const HOLDER_BYTES = 12;

export class RedisLease {
  readonly #link: RedisLink;
  readonly #key: string;
  readonly #holder: string;
  readonly #timer: NodeJS.Timeout;
  #heldUntil: number;

  private constructor(link: RedisLink, key: string, holder: string, from: number) {
    this.#link = link;
    this.#key = key;
    this.#holder = holder;
    this.#heldUntil = from + LIMITS.cluster.lease;
    this.#timer = setInterval(() => void this.#renew(), LIMITS.cluster.renewal).unref();
  }

  /** Undefined while another holder has it. Rejects with `RedisAway` if Redis does not answer. */
  static async take(link: RedisLink, key: string): Promise<RedisLease | undefined> {
    const holder = randomBytes(HOLDER_BYTES).toString('base64url');
    const from = link.now();
    const said = await link.run<Buffer | null>('SET', key, holder, 'NX', 'PX', LIMITS.cluster.lease);
    return said ? new RedisLease(link, key, holder, from) : undefined;
  }

  /** Whether nobody else can hold it now. */
  get isHeld(): boolean {
    return this.#link.now() < this.#heldUntil;
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    // A lease that cannot be released ends by itself.
    await RELEASE.run(this.#link, this.#key, this.#holder).catch(() => {});
  }

  async #renew(): Promise<void> {
    const from = this.#link.now();
    const isOurs = await RENEW.run<number>(this.#link, this.#key, this.#holder, LIMITS.cluster.lease).catch(() => -1);
    if (isOurs === 1) this.#heldUntil = from + LIMITS.cluster.lease;
    if (isOurs === 0) this.#heldUntil = 0;
  }
}

/**
 * Keeps values in Redis for all replicas: sealed for their key, each marked with the version of its format. Long values
 * are written in pieces, so that no command takes long.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { LIMITS } from '../core/limits.ts';
import type { SharedStore } from '../core/shared-store.ts';
import { hashOf, type KeyRing } from './key-ring.ts';
import type { RedisLink } from './redis-link.ts';

export interface SealedStoreOptions {
  /** The start of all keys. */
  readonly prefix: string;
  /** The version of the format. Values of another version do not exist for this replica. */
  readonly version: number;
}

/** The bytes before a value: the version, and how many pieces follow it elsewhere. */
const HEAD_BYTES = 2;
/** Tells the pieces of one writing from those of the next. */
const STAMP_BYTES = 9;

export class SealedStore implements SharedStore {
  readonly #link: RedisLink;
  readonly #keys: KeyRing;
  readonly #options: SealedStoreOptions;

  constructor(link: RedisLink, keys: KeyRing, options: SealedStoreOptions) {
    this.#link = link;
    this.#keys = keys;
    this.#options = options;
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    const key = this.#keyOf(name);
    const head = await this.#head(key);
    if (!head || head.count === 0) return head?.rest;
    const pieces: Buffer[] = [];
    for (const place of piecesOf(key, head)) {
      const piece = await this.#get(place);
      if (!piece) return undefined;
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  async write(name: string, bytes: Uint8Array, ttlMs?: number): Promise<void> {
    const key = this.#keyOf(name);
    const count = bytes.length > LIMITS.cluster.piece ? Math.ceil(bytes.length / LIMITS.cluster.piece) : 0;
    const rest = count === 0 ? bytes : randomBytes(STAMP_BYTES);
    for (const [at, place] of piecesOf(key, { count, rest }).entries()) {
      const start = at * LIMITS.cluster.piece;
      await this.#set(place, bytes.subarray(start, start + LIMITS.cluster.piece), ttlMs);
    }
    await this.#set(key, Buffer.concat([Buffer.of(this.#options.version, count), rest]), ttlMs);
  }

  async delete(name: string): Promise<void> {
    const key = this.#keyOf(name);
    const head = await this.#head(key);
    await this.#link.run('UNLINK', key);
    if (head) for (const place of piecesOf(key, head)) await this.#link.run('UNLINK', place);
  }

  async #head(key: string): Promise<Head | undefined> {
    const bytes = await this.#get(key);
    if (!bytes || bytes[0] !== this.#options.version) return undefined;
    return { count: bytes[1] ?? 0, rest: bytes.subarray(HEAD_BYTES) };
  }

  async #get(key: string): Promise<Buffer | undefined> {
    const sealed = await this.#link.run<Buffer | null>('GET', key);
    return sealed ? this.#keys.open(sealed, key) : undefined;
  }

  #set(key: string, bytes: Uint8Array, ttlMs: number | undefined): Promise<unknown> {
    const sealed = this.#keys.seal(bytes, key);
    return this.#link.run('SET', key, sealed, ...(ttlMs === undefined ? [] : ['PX', Math.ceil(ttlMs)]));
  }

  #keyOf(name: string): string {
    return `${this.#options.prefix}:${hashOf(name)}`;
  }
}

interface Head {
  readonly count: number;
  readonly rest: Uint8Array;
}

const piecesOf = (key: string, { count, rest }: Head): string[] =>
  Array.from({ length: count }, (_, at) => `${key}:${Buffer.from(rest).toString('base64url')}:${at}`);

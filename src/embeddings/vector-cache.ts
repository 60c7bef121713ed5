/**
 * Caches vectors on disk, one file per server and embedder. The cache may be deleted at any time: an unreadable file
 * counts as absent, and a failed write is reported, at most once a minute.
 * @module
 */

import { createHash } from 'node:crypto';
import { ageSince } from '../async/clock.ts';
import { Semaphore } from '../async/semaphore.ts';
import type { ByteStore } from '../catalog/catalog-store.ts';
import { LIMITS } from '../core/limits.ts';
import type { Logger } from '../core/types.ts';
import { type Attempt, warnOnce } from '../core/warn-once.ts';
import { decodeVectors, encodeVectors, type StoredVectors } from './vector-file.ts';

interface VectorCacheOptions {
  /** Absent: nothing is stored. */
  readonly store: ByteStore | undefined;
  readonly embedder: string;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Identifies a server's file: two projects may use one name for different servers. */
interface CachedServer {
  readonly name: string;
  readonly fingerprint: string;
}

export class VectorCache {
  readonly #options: VectorCacheOptions;
  readonly #embedder: string;
  readonly #turns = new Semaphore(LIMITS.atOnce.files);
  readonly #writes = new Set<Promise<unknown>>();
  readonly #attempt: Attempt;

  constructor(options: VectorCacheOptions) {
    this.#options = options;
    this.#attempt = warnOnce(options);
    // Hashed, because the id contains URLs and the key is readable in the file.
    this.#embedder = createHash('sha256').update(options.embedder).digest('hex').slice(0, 32);
  }

  async read(server: CachedServer): Promise<StoredVectors | undefined> {
    const { store, now } = this.#options;
    const stored = await this.#attempt(async () => {
      const bytes = await store?.read(this.#key(server));
      return bytes && decodeVectors(bytes);
    }, complaintOf('read'));
    if (stored && ageSince(stored.writtenAt, now()) > LIMITS.age.vectorFile) this.write(server, stored);
    return stored;
  }

  /** Writes in the background; `idle` waits for the end. */
  write(server: CachedServer, vectors: Omit<StoredVectors, 'writtenAt'>): void {
    const { store, now } = this.#options;
    if (!store) return;
    this.#behind(this.#inTurn(() => store.write(this.#key(server), encodeVectors({ ...vectors, writtenAt: now() }))));
  }

  async delete(server: CachedServer): Promise<void> {
    await this.#inTurn(async () => this.#options.store?.delete(this.#key(server)));
  }

  /** Resolves when everything is written. */
  async idle(): Promise<void> {
    await Promise.all(this.#writes);
  }

  #key({ name, fingerprint }: CachedServer): string {
    return `vectors:${this.#embedder}:${fingerprint}:${name}`;
  }

  #behind(work: Promise<unknown>): void {
    const tracked = work.finally(() => this.#writes.delete(tracked));
    this.#writes.add(tracked);
  }

  /** Changes start in order, a few at a time. */
  #inTurn<T>(change: () => Promise<T>): Promise<T | undefined> {
    return this.#turns.run(() => this.#attempt(change, complaintOf('written')));
  }
}

const complaintOf = (verb: string): string => `vectors could not be ${verb}; they are kept in memory`;

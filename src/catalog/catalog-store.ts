/**
 * Saves the catalogue on disk: one file per server's list, and one index per configuration. The cache is disposable:
 * what cannot be read counts as absent; a failed write is logged, at most once in a while, and dropped.
 * @module
 */
import { wallNow } from '../async/clock.ts';
import type { Logger } from '../core/types.ts';
import { type Attempt, warnOnce } from '../core/warn-once.ts';
import { type KeptFailure, readKept } from './failure-memory.ts';
import { decodeIndex, encodeIndex, type ReadyIndex } from './index-file.ts';
import type { Listing } from './listing.ts';
import { decodeListing, encodeListing, type ListingLines } from './listing-file.ts';
import { paced } from './paced.ts';

/** The port to the disk; `cache/file-store.ts` implements it. */
export interface ByteStore {
  read(key: string): Promise<Uint8Array | undefined>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  delete(key: string): Promise<void>;
}

interface CatalogStoreOptions {
  /** The owner of the index: the configuration file, so that each project has its own. */
  readonly owner: string;
  /** Identifies what the index depends on besides the lists: rules, configured tools, descriptions. */
  readonly stamp: string;
  readonly logger: Logger;
  readonly now?: (() => number) | undefined;
}

export class CatalogStore {
  readonly #store: ByteStore;
  readonly #options: CatalogStoreOptions;
  readonly #attempt: Attempt;

  constructor(store: ByteStore, options: CatalogStoreOptions) {
    this.#store = store;
    this.#options = options;
    this.#attempt = warnOnce({ logger: options.logger, now: options.now ?? wallNow });
  }

  /** The list last read from this server over this connection, with the digest of its tools. */
  readListing(server: string, fingerprint: string): Promise<{ listing: Listing; digest: string } | undefined> {
    return this.#attempt(async () => {
      const bytes = await this.#store.read(listingKey(server, fingerprint));
      return bytes && paced(decodeListing(bytes, server, fingerprint));
    }, complaintOf('read'));
  }

  /** Resolves with whether the write succeeded. */
  writeListing(listing: Listing, lines: ListingLines): Promise<boolean> {
    return this.#write(listingKey(listing.server, listing.fingerprint), () => paced(encodeListing(listing, lines)));
  }

  async deleteListing(server: string, fingerprint: string): Promise<void> {
    await this.#attempt(() => this.#store.delete(listingKey(server, fingerprint)), complaintOf('written'));
    await this.deleteFailure(server, fingerprint);
  }

  /** Why this server could not be listed last time, if that is recent. */
  readFailure(server: string, fingerprint: string): Promise<KeptFailure | undefined> {
    const { now = wallNow } = this.#options;
    return this.#attempt(async () => {
      const bytes = await this.#store.read(failureKey(server, fingerprint));
      return bytes && readKept(parse(bytes), now());
    }, complaintOf('read'));
  }

  /** Resolves with whether the write succeeded. */
  writeFailure(server: string, fingerprint: string, failure: KeptFailure): Promise<boolean> {
    return this.#write(failureKey(server, fingerprint), () => Buffer.from(JSON.stringify(failure)));
  }

  async deleteFailure(server: string, fingerprint: string): Promise<void> {
    await this.#attempt(() => this.#store.delete(failureKey(server, fingerprint)), complaintOf('written'));
  }

  /** The saved index; undefined if there is no usable one. */
  readIndex(): Promise<ReadyIndex | undefined> {
    return this.#attempt(async () => {
      const bytes = await this.#store.read(this.#indexKey);
      return bytes && decodeIndex(bytes, this.#options.stamp);
    }, complaintOf('read'));
  }

  /** Resolves with whether the write succeeded. */
  writeIndex(index: ReadyIndex): Promise<boolean> {
    return this.#write(this.#indexKey, () => encodeIndex(index, this.#options.stamp));
  }

  async #write(key: string, encode: () => Uint8Array | Promise<Uint8Array>): Promise<boolean> {
    const write = async () => {
      await this.#store.write(key, await encode());
      return true;
    };
    return (await this.#attempt(write, complaintOf('written'))) ?? false;
  }

  get #indexKey(): string {
    return `index:${this.#options.owner}`;
  }
}

const complaintOf = (verb: string): string => `the tool cache could not be ${verb}; answers come from memory`;

/** The key includes the fingerprint, because two projects may use one name for different servers. */
const failureKey = (server: string, fingerprint: string): string => `failed:${fingerprint}:${server}`;

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

const listingKey = (server: string, fingerprint: string): string => `server:${fingerprint}:${server}`;

/**
 * The catalogue on disk: one file per server's list, and one ready index per configuration. A cache can always be thrown
 * away: what cannot be read counts as absent, what cannot be written is said, not too often, and forgotten.
 * @module
 */
import type { Logger } from '../types.ts';
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

export interface CatalogStoreOptions {
  /** Whose index this is: the configuration file, so that two projects keep one each. */
  readonly owner: string;
  /** Names what the index depends on besides the lists: rules, configured tools, descriptions. */
  readonly stamp: string;
  readonly logger: Logger;
  readonly now?: (() => number) | undefined;
}

const WARN_EVERY_MS = 60_000;

export class CatalogStore {
  readonly #store: ByteStore;
  readonly #options: CatalogStoreOptions;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(store: ByteStore, options: CatalogStoreOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** The list last read from this server over this connection, with the digest of its tools. */
  readListing(server: string, fingerprint: string): Promise<{ listing: Listing; digest: string } | undefined> {
    return this.#attempt('read', async () => {
      const bytes = await this.#store.read(listingKey(server, fingerprint));
      return bytes && paced(decodeListing(bytes, server, fingerprint));
    });
  }

  async writeListing(listing: Listing, lines: ListingLines): Promise<void> {
    await this.#attempt('written', async () =>
      this.#store.write(listingKey(listing.server, listing.fingerprint), await paced(encodeListing(listing, lines))),
    );
  }

  async deleteListing(server: string, fingerprint: string): Promise<void> {
    await this.#attempt('written', () => this.#store.delete(listingKey(server, fingerprint)));
  }

  /** The ready index, or undefined when there is none that can be used. */
  readIndex(): Promise<ReadyIndex | undefined> {
    return this.#attempt('read', async () => {
      const bytes = await this.#store.read(this.#indexKey);
      return bytes && decodeIndex(bytes, this.#options.stamp);
    });
  }

  async writeIndex(index: ReadyIndex): Promise<void> {
    await this.#attempt('written', () => this.#store.write(this.#indexKey, encodeIndex(index, this.#options.stamp)));
  }

  get #indexKey(): string {
    return `index:${this.#options.owner}`;
  }

  async #attempt<T>(verb: 'read' | 'written', work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const { logger, now = Date.now } = this.#options;
      if (now() - this.#warnedAt >= WARN_EVERY_MS) {
        this.#warnedAt = now();
        const reason = error instanceof Error ? error.message : String(error);
        logger.warn({ code: 'STORAGE_ERROR', reason }, `the tool cache could not be ${verb}; answers come from memory`);
      }
      return undefined;
    }
  }
}

/** Two projects may call different servers by one name; each keeps its list. */
const listingKey = (server: string, fingerprint: string): string => `server:${fingerprint}:${server}`;

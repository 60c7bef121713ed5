/**
 * The catalogue on disk: one file per server's list, and one ready index per configuration.
 * @module
 */
import type { Logger } from '../types.ts';
import type { Listing } from './listing.ts';

/** The port to the disk; `cache/file-store.ts` implements it. */
export interface ByteStore {
  read(key: string): Promise<Uint8Array | undefined>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  delete(key: string): Promise<void>;
}

/** One server's line in the ready index. */
export interface IndexEntry {
  readonly name: string;
  readonly fingerprint: string;
  readonly fetchedAt: number;
  readonly toolCount: number;
  readonly enabledCount: number;
  readonly title?: string | undefined;
  readonly instructions?: string | undefined;
  readonly verdict?: Listing['verdict'];
  readonly skipped?: number | undefined;
  readonly incomplete?: string | undefined;
}

const VERSION = 1;
const ALIGNMENT = 8;

export class CatalogStore {
  readonly #store: ByteStore;
  readonly #indexKey: string;
  readonly #logger: Logger;

  /** `stamp` names what the index depends on besides the lists: the rules and the search settings. */
  constructor(store: ByteStore, stamp: string, logger: Logger) {
    this.#store = store;
    this.#indexKey = `index:${stamp}`;
    this.#logger = logger;
  }

  async readListing(server: string): Promise<Listing | undefined> {
    const bytes = await this.#read(`server:${server}`);
    if (!bytes) return undefined;
    const data = parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
    return isListing(data, server) ? data.listing : undefined;
  }

  writeListing(listing: Listing): Promise<void> {
    return this.#attempt(() =>
      this.#store.write(`server:${listing.server}`, Buffer.from(JSON.stringify({ version: VERSION, listing }))),
    );
  }

  deleteListing(server: string): Promise<void> {
    return this.#attempt(() => this.#store.delete(`server:${server}`));
  }

  /** The ready index with its lines, or undefined when there is none that can be used. */
  async readIndex(): Promise<{ readonly entries: readonly IndexEntry[]; readonly snapshot: Uint8Array } | undefined> {
    const bytes = await this.#read(this.#indexKey);
    if (!bytes || bytes.byteLength < ALIGNMENT) return undefined;
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const start = aligned(4 + length);
    if (start > bytes.byteLength) return undefined;
    const head = parse(Buffer.from(bytes.buffer, bytes.byteOffset + 4, length).toString('utf8'));
    if (!isRecord(head) || head.version !== VERSION || !Array.isArray(head.entries)) return undefined;
    // Copied: the index is read through typed arrays, which want their bytes aligned.
    return { entries: head.entries as IndexEntry[], snapshot: new Uint8Array(bytes.subarray(start)) };
  }

  writeIndex(entries: readonly IndexEntry[], snapshot: Uint8Array): Promise<void> {
    const head = Buffer.from(JSON.stringify({ version: VERSION, entries }));
    const start = aligned(4 + head.length);
    const bytes = new Uint8Array(start + snapshot.byteLength);
    new DataView(bytes.buffer).setUint32(0, head.length, true);
    bytes.set(head, 4);
    bytes.set(snapshot, start);
    return this.#attempt(() => this.#store.write(this.#indexKey, bytes));
  }

  // A cache can always be thrown away: what cannot be read counts as absent, what cannot be written is said and forgotten.
  async #read(key: string): Promise<Uint8Array | undefined> {
    try {
      return await this.#store.read(key);
    } catch (error) {
      this.#logger.warn({ err: String(error) }, 'the tool cache could not be read');
      return undefined;
    }
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#logger.warn({ err: String(error) }, 'the tool cache could not be written; answers come from memory');
    }
  }
}

const aligned = (offset: number): number => Math.ceil(offset / ALIGNMENT) * ALIGNMENT;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isListing(data: unknown, server: string): data is { readonly listing: Listing } {
  if (!isRecord(data) || data.version !== VERSION || !isRecord(data.listing)) return false;
  const { server: name, fingerprint, fetchedAt, tools, skipped } = data.listing;
  if (name !== server || typeof fingerprint !== 'string' || typeof fetchedAt !== 'number') return false;
  return (
    Array.isArray(skipped) &&
    Array.isArray(tools) &&
    tools.every((tool) => isRecord(tool) && typeof tool.name === 'string' && isRecord(tool.inputSchema))
  );
}

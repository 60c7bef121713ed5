/**
 * Caches values in memory until they expire. Limited in number: the least recently used is dropped first. Counts hits
 * and misses.
 * @module
 */
import { elapsedNow } from '../async/clock.ts';

/** Limit and clock of a cache. */
interface TtlCacheOptions {
  readonly maxEntries: number;
  /** Milliseconds; only differences count. */
  readonly now?: (() => number) | undefined;
}

/** A map whose entries expire. */
export class TtlCache<V> {
  readonly #maxEntries: number;
  readonly #now: () => number;
  /** In order of use, oldest first. */
  readonly #entries = new Map<string, { readonly value: V; readonly expires: number }>();
  #hits = 0;
  #misses = 0;

  constructor(options: TtlCacheOptions) {
    this.#maxEntries = options.maxEntries;
    this.#now = options.now ?? elapsedNow;
  }

  get hits(): number {
    return this.#hits;
  }

  get misses(): number {
    return this.#misses;
  }

  /** Returns the value, if present and not expired. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    if (entry === undefined || entry.expires <= this.#now()) {
      this.#misses += 1;
      return undefined;
    }
    this.#entries.set(key, entry);
    this.#hits += 1;
    return entry.value;
  }

  /** Stores a value for this many milliseconds; without a number, until it is evicted. */
  set(key: string, value: V, ttlMs = Number.POSITIVE_INFINITY): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expires: this.#now() + ttlMs });
    if (this.#entries.size <= this.#maxEntries) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  /**
   * Returns when the entry expires, in the clock's milliseconds; undefined when there is none. Does not count as use.
   */
  expiresAt(key: string): number | undefined {
    return this.#entries.get(key)?.expires;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Deletes every entry whose value matches. */
  deleteWhere(fits: (value: V) => boolean): void {
    for (const [key, { value }] of this.#entries) if (fits(value)) this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}

/**
 * Stores values in memory, for `cache.enabled: false` and for tests.
 * @module
 */
import type { Store } from './store.ts';

/** Keeps copies of the bytes until the process ends. */
export class MemoryStore implements Store {
  readonly #values = new Map<string, Uint8Array>();

  async read(key: string): Promise<Uint8Array | undefined> {
    return this.#values.get(key)?.slice();
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    this.#values.set(key, bytes.slice());
  }

  async delete(key: string): Promise<void> {
    this.#values.delete(key);
  }

  async clear(): Promise<void> {
    this.#values.clear();
  }

  async keys(): Promise<string[]> {
    return [...this.#values.keys()].sort();
  }

  async setAside(key: string): Promise<void> {
    this.#values.delete(key);
  }
}

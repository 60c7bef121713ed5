/**
 * Caches the vectors of recent queries. Each is requested once, however many searches ask for it.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

export class QueryVectors {
  readonly #ask: (query: string) => Promise<Float32Array>;
  /** The least recently used first. */
  readonly #known = new Map<string, Promise<Float32Array>>();

  constructor(ask: (query: string) => Promise<Float32Array>) {
    this.#ask = ask;
  }

  /** Rejects with the reason; the next call tries again. */
  get(query: string): Promise<Float32Array> {
    const known = this.#known.get(query);
    this.#known.delete(query);
    const vector = known ?? this.#asked(query);
    this.#known.set(query, vector);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= LIMITS.embeddings.queries) break;
      this.#known.delete(oldest);
    }
    return vector;
  }

  has(query: string): boolean {
    return this.#known.has(query);
  }

  clear(): void {
    this.#known.clear();
  }

  #asked(query: string): Promise<Float32Array> {
    const vector = this.#ask(query);
    vector.catch(() => {
      if (this.#known.get(query) === vector) this.#known.delete(query);
    });
    return vector;
  }
}

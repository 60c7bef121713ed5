/**
 * Tells attached servers, and whoever else wants to know, that `tools/list` has another answer now.
 * @module
 */

/** What changed: the visible tools, or only such as are listed where all are shown. */
export type ListChange = 'visible' | 'hidden';

/** A server to be told. Held weakly: over HTTP there may be one for each request. */
export interface ListedServer {
  readonly showsAll: boolean;
  tell(): void;
}

/** See the module. Changes of one moment are told once. */
export class ListChanges {
  readonly #listeners = new Set<(change: ListChange) => void>();
  #servers: WeakRef<ListedServer>[] = [];
  #swept = 16;
  #pending: ListChange | undefined;
  #count = 0;

  /** How often something changed. */
  get count(): number {
    return this.#count;
  }

  /** The server must be kept by somebody else. */
  add(server: ListedServer): void {
    this.#servers.push(new WeakRef(server));
    if (this.#servers.length < this.#swept) return;
    this.#servers = this.#servers.filter((reference) => reference.deref() !== undefined);
    this.#swept = Math.max(16, 2 * this.#servers.length);
  }

  listen(listener: (change: ListChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  announce(change: ListChange | undefined): void {
    if (change === undefined) return;
    this.#count++;
    if (this.#pending === undefined) queueMicrotask(() => this.#tell());
    if (this.#pending !== 'visible') this.#pending = change;
  }

  #tell(): void {
    const change = this.#pending;
    this.#pending = undefined;
    if (change === undefined) return;
    for (const reference of this.#servers) {
      const server = reference.deref();
      if (server !== undefined && (change === 'visible' || server.showsAll)) server.tell();
    }
    for (const listener of this.#listeners) listener(change);
  }
}

/**
 * Tells attached servers, and whoever else wants to know, that `tools/list` has another answer now.
 * @module
 */
import { messageOf } from '../../text/thrown-message.ts';

/** What changed: the visible tools, or only such as are listed where all are shown. */
export type ListChange = 'visible' | 'hidden';

/** A server to be told. Held weakly: over HTTP there may be one for each request. */
export interface ListedServer {
  readonly showsAll: boolean;
  tell(): void;
}

/** Gets what a listener threw. */
export type ListenerFailed = (thrown: unknown) => void;

/** See the module. Changes of one moment are told once. */
export class ListChanges {
  readonly #listeners = new Set<(change: ListChange) => void>();
  #servers: WeakRef<ListedServer>[] = [];
  #swept = 16;
  #pending: ListChange | undefined;
  #count = 0;
  readonly #failed: ListenerFailed;

  constructor(failed: ListenerFailed = warn) {
    this.#failed = failed;
  }

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
      if (server !== undefined && (change === 'visible' || server.showsAll)) this.#safely(() => server.tell());
    }
    for (const listener of this.#listeners) this.#safely(() => listener(change));
  }

  /** Nobody is there to catch what is thrown here, and the others are to be told all the same. */
  #safely(tell: () => unknown): void {
    try {
      const told = tell();
      if (told instanceof Promise) told.catch(this.#failed);
    } catch (thrown) {
      this.#failed(thrown);
    }
  }
}

/** To be seen where the program's warnings are, without ending it. */
const warn: ListenerFailed = (thrown) =>
  process.emitWarning(`A listener for changed tools failed: ${messageOf(thrown)}`, 'DiscoveryWarning');

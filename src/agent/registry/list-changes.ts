/**
 * Notifies attached servers and listeners that `tools/list` has changed.
 * @module
 */
import { messageOf } from '../../text/thrown-message.ts';

/** What changed: the visible tools, or only tools that are listed where all are shown. */
export type ListChange = 'visible' | 'hidden';

/** A server to notify. Held weakly: over HTTP there may be one per request. */
export interface ListedServer {
  readonly showsAll: boolean;
  tell(): void;
}

/** Receives what a listener threw. */
type ListenerFailed = (thrown: unknown) => void;

/** Notifies servers and listeners, once per burst of changes. */
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

  /** Number of changes. */
  get count(): number {
    return this.#count;
  }

  /** Adds a server. The caller must keep a reference to it. */
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

  /** Catches errors, so that one listener does not affect the others. */
  #safely(tell: () => unknown): void {
    try {
      const told = tell();
      if (told instanceof Promise) told.catch(this.#failed);
    } catch (thrown) {
      this.#failed(thrown);
    }
  }
}

/** Emits a process warning: visible, but not fatal. */
const warn: ListenerFailed = (thrown) =>
  process.emitWarning(`A listener for changed tools failed: ${messageOf(thrown)}`, 'DiscoveryWarning');

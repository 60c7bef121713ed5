/**
 * Tells other replicas which lists a server has announced as changed. A local server runs once on each replica, so the
 * others hear nothing of what it says there.
 * @module
 */
import type { Cluster } from '../cluster/cluster.ts';
import { LIMITS } from '../core/limits.ts';

/** Which list of which server. */
export interface ListChange {
  readonly server: string;
  /** The notification of the server. */
  readonly method: string;
  /** The user whose connection announced it; undefined where all callers share it. */
  readonly owner: string | undefined;
}

export class SharedChanges {
  readonly #cluster: () => Cluster | undefined;
  readonly #gathering = new Set<string>();

  constructor(cluster: () => Cluster | undefined) {
    this.#cluster = cluster;
  }

  /** Calls back for what other replicas tell. Call it once. */
  follow(listener: (change: ListChange) => void): void {
    this.#cluster()?.bus.on('list-changed', ({ message }) => listener(message as unknown as ListChange));
  }

  /** Tells all other replicas, once for a burst of announcements. */
  tell({ server, method, owner }: ListChange): void {
    const cluster = this.#cluster();
    const key = JSON.stringify([server, method, owner]);
    if (!cluster || this.#gathering.has(key)) return;
    this.#gathering.add(key);
    const send = () => {
      this.#gathering.delete(key);
      // While Redis is away, clients notice a change when they list again.
      cluster.bus.broadcast({ kind: 'list-changed', server, method, owner }).catch(() => {});
    };
    setTimeout(send, LIMITS.pace.gatheredChanges).unref();
  }
}

/**
 * Makes one gateway a replica among others: opens Redis, and has the parts that share something over it.
 * @module
 */
import { setTimeout as after } from 'node:timers/promises';
import { elapsedNow } from '../async/clock.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Logger } from '../core/types.ts';
import { ClusterApprovals } from './cluster-approvals.ts';
import { ClusterLogins } from './cluster-logins.ts';
import { ClusterTokens } from './cluster-tokens.ts';
import { hashOf, KeyRing } from './key-ring.ts';
import { RedisLease } from './redis-lease.ts';
import { RedisLink } from './redis-link.ts';
import { ReplicaBus } from './replica-bus.ts';
import { ReplicaCount } from './replica-count.ts';
import { RequestRelay } from './request-relay.ts';
import { SealedStore } from './sealed-store.ts';
import { SharedDates } from './shared-dates.ts';
import { SharedRates } from './shared-rates.ts';

export interface ClusterOptions {
  readonly redis: string;
  /** The secret of all replicas, or several separated by commas. */
  readonly key: string;
  readonly prefix: string;
  readonly logger: Logger;
}

export class Cluster {
  readonly link: RedisLink;
  readonly keys: KeyRing;
  readonly bus: ReplicaBus;
  /** Results that are read on page by page. */
  readonly pages: SealedStore;
  readonly rates: SharedRates;
  /** Lists of servers. */
  readonly lists: SealedStore;
  /** When each of them was read. */
  readonly listDates: SharedDates;
  readonly logins: ClusterLogins;
  readonly approvals: ClusterApprovals;
  /** Tokens that let clients in. */
  readonly tokens: ClusterTokens;
  /** When a reload was asked for. */
  readonly reloads: SharedDates;
  readonly #replicas: ReplicaCount;
  readonly relay: RequestRelay;
  readonly #prefix: string;

  private constructor(link: RedisLink, keys: KeyRing, prefix: string) {
    this.link = link;
    this.keys = keys;
    this.bus = new ReplicaBus(link, keys, prefix);
    this.relay = new RequestRelay(this.bus, () => link.now());
    this.#prefix = prefix;
    // Raised when results are cut in another way: pages of both versions do not fit together.
    this.pages = this.store('page', 1);
    this.lists = this.store('list', 1);
    this.listDates = new SharedDates(link, this.keyOf('dates', 'list'));
    this.reloads = new SharedDates(link, this.keyOf('dates', 'reload'));
    this.logins = new ClusterLogins({
      store: this.store('login', 1),
      bus: this.bus,
      locked: (name, waitMs, work) => this.#locked('login', name, waitMs, work),
    });
    this.approvals = new ClusterApprovals({
      store: this.store('approval', 1),
      bus: this.bus,
      link,
      locked: (name, waitMs, work) => this.#locked('approval', name, waitMs, work),
    });
    this.tokens = new ClusterTokens({
      store: this.store('token', 1),
      bus: this.bus,
      link,
      locked: (name, waitMs, work) => this.#locked('token', name, waitMs, work),
    });
    this.#replicas = new ReplicaCount(link, this.keyOf('replicas', 'alive'), this.id);
    this.rates = new SharedRates(link, (name) => this.keyOf('rate', hashOf(name)), this.#replicas);
  }

  static async open({ redis, key, prefix, logger }: ClusterOptions): Promise<Cluster> {
    const keys = new KeyRing(key);
    const cluster = new Cluster(await RedisLink.open({ url: redis, logger }), keys, prefix);
    await cluster.bus.open();
    await cluster.#replicas.open();
    return cluster;
  }

  /** The id of this replica. */
  get id(): string {
    return this.bus.id;
  }

  /** How many replicas there were when Redis last answered. */
  get size(): number {
    return this.#replicas.size;
  }

  /** The key of Redis for one thing of a kind. */
  keyOf(kind: string, name: string): string {
    return `${this.#prefix}:${kind}:${name}`;
  }

  /** The values of a kind. `version` is that of their format. */
  store(kind: string, version: number): SealedStore {
    return new SealedStore(this.link, this.keys, { prefix: `${this.#prefix}:${kind}`, version });
  }

  /** Undefined while another replica has the lease. Rejects with `RedisAway` if Redis does not answer. */
  lease(kind: string, name: string): Promise<RedisLease | undefined> {
    return RedisLease.take(this.link, this.keyOf(`${kind}-lease`, hashOf(name)));
  }

  /** Runs work under a lease, for which it waits at most so long. */
  async #locked<T>(kind: string, name: string, waitMs: number, work: () => Promise<T>): Promise<T> {
    const until = elapsedNow() + waitMs;
    for (;;) {
      const lease = await this.lease(kind, name);
      if (lease) return work().finally(() => lease.release());
      if (elapsedNow() >= until)
        throw new DiscoveryError('STORAGE_ERROR', `Another replica has been busy with this ${kind} for too long.`, {
          outcome: 'not_sent',
          retryable: true,
        });
      await after(LIMITS.cluster.turn);
    }
  }

  async close(): Promise<void> {
    await this.relay.end();
    // Sent before the connection ends.
    void this.#replicas.close();
    this.link.close();
  }
}

/**
 * Makes one gateway a replica among others: opens Redis, and has the parts that share something over it.
 * @module
 */
import type { Logger } from '../core/types.ts';
import { KeyRing } from './key-ring.ts';
import { RedisLink } from './redis-link.ts';
import { ReplicaBus } from './replica-bus.ts';

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
  readonly #prefix: string;

  private constructor(link: RedisLink, keys: KeyRing, prefix: string) {
    this.link = link;
    this.keys = keys;
    this.bus = new ReplicaBus(link, keys, prefix);
    this.#prefix = prefix;
  }

  static async open({ redis, key, prefix, logger }: ClusterOptions): Promise<Cluster> {
    const keys = new KeyRing(key);
    const cluster = new Cluster(await RedisLink.open({ url: redis, logger }), keys, prefix);
    await cluster.bus.open();
    return cluster;
  }

  /** The id of this replica. */
  get id(): string {
    return this.bus.id;
  }

  /** The key of Redis for one thing of a kind. */
  keyOf(kind: string, name: string): string {
    return `${this.#prefix}:${kind}:${name}`;
  }

  close(): void {
    this.link.close();
  }
}

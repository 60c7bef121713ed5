/**
 * Opens what an engine shares with other replicas, if its configuration or environment names Redis.
 * @module
 */
import type { Cluster } from '../cluster/cluster.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { ConfigurationError } from '../core/errors.ts';
import type { Logger } from '../core/types.ts';

interface ClusterWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** Expands references, and keeps their values out of all texts. */
  readonly expand: (text: string, where: string) => string;
  readonly keepSecret: (value: string) => void;
}

export class EngineCluster {
  readonly #world: ClusterWorld;
  #open: { readonly settings: string; readonly cluster: Promise<Cluster> } | undefined;
  #current: Cluster | undefined;

  constructor(world: ClusterWorld) {
    this.#world = world;
  }

  /** The open cluster; undefined for a gateway that stands alone. */
  get current(): Cluster | undefined {
    return this.#current;
  }

  /** Joins the cluster of the first configuration that names one. Another one takes effect with the next start. */
  async configure({ cluster }: ResolvedConfig): Promise<Cluster | undefined> {
    const { env, expand, logger } = this.#world;
    const redis = cluster?.redis ?? env.ANYGPT_REDIS_URL;
    const settings = JSON.stringify([redis, cluster?.key, cluster?.prefix]);
    if (this.#open) {
      if (this.#open.settings !== settings)
        logger.warn({}, 'A change of "cluster" takes effect when the gateway is started again.');
      return this.#open.cluster;
    }
    if (!redis) return undefined;
    const key = cluster?.key ? expand(cluster.key, 'cluster.key') : env.ANYGPT_CLUSTER_KEY;
    if (!key)
      throw new ConfigurationError(
        'A cluster needs a key: set ANYGPT_CLUSTER_KEY, or cluster.key, to the same secret on all replicas, for example the output of "openssl rand -base64 32".',
      );
    const url = expand(redis, 'cluster.redis');
    for (const secret of [key, ...key.split(','), url]) this.#world.keepSecret(secret);
    const opening = import('../cluster/cluster.ts').then((module) =>
      module.Cluster.open({ redis: url, key, prefix: cluster?.prefix ?? 'anygpt', logger }),
    );
    this.#open = { settings, cluster: opening };
    try {
      this.#current = await opening;
    } catch (error) {
      this.#open = undefined;
      throw error;
    }
    return this.#current;
  }

  async close(): Promise<void> {
    await this.#current?.close();
  }
}

/**
 * Keeps the static tokens of all replicas in Redis, as one value, and announces each change.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { SharedStore } from '../core/shared-store.ts';
import type { RedisLink } from './redis-link.ts';
import type { ReplicaBus } from './replica-bus.ts';

export interface ClusterTokensOptions {
  readonly store: SharedStore;
  readonly bus: ReplicaBus;
  readonly link: RedisLink;
  /** Runs work that no other replica does under this name at the same time. */
  readonly locked: <T>(name: string, waitMs: number, work: () => Promise<T>) => Promise<T>;
}

const NAME = 'all';

export class ClusterTokens {
  readonly #options: ClusterTokensOptions;

  constructor(options: ClusterTokensOptions) {
    this.#options = options;
  }

  read(): Promise<Uint8Array | undefined> {
    return this.#options.store.read(NAME);
  }

  async change(edit: (bytes: Uint8Array | undefined) => Promise<Uint8Array | undefined>): Promise<void> {
    const { store, bus, locked } = this.#options;
    await locked(NAME, LIMITS.time.lock, async () => {
      const bytes = await edit(await store.read(NAME));
      if (!bytes) return;
      await store.write(NAME, bytes);
      // Replicas that miss it look again soon.
      await bus.broadcast({ kind: 'tokens' }).catch(() => {});
    });
  }

  /** Calls back when another replica has changed tokens, and after each outage. */
  onChange(listener: () => void): () => void {
    const { bus, link } = this.#options;
    bus.on('tokens', listener);
    return link.onUp(listener);
  }
}

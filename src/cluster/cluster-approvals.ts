/**
 * Keeps approvals in Redis for all replicas, and announces each change.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { SharedStore } from '../core/shared-store.ts';
import type { RedisLink } from './redis-link.ts';
import type { ReplicaBus } from './replica-bus.ts';

export interface ClusterApprovalsOptions {
  readonly store: SharedStore;
  readonly bus: ReplicaBus;
  readonly link: RedisLink;
  /** Runs work that no other replica does under this name at the same time. */
  readonly locked: <T>(name: string, waitMs: number, work: () => Promise<T>) => Promise<T>;
}

export class ClusterApprovals {
  readonly #options: ClusterApprovalsOptions;
  readonly #known = new Map<string, Uint8Array>();
  #isMissed = false;

  constructor(options: ClusterApprovalsOptions) {
    this.#options = options;
  }

  get isAway(): boolean {
    return !this.#options.link.isUp;
  }

  /** Reads what was decided. What was read before stays known while Redis does not answer. */
  async hear(identities: Iterable<string>): Promise<void> {
    const hearOne = async (identity: string) => {
      const [bytes, known] = [await this.#options.store.read(identity), this.#known.get(identity)];
      // Redis has lost it. A replica that starts now must not take changed tools for new ones.
      if (!bytes && known) await this.change(identity, async (now) => (now ? undefined : known));
      this.#keep(identity, bytes);
    };
    await Promise.allSettled([...identities].map(hearOne));
  }

  /** What was read last. */
  known(identity: string): Uint8Array | undefined {
    return this.#known.get(identity);
  }

  async change(
    identity: string,
    edit: (bytes: Uint8Array | undefined) => Promise<Uint8Array | undefined>,
  ): Promise<void> {
    const { store, bus, locked } = this.#options;
    await locked(identity, LIMITS.time.lock, async () => {
      const before = await store.read(identity);
      this.#keep(identity, before);
      const bytes = await edit(before);
      if (!bytes) return;
      await store.write(identity, bytes);
      this.#keep(identity, bytes);
      // Replicas that miss it look when Redis is back.
      await bus.broadcast({ kind: 'approvals' }).catch(() => {});
    }).catch((error: unknown) => {
      this.#isMissed = true;
      throw error;
    });
  }

  /** What was lost in Redis is still known here. */
  #keep(identity: string, bytes: Uint8Array | undefined): void {
    if (bytes) this.#known.set(identity, bytes);
  }

  /**
   * Calls back when another replica has changed approvals, and after each outage. `isMissed`: a change of this replica could
   * not be made meanwhile.
   */
  onChange(listener: (isMissed: boolean) => void): void {
    const { bus, link } = this.#options;
    bus.on('approvals', () => listener(false));
    link.onUp(() => {
      const isMissed = this.#isMissed;
      this.#isMissed = false;
      listener(isMissed);
    });
  }
}

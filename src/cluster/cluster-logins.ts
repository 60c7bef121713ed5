/**
 * Keeps logins in Redis for all replicas, and lets one of them renew a login at a time.
 * @module
 */
import type { SharedStore } from '../core/shared-store.ts';
import { hashOf } from './key-ring.ts';
import { RedisAway, type RedisLink } from './redis-link.ts';
import type { ReplicaBus } from './replica-bus.ts';

export interface ClusterLoginsOptions {
  readonly store: SharedStore;
  readonly bus: ReplicaBus;
  /** Runs work that no other replica does under this name at the same time. */
  readonly locked: <T>(name: string, waitMs: number, work: () => Promise<T>) => Promise<T>;
}

export class ClusterLogins {
  readonly #options: ClusterLoginsOptions;
  /** Renewed tokens that Redis has not taken yet. The ones it has may serve no longer. */
  readonly #unsaved = new Map<string, Uint8Array>();

  constructor(options: ClusterLoginsOptions) {
    this.#options = options;
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    return this.#unsaved.get(name) ?? this.#options.store.read(name);
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await this.#options.store.write(name, bytes);
    this.#unsaved.delete(name);
    await this.#announce(name);
  }

  async replace(name: string, bytes: Uint8Array): Promise<void> {
    this.#unsaved.set(name, bytes);
    await this.write(name, bytes).catch((error) => {
      if (!(error instanceof RedisAway)) throw error;
    });
  }

  async remove(name: string): Promise<void> {
    await this.#options.store.delete(name);
    this.#unsaved.delete(name);
    await this.#announce(name);
  }

  async signature(name: string): Promise<string | undefined> {
    const bytes = await this.read(name);
    return bytes && hashOf(Buffer.from(bytes).toString('latin1'));
  }

  locked<T>(name: string, waitMs: number, work: () => Promise<T>): Promise<T> {
    return this.#options.locked(name, waitMs, work);
  }

  async where(): Promise<'cluster'> {
    return 'cluster';
  }

  /** Saves what Redis could not take. */
  async #save(): Promise<void> {
    for (const [name, bytes] of this.#unsaved) await this.write(name, bytes).catch(() => {});
  }

  /** Calls back with the name of each login that another replica has changed; undefined: any may have changed. */
  onChange(link: RedisLink, listener: (name?: string) => void): void {
    this.#options.bus.on('login', ({ message }) => listener(String(message.name)));
    link.onUp(() => void this.#save().then(() => listener()));
  }

  async #announce(name: string): Promise<void> {
    // Replicas that miss it look when Redis is back.
    await this.#options.bus.broadcast({ kind: 'login', name }).catch(() => {});
  }
}

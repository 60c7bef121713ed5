/**
 * Shares the lists of servers among replicas: one of them asks a server, the others take what it has read. Lists of
 * servers with credentials per user are kept apart by user.
 *
 * While Redis is away, each replica asks for itself; what it reads meanwhile is shared when Redis is back.
 * @module
 */
import { waitAtMost } from '../async/time-limit.ts';
import type { Listing } from '../catalog/listing.ts';
import { decodeListing, encodeListing, toLines } from '../catalog/listing-file.ts';
import { paced } from '../catalog/paced.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { RedisLease } from '../cluster/redis-lease.ts';
import { DiscoveryError, type ErrorInfo } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

/** Whose list of which server. */
export interface ListKey {
  readonly server: string;
  readonly fingerprint: string;
  /** The user whose credentials it was read with; undefined where all callers share it. */
  readonly owner: string | undefined;
}

export interface SharedListsOptions {
  readonly cluster: () => Cluster | undefined;
  /** Milliseconds since 1970, by the clock that dates lists. */
  readonly now: () => number;
  /** The lists that are in use here, with when each was read. */
  readonly inUse: () => Iterable<ListKey & { readonly fetchedAt: number }>;
  /** Takes a list that another replica has read. */
  readonly take: (listing: Listing, owner: string | undefined) => Promise<void>;
}

interface Shared {
  readonly listing: Listing;
  /** When the reading began, by the clock of Redis. */
  readonly readAt: number;
}

/** A list that this replica has had. */
interface Had {
  /** Of all lists of one name, the one that was read last has the highest. */
  readonly readAt: number;
  /** When this replica got it, by its own clock. */
  readonly since: number;
}

/** Bytes of a number before the list. */
const DATE_BYTES = 8;

export class SharedLists {
  readonly #options: SharedListsOptions;
  /** Lists that are waited for, by name. */
  readonly #waiting = new Map<string, Set<(failure?: DiscoveryError) => void>>();
  /** What was read while Redis was away, by name. */
  readonly #unsent = new Map<string, Shared & Pick<ListKey, 'owner'>>();
  /** The lists that this replica has read or taken, by name. */
  readonly #had = new Map<string, Had>();
  /** Lists up to then, by the clock of Redis, have been taken. */
  #takenUntil = 0;

  constructor(options: SharedListsOptions) {
    this.#options = options;
  }

  /** Follows what other replicas read. Call it once. */
  follow(): void {
    const cluster = this.#options.cluster();
    if (!cluster) return;
    cluster.bus.on('list', ({ message }) => {
      const { failure, ...key } = message as unknown as Announcement;
      const error = failure && new DiscoveryError(failure.code, failure.message, failure);
      const waiters = this.#waiting.get(nameOf(key));
      for (const settle of waiters ?? []) settle(error);
      if (!waiters && !failure) void this.#takeOver(cluster, key);
    });
    cluster.link.onUp(() => void this.#catchUp(cluster));
  }

  /** Returns a list that a replica read after `since`; one replica asks the server for it, with `ask`. */
  async read(key: ListKey, since: number, ask: () => Promise<Listing>): Promise<Listing> {
    const cluster = this.#options.cluster();
    if (!cluster) return ask();
    const name = nameOf(key);
    for (;;) {
      const news = this.#expect(name);
      try {
        const known = await this.#since(cluster, key, since);
        if (known) return known;
        const lease = await cluster.lease('list', name).catch(() => 'away' as const);
        if (lease) return await this.#ask(cluster, key, since, ask, lease === 'away' ? undefined : lease);
        // Another replica is asking: it announces what it has read, or its lease ends.
        await news.wait();
      } finally {
        news.stop();
      }
    }
  }

  async #ask(
    cluster: Cluster,
    key: ListKey,
    since: number,
    ask: () => Promise<Listing>,
    lease: RedisLease | undefined,
  ): Promise<Listing> {
    try {
      // Read between the look and the lease.
      const shared = lease && (await this.#fetch(cluster, key));
      if (shared && this.#isSince(key, shared, since)) return shared.listing;
      // The clocks of two replicas differ by more than the time between two readings can be.
      const readAt = Math.max(cluster.link.now(), (shared?.readAt ?? 0) + 1);
      const listing = await ask();
      this.#have(nameOf(key), readAt);
      await this.#send(cluster, { listing, readAt, owner: key.owner });
      return listing;
    } catch (error) {
      if (lease && error instanceof DiscoveryError) void announce(cluster, { ...key, failure: error.toInfo() });
      throw error;
    } finally {
      await lease?.release();
    }
  }

  async #since(cluster: Cluster, key: ListKey, since: number): Promise<Listing | undefined> {
    const shared = await this.#fetch(cluster, key);
    return shared && this.#isSince(key, shared, since) ? shared.listing : undefined;
  }

  /** Whether a list was read after `since`. If so, it is had from now on. */
  #isSince(key: ListKey, { listing, readAt }: Shared, since: number): boolean {
    const name = nameOf(key);
    const had = this.#had.get(name);
    // Whatever the clocks of replicas say, a list that was here before has been read before.
    const isOld = had !== undefined && had.readAt >= readAt && had.since < since;
    if (isOld || listing.fetchedAt < since) return false;
    this.#have(name, readAt);
    return true;
  }

  #have(name: string, readAt: number): void {
    this.#had.delete(name);
    this.#had.set(name, { readAt, since: this.#options.now() });
    // Another replica has read it since.
    if ((this.#unsent.get(name)?.readAt ?? readAt) < readAt) this.#unsent.delete(name);
    const [oldest] = this.#had.keys();
    if (this.#had.size > LIMITS.cluster.dates && oldest !== undefined) this.#had.delete(oldest);
  }

  /** The list that was read last, dated by the clock of this process. */
  async #fetch(cluster: Cluster, key: ListKey): Promise<Shared | undefined> {
    const bytes = await cluster.lists.read(nameOf(key)).catch(() => undefined);
    if (!bytes) return undefined;
    const readAt = Buffer.from(bytes.buffer, bytes.byteOffset, DATE_BYTES).readDoubleBE();
    const found = await paced(decodeListing(bytes.subarray(DATE_BYTES), key.server, key.fingerprint));
    // Rather a little too old: a list that was read just before a change must not pass for one read after it.
    const fetchedAt = readAt - LIMITS.cluster.skew - cluster.link.now() + this.#options.now();
    return found && { listing: { ...found.listing, fetchedAt }, readAt };
  }

  async #send(cluster: Cluster, { listing, readAt, owner }: Shared & Pick<ListKey, 'owner'>): Promise<void> {
    const { server, fingerprint, incomplete, isCut } = listing;
    // Each replica decides for itself what an incomplete list is worth.
    if (incomplete && !isCut) return;
    const key = { server, fingerprint, owner };
    const name = nameOf(key);
    try {
      const date = Buffer.alloc(DATE_BYTES);
      date.writeDoubleBE(readAt);
      const lines = await paced(toLines(listing));
      const bytes = await paced(encodeListing(listing, lines));
      await cluster.lists.write(name, Buffer.concat([date, bytes]), LIMITS.age.list);
      await cluster.listDates.add(name, readAt);
      await announce(cluster, key);
      this.#unsent.delete(name);
    } catch {
      if (this.#unsent.size >= LIMITS.cluster.unsent) this.#unsent.delete([...this.#unsent.keys()][0] ?? '');
      this.#unsent.set(name, { listing, readAt, owner });
    }
  }

  /** Hears that another replica has read a list. `wait` rejects with the failure of that replica. */
  #expect(name: string): { wait(): Promise<void>; stop(): void } {
    const all = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, all);
    let settle: (failure?: DiscoveryError) => void = () => {};
    const announced = new Promise<DiscoveryError | undefined>((resolve) => {
      settle = resolve;
    });
    all.add(settle);
    return {
      wait: async () => {
        const failure = (await waitAtMost(announced, LIMITS.cluster.look)) ? await announced : undefined;
        if (failure) throw failure;
      },
      stop: () => {
        all.delete(settle);
        if (all.size === 0) this.#waiting.delete(name);
      },
    };
  }

  /** Takes a list that another replica has read, if it is newer than the one in use. */
  async #takeOver(cluster: Cluster, key: ListKey): Promise<void> {
    const name = nameOf(key);
    const inUse = [...this.#options.inUse()].find((one) => nameOf(one) === name);
    const shared = inUse && (await this.#fetch(cluster, key));
    if (!shared) return;
    const had = this.#had.get(name);
    // A list from disk, or one that was forgotten here, has no date of Redis.
    const isNewer = had === undefined ? shared.listing.fetchedAt > inUse.fetchedAt : shared.readAt > had.readAt;
    if (!isNewer && inUse.fetchedAt > 0) return;
    this.#have(name, shared.readAt);
    await this.#options.take(shared.listing, key.owner);
  }

  /** After an outage, and at the start: messages may have been missed. */
  async #catchUp(cluster: Cluster): Promise<void> {
    const until = cluster.link.now();
    const since = Math.max(this.#takenUntil, until - LIMITS.age.list);
    const names = await cluster.listDates.since(since).catch(() => undefined);
    if (!names) return;
    this.#takenUntil = until - LIMITS.cluster.look;
    for (const key of this.#options.inUse()) if (names.has(nameOf(key))) await this.#takeOver(cluster, key);
    for (const unsent of [...this.#unsent.values()]) await this.#send(cluster, unsent);
  }
}

interface Announcement extends ListKey {
  /** Why the list could not be read, for those that wait for it. */
  readonly failure?: ErrorInfo | undefined;
}

const announce = (cluster: Cluster, { server, fingerprint, owner, failure }: Announcement): Promise<unknown> =>
  cluster.bus.broadcast({ kind: 'list', server, fingerprint, owner, failure }).catch(() => {});

const nameOf = ({ server, fingerprint, owner }: ListKey): string =>
  JSON.stringify([server, fingerprint, owner ?? null]);

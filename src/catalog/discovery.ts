/**
 * Keeps the catalogue fresh: reads first lists on first need, stale ones in the background after an answer, and changed
 * ones when a server says so. A failing server keeps its last good list and affects no other.
 * @module
 */

import { ageSince } from '../async/clock.ts';
import { Semaphore } from '../async/semaphore.ts';
import { waitAtMost } from '../async/time-limit.ts';
import { type DiscoveryError, ServerConnectionError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import { transportParts } from '../core/transport-parts.ts';
import type { Caller, Logger } from '../core/types.ts';
import type { Catalog } from './catalog.ts';
import { ChangePace } from './change-pace.ts';
import { toKept } from './failure-memory.ts';
import { type Attempt, ListKeeper, type Reading } from './list-keeper.ts';
import type { Listing } from './listing.ts';
import {
  type Attempts,
  isTimeout,
  pauseBefore,
  type RetryPolicy,
  toServerError,
  worthWaiting,
} from './retry-policy.ts';

export interface DiscoveryOptions {
  readonly catalog: Catalog;
  /** Enabled servers by name. */
  readonly servers: ReadonlyMap<string, { readonly definition: SourceDefinition; readonly fingerprint: string }>;
  /**
   * Connects and reads one server's list, or takes one that was read elsewhere after `since` (milliseconds since 1970).
   * A list that needs no waiting is returned at once.
   */
  readonly list: (
    definition: SourceDefinition,
    caller: Caller | undefined,
    since: number,
  ) => Listing | Promise<Listing>;
  readonly ttlMs: number;
  readonly parallel: number;
  readonly logger: Logger;
  /** Milliseconds since 1970: lists are dated and saved between runs. */
  readonly now: () => number;
  /** Milliseconds that never run backwards, for everything else. Default: `now`. */
  readonly elapsed?: (() => number) | undefined;
  readonly random?: (() => number) | undefined;
  readonly retry: RetryPolicy;
  /** Set to false to read nothing in the background. Default true. */
  readonly background?: boolean | undefined;
  /** Failures of an earlier process, by server. Callers do not wait for these servers. */
  readonly failures?: ReadonlyMap<string, DiscoveryError> | undefined;
  /**
   * Another discovery of the same servers, for another catalogue: its lists are used, so that a server is asked once
   * for all. Default: lists of its own.
   */
  readonly lists?: Discovery | undefined;
  /** Whether failures are saved for the next process. Default true. */
  readonly remembers?: boolean | undefined;
  /** Called after a list was replaced, if an agent can see a change. */
  readonly onChange?: (server: string) => void;
}

const BEHIND_PARALLEL = 2;

/** The list of one server while its connection stays the same. On reload, the next discovery takes it over. */
interface ServerList {
  readonly keeper: ListKeeper<DiscoveryError, Caller | undefined>;
  /** The discoveries that store the list: the current one, and replaced ones that are still waiting for it. */
  readonly takers: Set<Discovery>;
  /** Ends the pause between two attempts. */
  endPause: () => void;
  /** When the server last did not answer in time. */
  timedOutAt: number;
  /** No list that was read before this date will do: the server has announced a change since, or a person has asked. */
  changedAt: number;
  /** Callers that wait for one such attempt at most. */
  readonly impatient: Set<() => void>;
  /** Decides when to follow an announced change. Undefined until the server announces its first one. */
  pace?: ChangePace;
}

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #lists = new Map<string, ServerList>();
  /** Servers whose failure is saved for the next process. */
  readonly #kept: Set<string>;
  readonly #elapsed: () => number;
  readonly #turns: Semaphore;
  /** Announced changes that are not followed yet. */
  readonly #changes = new Map<string, NodeJS.Timeout>();
  /** Running background refreshes. */
  #sweeps = 0;
  #stopped = false;
  #successor: Discovery | undefined;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? options.now;
    this.#turns = new Semaphore(options.parallel);
    this.#kept = new Set(options.failures?.keys());
    // Whatever is read from now on comes here too.
    if (options.lists) for (const server of options.servers.keys()) this.#list(server);
  }

  /** Why the last attempt to list a server failed, until one succeeds. */
  failure(server: string): DiscoveryError | undefined {
    const list = this.#lists.get(server);
    return list ? list.keeper.failure : this.#options.failures?.get(server);
  }

  isRunning(server: string): boolean {
    return this.#lists.get(server)?.keeper.reading !== undefined;
  }

  /** True if a list is so old that it must be shown as stale. */
  isStale(server: string): boolean {
    return this.#isOlderThan(server, LIMITS.age.list);
  }

  /** True if a list is older than `cache.ttl`, or known to be out of date. A configured list does not age. */
  isOld(server: string): boolean {
    return this.#lists.get(server)?.keeper.isOld ?? this.#isOlderThan(server);
  }

  /** True if a tool that had changed in the list may be as it was again: the list is some seconds old. */
  isWorthASecondLook(server: string): boolean {
    return this.#isOlderThan(server, LIMITS.pace.secondLook);
  }

  /** Resolves when no list is being read. */
  async idle(): Promise<void> {
    for (;;) {
      const readings = [...this.#lists.values()].flatMap(({ keeper }) => keeper.reading?.done ?? []);
      if (readings.length === 0) return;
      await Promise.all(readings);
    }
  }

  /** Servers that have not been listed yet. */
  unseen(): string[] {
    return [...this.#options.servers.keys()].filter((server) => !this.#options.catalog.isSeen(server));
  }

  /** Reads one server's list, shared by all callers. Resolves with whether it succeeded; never rejects. */
  refresh(server: string, caller?: Caller): Promise<boolean> {
    return this.#start(server, caller).done;
  }

  /** Reads a list synchronously if its source allows that. Otherwise starts or joins a reading, and returns its promise. */
  readNow(server: string): Promise<boolean> | undefined {
    const { keeper } = this.#list(server);
    const source = this.#options.servers.get(server);
    const listing = keeper.reading || !source ? undefined : this.#options.list(source.definition, undefined, 0);
    // `refresh` reports the failure, perhaps later; the rejection must be handled until then.
    if (listing instanceof Promise) listing.catch(() => {});
    if (listing === undefined || listing instanceof Promise) return this.refresh(server);
    this.#logSkipped(listing);
    for (const { catalog, onChange } of [...this.#list(server).takers].map((taker) => taker.#options))
      if (catalog.putNow(listing)) onChange?.(server);
    keeper.replaced();
    return undefined;
  }

  /** Takes a list that was read elsewhere. */
  async taken(listing: Listing): Promise<void> {
    const { takers, keeper } = this.#list(listing.server);
    let taken = false;
    for (const taker of takers.add(this)) taken = await taker.#take(listing);
    if (taken) keeper.replaced();
  }

  /**
   * Reads a list, or joins a running reading, and waits for all attempts that are worth waiting for. If the reading
   * continues in the background, its next attempt is made now and waited for. Resolves with the failure; never rejects.
   */
  async listed(server: string, caller?: Caller): Promise<DiscoveryError | undefined> {
    const reading = this.#start(server, caller);
    if (reading.isAnswered) {
      reading.expectNext();
      this.#list(server).endPause();
    }
    await reading.answered;
    return this.failure(server);
  }

  /**
   * Like `listed`, for a call: waits no longer than the server may take to connect, and for one attempt that times out,
   * not for the next. Right after a timeout it is told again without another attempt.
   */
  async listedInTime(server: string, caller?: Caller): Promise<DiscoveryError | undefined> {
    const list = this.#list(server);
    const known = this.failure(server);
    if (known && this.#elapsed() - list.timedOutAt < LIMITS.pace.secondLook) return known;
    const ms = this.#connectMsOf(server);
    let isOver = () => {};
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    list.impatient.add(isOver);
    const inTime = await waitAtMost(Promise.race([this.listed(server, caller), over]), ms);
    list.impatient.delete(isOver);
    if (inTime) return this.failure(server);
    return (
      this.failure(server) ??
      new ServerConnectionError(server, `${server} did not list its tools within ${ms / 1000} s.`)
    );
  }

  #connectMsOf(server: string): number {
    const source = this.#options.servers.get(server)?.definition;
    if (source === undefined || isProvider(source)) return Number.POSITIVE_INFINITY;
    return source.timeouts.connect ?? transportParts(source.connection.type).connectMs;
  }

  /**
   * Waits for first lists, for each at most `withinMs` since its start: a hanging server delays only the first search.
   * A server that failed before is asked again in the background. A list that is missing at the timeout is read on in
   * the background. It is saved as a failure until it arrives, because this process may end first.
   */
  async firstLists(servers: readonly string[], withinMs: number, caller?: Caller): Promise<void> {
    const now = this.#elapsed();
    const first = async (server: string): Promise<void> => {
      const known = this.#lists.get(server)?.keeper.reading?.isRepeat ?? this.failure(server) !== undefined;
      if (known && this.#options.background === false) return;
      const { answered, startedAt } = this.#start(server, caller);
      const patienceMs = withinMs - (now - startedAt);
      if (known || patienceMs <= 0 || (await waitAtMost(answered, patienceMs))) return;
      const late = `${server} did not list its tools within ${withinMs / 1000} s.`;
      this.#keep(server, this.failure(server) ?? new ServerConnectionError(server, late));
    };
    await Promise.all(servers.map(first));
  }

  /** The pause before retrying a failed attempt, for other readers of lists. */
  pauseBefore(failure: DiscoveryError, attempts: Attempts): number | undefined {
    const { retry, random } = this.#options;
    return pauseBefore(failure, attempts, retry, random);
  }

  /** Refreshes stale lists in the background after an answer: first those it showed, then the rest, two at a time. */
  refreshBehind(shown: Iterable<string>, caller?: Caller): void {
    if (this.#options.background === false) return;
    for (const server of new Set(shown)) if (this.isDue(server)) void this.refresh(server, caller);
    if (this.#sweeps > 0) return;
    // All sweeps share the iterator, so each server is checked once.
    const servers = this.#options.servers.keys();
    const sweep = async (): Promise<void> => {
      this.#sweeps++;
      for (const server of servers) if (this.isDue(server)) await this.refresh(server, caller);
      this.#sweeps--;
    };
    for (let count = 0; count < BEHIND_PARALLEL; count++) void sweep();
  }

  /** Follows a server's announcement of changed tools: one refresh per burst, and the last change is never lost. */
  changed(server: string): void {
    if (this.#stopped || !this.#options.servers.has(server)) return;
    const list = this.demand(server);
    if (this.#changes.has(server)) return;
    list.pace ??= new ChangePace();
    const { pace } = list;
    this.#changes.set(server, setTimeout(() => void this.#follow(server, list, pace), pace.waitMs()).unref());
  }

  /** Follows a change that the server has announced now, not after the usual pause. */
  async followNow(server: string): Promise<void> {
    const list = this.#lists.get(server);
    if (list?.pace === undefined) return;
    if (this.#dropChange(server)) await this.#follow(server, list, list.pace);
    else await list.keeper.reading?.done;
  }

  /** Leaves an announced change to the next refresh: a server that is closed should not be started again for it. */
  leaveChange(server: string): void {
    if (this.#dropChange(server)) this.#list(server).keeper.outdate();
  }

  #dropChange(server: string): boolean {
    clearTimeout(this.#changes.get(server));
    return this.#changes.delete(server);
  }

  /** Makes the next reading ask the server, whatever was read elsewhere before. */
  demand(server: string): ServerList {
    const list = this.#list(server);
    list.changedAt = this.#options.now();
    return list;
  }

  async #follow(server: string, { keeper }: ServerList, pace: ChangePace): Promise<void> {
    // A running reading may have started before the change. Until it ends, further changes are part of this one.
    await keeper.reading?.done;
    if (this.#stopped) return;
    this.#changes.delete(server);
    pace.listed();
    keeper.outdate();
    await this.refresh(server);
  }

  /**
   * Ends all refreshes and ignores running readings, unless the successor has the same server. Then the successor takes
   * the list over, and waiting callers get it too.
   */
  stop(successor?: Discovery): void {
    this.#stopped = true;
    this.#successor = successor;
    for (const [server, list] of this.#lists) {
      const next = this.#successorFor(server);
      if (next) next.#adopt(server, list);
      if (!list.keeper.reading) list.takers.delete(this);
      if (Discovery.#inForce(list)) continue;
      list.keeper.invalidate();
      list.endPause();
    }
    for (const [server, timer] of this.#changes) {
      clearTimeout(timer);
      successor?.changed(server);
    }
    this.#changes.clear();
  }

  #successorFor(server: string): Discovery | undefined {
    const next = this.#successor;
    if (next === undefined) return undefined;
    const [before, after] = [this, next].map((one) => one.#options.servers.get(server)?.fingerprint);
    return before !== undefined && before === after ? next : undefined;
  }

  /** The list of a server; after a reload, that of the successor. */
  #list(server: string): ServerList {
    const known = this.#lists.get(server);
    if (known) return known;
    const next = this.#successorFor(server) ?? this.#options.lists;
    if (next) return this.#adopt(server, next.#list(server));
    const takers = new Set<Discovery>();
    const current = (): Discovery => Discovery.#inForce(list) ?? this;
    const list: ServerList = {
      keeper: new ListKeeper<DiscoveryError, Caller | undefined>({
        read: (attempt, caller) =>
          current()
            .#read(server, list, attempt, caller)
            .finally(() => {
              for (const taker of takers) if (taker.#stopped) takers.delete(taker);
            }),
        toFailure: (thrown) => toServerError(thrown, server),
        isStale: () => current().#isOlderThan(server),
        retry: { initial: LIMITS.pace.listRetry, max: LIMITS.pace.listRetry },
        now: this.#elapsed,
        failure: this.#options.failures?.get(server),
      }),
      takers,
      endPause: () => {},
      timedOutAt: Number.NEGATIVE_INFINITY,
      changedAt: 0,
      impatient: new Set(),
    };
    return this.#adopt(server, list);
  }

  /** The discovery that a list is read for; undefined once all have stopped. */
  static #inForce({ takers }: ServerList): Discovery | undefined {
    return [...takers].find((taker) => !taker.#stopped);
  }

  #adopt(server: string, list: ServerList): ServerList {
    list.takers.add(this);
    if (this.#options.servers.has(server)) this.#lists.set(server, list);
    return list;
  }

  /** Compares dates, because lists are saved between runs. A configured list does not age. */
  #isOlderThan(server: string, ms = this.#ttlOf(server)): boolean {
    const { catalog, now } = this.#options;
    const fetchedAt = catalog.fetchedAt(server);
    return fetchedAt > 0 && ageSince(fetchedAt, now()) > ms;
  }

  #ttlOf(server: string): number {
    const source = this.#options.servers.get(server)?.definition;
    return source && 'ttlMs' in source ? source.ttlMs : this.#options.ttlMs;
  }

  /** True if a list is old, is not being read, and has not failed recently. */
  isDue(server: string): boolean {
    if (this.#stopped || !this.#options.servers.has(server)) return false;
    return this.#lists.get(server)?.keeper.isDue ?? this.#isOlderThan(server);
  }

  /** Starts reading a list, or joins the running reading. */
  #start(server: string, caller: Caller | undefined): Reading {
    const list = this.#list(server);
    list.takers.add(this);
    return list.keeper.read(caller);
  }

  async #read(
    server: string,
    list: ServerList,
    { isCurrent, failed, next }: Attempt<DiscoveryError>,
    caller: Caller | undefined,
  ): Promise<boolean> {
    const { list: ask, logger } = this.#options;
    const now = this.#elapsed;
    let firstTurn: number | undefined;
    for (let attempt = 0; ; attempt++) {
      const inForce = Discovery.#inForce(list);
      if (!inForce) return false;
      const definition = inForce.#options.servers.get(server)?.definition;
      if (!definition) return false;
      let began = now();
      try {
        const listing = await this.#turns.run(() => {
          began = now();
          firstTurn ??= began;
          return ask(definition, caller, inForce.#since(server, list));
        }, LIMITS.slice.start);
        if (!isCurrent()) return false;
        this.#logSkipped(listing);
        let taken = false;
        // A reload may add another taker meanwhile.
        for (const taker of list.takers) taken = await taker.#take(listing);
        return taken;
      } catch (error) {
        if (!isCurrent()) return false;
        const failure = toServerError(error, server);
        failed(failure, worthWaiting(failure));
        if (isTimeout(failure)) {
          list.timedOutAt = now();
          for (const isOver of list.impatient) isOver();
        }
        const attempts = { made: attempt + 1, spentMs: now() - (firstTurn ?? began), lastMs: now() - began };
        const pause = this.pauseBefore(failure, attempts);
        // The process may end in the pauses between attempts.
        if (attempt === 0 || pause === undefined) this.#keep(server, failure);
        if (pause === undefined) {
          logger.warn({ server, code: failure.code }, failure.message);
          throw failure;
        }
        await pausing(list, pause);
        next();
      }
    }
  }

  /** The date after which a list must have been read to replace the known one. */
  #since(server: string, { changedAt }: ServerList): number {
    const { catalog, now } = this.#options;
    const fetchedAt = catalog.fetchedAt(server);
    return Math.max(
      changedAt,
      fetchedAt > 0 ? Math.max(fetchedAt + 1, now() - this.#ttlOf(server)) : now() - LIMITS.age.list,
    );
  }

  #logSkipped({ server, skipped }: Listing): void {
    for (const { name, reason } of skipped)
      this.#options.logger.warn({ server, tool: name, reason }, 'a tool was left out');
  }

  /** Passes a list to the catalogue. An incomplete list must not replace a complete one, unless a limit of ours cut it. */
  async #take(listing: Listing): Promise<boolean> {
    const { catalog, lists, logger, onChange } = this.#options;
    const { server, incomplete, isCut } = listing;
    if (this.#kept.delete(server)) catalog.keepFailure(server, undefined);
    if (incomplete) {
      const keep = !isCut && catalog.fetchedAt(server) > 0 && !catalog.state(server)?.incomplete;
      const effect = keep ? 'the current one stays in use' : 'it is used as it is';
      // Said once, by the discovery whose list it is.
      if (!lists) logger.warn({ server, reason: incomplete }, `the new tool list is incomplete; ${effect}`);
      if (keep) return false;
    }
    if (await catalog.put(listing)) onChange?.(server);
    return true;
  }

  #keep(server: string, failure: DiscoveryError): void {
    const { remembers = true, now, catalog } = this.#options;
    const kept = toKept(failure, now());
    // Callers do not wait for a server whose tools are known.
    if (!remembers || !kept || catalog.isSeen(server)) return;
    this.#kept.add(server);
    catalog.keepFailure(server, kept);
  }
}

const pausing = (list: ServerList, ms: number): Promise<void> =>
  new Promise((resolve) => {
    list.endPause = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(list.endPause, ms);
  });

/**
 * Keeps the catalogue fresh: first lists on first need, old ones behind an answer, changed ones when told.
 * One server's failure never spoils another's list, and keeps its own last good one.
 * @module
 */
import { ageSince } from '../async/clock.ts';
import { Semaphore } from '../async/semaphore.ts';
import { type DiscoveryError, ServerConnectionError } from '../core/errors.ts';
import type { SourceDefinition } from '../core/tool-provider.ts';
import type { Caller, Logger } from '../core/types.ts';
import type { Catalog } from './catalog.ts';
import { ChangePace } from './change-pace.ts';
import { toKept } from './failure-memory.ts';
import type { Listing } from './listing.ts';
import { type Attempts, pauseBefore, type RetryPolicy, toServerError } from './retry-policy.ts';
import { worthWaiting } from './worth-waiting.ts';

export interface DiscoveryOptions {
  readonly catalog: Catalog;
  /** Enabled servers by name. */
  readonly servers: ReadonlyMap<string, { readonly definition: SourceDefinition; readonly fingerprint: string }>;
  /** Connects and reads one server's list. */
  readonly list: (definition: SourceDefinition, caller: Caller | undefined) => Promise<Listing>;
  readonly ttlMs: number;
  readonly parallel: number;
  readonly logger: Logger;
  /** Milliseconds since 1970: lists are dated, and kept between runs. */
  readonly now: () => number;
  /** Milliseconds that never run backwards, for everything else. Default: `now`. */
  readonly elapsed?: (() => number) | undefined;
  readonly random?: (() => number) | undefined;
  readonly retry: RetryPolicy;
  /** False: nothing is read behind an answer. Default true. */
  readonly background?: boolean | undefined;
  /** Failures of an earlier process, by server: nobody waits for these. */
  readonly failures?: ReadonlyMap<string, DiscoveryError> | undefined;
  /** Whether failures are kept for the next process. Default true. */
  readonly remembers?: boolean | undefined;
  /** Called after a list was replaced and something an agent can see has changed. */
  readonly onChange?: (server: string) => void;
}

const STALE_AFTER_MS = 24 * 3600_000;
const BEHIND_PARALLEL = 2;
/** How long a list that is being read keeps others waiting. A server that takes longer is slow, and costs us nothing. */
const TURN_MS = 500;
/** A server that could not be refreshed is not asked again behind every answer. */
const ATTEMPT_PAUSE_MS = 60_000;

/** A list that is being read. */
interface Refresh {
  readonly startedAt: number;
  /** Whose catalogues get it: who began, and who came before or after at a reload. Over when all of them have stopped. */
  readonly keepers: Set<Discovery>;
  readonly done: Promise<boolean>;
  readonly attempt: Attempt;
  /** The server had failed before: nobody waits for it. */
  readonly isRepeat: boolean;
}

/** What callers wait for: an attempt, and those after it that are worth waiting for. */
class Attempt {
  /** Settles when the list is there, or when there is nothing left that is worth waiting for. */
  answered!: Promise<void>;
  answer!: () => void;
  isAnswered = true;

  constructor() {
    this.begin();
  }

  /** The next attempt begins. Callers from now on wait for that one. */
  begin(): void {
    if (!this.isAnswered) return;
    this.isAnswered = false;
    this.answered = new Promise((resolve) => {
      this.answer = () => {
        this.isAnswered = true;
        resolve();
      };
    });
  }
}

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #running = new Map<string, Refresh>();
  readonly #failures: Map<string, DiscoveryError>;
  /** Servers whose failure is kept for the next process. */
  readonly #kept: Set<string>;
  readonly #elapsed: () => number;
  readonly #turns: Semaphore;
  /** Ends the wait between two attempts, by server. */
  readonly #pauses = new Map<string, () => void>();
  readonly #changes = new Map<string, NodeJS.Timeout>();
  readonly #paces = new Map<string, ChangePace>();
  /** Servers that said that their tools changed, and could not be listed since. */
  readonly #outdated = new Set<string>();
  readonly #attemptedAt = new Map<string, number>();
  #behind = 0;
  #stopped = false;
  #successor: Discovery | undefined;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? options.now;
    this.#turns = new Semaphore(options.parallel);
    this.#failures = new Map(options.failures);
    this.#kept = new Set(options.failures?.keys());
  }

  /** Why the last attempt to list a server failed, until one succeeds. */
  failure(server: string): DiscoveryError | undefined {
    return this.#failures.get(server);
  }

  isRunning(server: string): boolean {
    return this.#running.has(server);
  }

  /** True when a list is so old that it must be shown as such. */
  isStale(server: string): boolean {
    const { catalog, now } = this.#options;
    const fetchedAt = catalog.fetchedAt(server);
    return fetchedAt > 0 && ageSince(fetchedAt, now()) > STALE_AFTER_MS;
  }

  /** True when a list is older than `cache.ttl`, or known to be out of date. What only the configuration gives does not age. */
  isOld(server: string): boolean {
    if (this.#outdated.has(server)) return true;
    const { catalog, servers, ttlMs, now } = this.#options;
    const source = servers.get(server)?.definition;
    const holdsMs = source && 'ttlMs' in source ? source.ttlMs : ttlMs;
    const fetchedAt = catalog.fetchedAt(server);
    return fetchedAt > 0 && ageSince(fetchedAt, now()) > holdsMs;
  }

  /** Resolves when nothing is being read any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  /** Servers whose tools nobody has seen yet. */
  unseen(): string[] {
    return [...this.#options.servers.keys()].filter((server) => !this.#options.catalog.isSeen(server));
  }

  /** Reads one server's list, once however many ask. Resolves with whether that worked; never rejects. */
  refresh(server: string, caller?: Caller): Promise<boolean> {
    return this.#start(server, caller).done;
  }

  /**
   * Reads a list, or joins a read under way, with all attempts that are worth waiting for. An attempt that is not is made
   * now instead of after its pause. Resolves with why it failed; never rejects.
   */
  async listed(server: string, caller?: Caller): Promise<DiscoveryError | undefined> {
    const { attempt, keepers } = this.#start(server, caller);
    if (attempt.isAnswered) {
      for (const keeper of keepers) keeper.#pauses.get(server)?.();
      attempt.begin();
    }
    await attempt.answered;
    return this.failure(server);
  }

  /**
   * Waits for first lists, for each at most `withinMs` since it was begun: a server that hangs delays the first search
   * only. One that failed before is asked again in the background. What is missing when the time is over goes on there,
   * too, and is remembered as missing, because this process may end before more is known.
   */
  async firstLists(servers: readonly string[], withinMs: number, caller?: Caller): Promise<void> {
    const now = this.#elapsed();
    const patience = ({ startedAt }: Refresh) => withinMs - (now - startedAt);
    const awaited = new Map<string, Refresh>();
    for (const server of servers) {
      const known = this.#running.get(server)?.isRepeat ?? this.#failures.has(server);
      if (known && this.#options.background === false) continue;
      const refresh = this.#start(server, caller);
      if (!known && patience(refresh) > 0) awaited.set(server, refresh);
    }
    if (awaited.size === 0) return;
    const waiting = new Set(awaited.keys());
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      Promise.all([...awaited].map(([server, { attempt }]) => attempt.answered.then(() => waiting.delete(server)))),
      new Promise((resolve) => {
        timer = setTimeout(resolve, Math.max(...[...awaited.values()].map(patience)));
      }),
    ]);
    clearTimeout(timer);
    for (const server of waiting) {
      const late = `${server} did not list its tools within ${withinMs / 1000} s.`;
      this.#keep(server, this.failure(server) ?? new ServerConnectionError(server, late));
    }
  }

  /** When a failed attempt to reach a server is made again: for others who try. */
  pauseBefore(failure: DiscoveryError, attempts: Attempts): number | undefined {
    const { retry, random } = this.#options;
    return pauseBefore(failure, attempts, retry, random);
  }

  /** Refreshes old lists behind an answer: those it showed first, then the rest two at a time until none is old. */
  refreshBehind(shown: Iterable<string>, caller?: Caller): void {
    if (this.#options.background === false) return;
    for (const server of new Set(shown)) if (this.#isDue(server)) void this.refresh(server, caller);
    while (this.#behind < BEHIND_PARALLEL) {
      const next = [...this.#options.servers.keys()].find((server) => this.#isDue(server));
      if (next === undefined) return;
      this.#behind++;
      void this.refresh(next, caller).finally(() => {
        this.#behind--;
        this.refreshBehind([], caller);
      });
    }
  }

  /** A server said that its tools changed: one refresh for the whole burst, and the last change is never lost. */
  changed(server: string): void {
    if (this.#stopped || this.#changes.has(server) || !this.#options.servers.has(server)) return;
    const pace = this.#paces.get(server) ?? new ChangePace();
    this.#paces.set(server, pace);
    this.#changes.set(server, setTimeout(() => void this.#follow(server, pace), pace.waitMs()).unref());
  }

  async #follow(server: string, pace: ChangePace): Promise<void> {
    // A list that is being read may have been asked for before the change. Further changes are this one until it is over.
    await this.#running.get(server)?.done;
    if (this.#stopped) return;
    this.#changes.delete(server);
    pace.listed();
    if (!(await this.refresh(server))) this.#outdated.add(server);
  }

  /**
   * No more refreshes. Running ones end by themselves and change nothing, unless a successor has the same server: it
   * takes them over, and who waits for them here gets them all the same.
   */
  stop(successor?: Discovery): void {
    this.#stopped = true;
    this.#successor = successor;
    for (const server of this.#paces.keys()) {
      const next = this.#successorFor(server);
      const pace = this.#paces.get(server);
      // A reload does not make a server that never stops a new one.
      if (next && pace) next.#paces.set(server, pace);
      if (next && this.#outdated.has(server)) next.#outdated.add(server);
    }
    for (const [server, timer] of this.#changes) {
      clearTimeout(timer);
      successor?.changed(server);
    }
    this.#changes.clear();
    for (const [server, refresh] of this.#running) {
      const next = this.#successorFor(server);
      const failure = this.failure(server);
      if (next && failure) next.#failures.set(server, failure);
      if (next) next.#join(server, refresh);
      else for (const keeper of refresh.keepers) keeper.#pauses.get(server)?.();
    }
  }

  #successorFor(server: string): Discovery | undefined {
    const next = this.#successor;
    if (next === undefined) return undefined;
    const [before, after] = [this, next].map((one) => one.#options.servers.get(server)?.fingerprint);
    return before !== undefined && before === after ? next : undefined;
  }

  #join(server: string, refresh: Refresh): Refresh {
    refresh.keepers.add(this);
    this.#running.set(server, refresh);
    return refresh;
  }

  #isDue(server: string): boolean {
    const { servers } = this.#options;
    const attempted = this.#attemptedAt.get(server) ?? Number.NEGATIVE_INFINITY;
    return (
      !this.#stopped &&
      this.isOld(server) &&
      servers.has(server) &&
      !this.#running.has(server) &&
      this.#elapsed() - attempted > ATTEMPT_PAUSE_MS
    );
  }

  #start(server: string, caller: Caller | undefined): Refresh {
    const running = this.#running.get(server);
    if (running) return running;
    // Who was asked just before a reload finds out what came after.
    const next = this.#successorFor(server);
    if (next) return this.#join(server, next.#start(server, caller));
    const attempt = new Attempt();
    const isRepeat = this.#failures.has(server);
    const keepers = new Set<Discovery>([this]);
    const done = this.#refresh(server, caller, keepers, attempt).finally(() => {
      attempt.answer();
      for (const keeper of keepers) keeper.#running.delete(server);
    });
    return this.#join(server, { startedAt: this.#elapsed(), isRepeat, keepers, attempt, done });
  }

  async #refresh(
    server: string,
    caller: Caller | undefined,
    keepers: ReadonlySet<Discovery>,
    attempt: Attempt,
  ): Promise<boolean> {
    const { list, logger } = this.#options;
    const now = this.#elapsed;
    this.#attemptedAt.set(server, now());
    let firstTurn: number | undefined;
    const current = () => {
      for (const keeper of keepers) if (!keeper.#stopped) return keeper.#options.servers.get(server)?.definition;
      return undefined;
    };
    for (let made = 1; ; made++) {
      const definition = current();
      if (!definition) return false;
      let began = now();
      try {
        const listing = await this.#turns.run(() => {
          began = now();
          firstTurn ??= began;
          return list(definition, caller);
        }, TURN_MS);
        if (!current()) return false;
        for (const { name, reason } of listing.skipped)
          logger.warn({ server, tool: name, reason }, 'a tool was left out');
        let taken = false;
        // Somebody may join while the others take it.
        for (const keeper of keepers) taken = await keeper.#take(listing);
        return taken;
      } catch (error) {
        if (!current()) return false;
        const failure = toServerError(error, server);
        for (const keeper of keepers) keeper.#failures.set(server, failure);
        if (!worthWaiting(failure)) attempt.answer();
        const attempts = { made, spentMs: now() - (firstTurn ?? began), lastMs: now() - began };
        const pause = this.pauseBefore(failure, attempts);
        // The process may end in the pauses between attempts.
        if (made === 1 || pause === undefined) this.#keep(server, failure);
        if (pause === undefined) {
          logger.warn({ server, code: failure.code }, failure.message);
          return false;
        }
        await this.#pause(server, pause);
        attempt.begin();
      }
    }
  }

  /** Hands a list to the catalogue; one that was cut off must not replace one that was whole. */
  async #take(listing: Listing): Promise<boolean> {
    const { catalog, logger, onChange } = this.#options;
    const { server, incomplete } = listing;
    this.#failures.delete(server);
    this.#outdated.delete(server);
    if (this.#kept.delete(server)) catalog.forgetFailure(server);
    if (incomplete) {
      const keep = catalog.fetchedAt(server) > 0 && !catalog.state(server)?.incomplete;
      const effect = keep ? 'the old one stays' : 'what came is used';
      logger.warn({ server, reason: incomplete }, `the new tool list is incomplete; ${effect}`);
      if (keep) return false;
    }
    if (await catalog.put(listing)) onChange?.(server);
    return true;
  }

  #keep(server: string, failure: DiscoveryError): void {
    const { remembers = true, now, catalog } = this.#options;
    const kept = toKept(failure, now());
    // One whose tools are known is not waited for anyway.
    if (!remembers || !kept || catalog.isSeen(server)) return;
    this.#kept.add(server);
    catalog.keepFailure(server, kept);
  }

  #pause(server: string, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#pauses.delete(server);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#pauses.set(server, done);
    });
  }
}

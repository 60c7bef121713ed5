/**
 * Keeps live connections: opens each on first use, shares it where that is safe, and closes it when idle.
 *
 * Sharing follows `audience.ts`. A caller that a server of the old protocol may ask something gets a connection of its
 * own: one per client session or, for a client without sessions, one per call. Callers that cannot be asked share one.
 * Servers of protocol 2026-07-28 ask inside the answer to a call and are shared by all. A connection over which a
 * caller was asked may carry its answer, so only the same session or principal may reuse it. A connection without
 * questions so far may be reused, but no question on it reaches the next caller: it could belong to an earlier one.
 * @module
 */

import { abortable } from '../async/abortable.ts';
import { elapsedNow } from '../async/clock.ts';
import { Semaphore } from '../async/semaphore.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { ownedKey } from '../core/owned-key.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { Caller, ServerDefinition, ServerStatus } from '../core/types.ts';
import { type Audience, audienceOf } from './audience.ts';
import { Backoff } from './backoff.ts';
import { fingerprint } from './fingerprint.ts';
import { HungServers } from './hung-servers.ts';
import { makeRoom } from './local-places.ts';
import type { McpConnection } from './mcp-connection.ts';
import { needsAPerson } from './only-a-person.ts';
import type { OpenedConnection, Verdict } from './open-options.ts';
import { ForgottenError } from './peer.ts';
import { givenUp, unavailable } from './pool-refusals.ts';
import { identityOf, PoolSlot } from './pool-slot.ts';
import { QuestionHabits } from './question-habits.ts';
import { askForRoots, candidates, type Patience, surplus } from './same-roots.ts';
import { sentence } from './short-text.ts';

export interface OpenRequest {
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly prior: Verdict | undefined;
  /** The user whose credentials are used; undefined: those of the gateway. */
  readonly principal: string | undefined;
  /** Aborted when no caller needs the connection any more. */
  readonly signal: AbortSignal;
  readonly onClose: (reason: Error) => void;
  readonly onNotification: (method: string, params: Readonly<Record<string, unknown>>) => void;
  readonly onQuestion: (method: string) => void;
}

export interface ConnectionPoolOptions {
  readonly open: (definition: ServerDefinition, request: OpenRequest) => Promise<OpenedConnection>;
  readonly limits: {
    readonly spawns: number;
    readonly localServers: number;
    readonly idleMs: number;
    /** Idle timeout of a call, unless the entry of its server sets one. */
    readonly callIdleMs?: number;
  };
  /**
   * `owner` is the user whose credentials the connection uses, if it is one user's; `isExclusive`: only one caller uses
   * it.
   */
  readonly onNotification?: (
    server: string,
    method: string,
    params: Readonly<Record<string, unknown>>,
    owner: string | undefined,
    isExclusive: boolean,
  ) => void;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
  readonly random?: () => number;
}

/** The right to use a connection until it is released. */
export interface Lease {
  readonly connection: McpConnection;
  /**
   * Releases the connection; `close` closes it at once instead of when idle. `unanswered` closes a connection that
   * callers use one after another: messages about this call must not reach the next caller.
   */
  release(options?: { close?: boolean; unanswered?: boolean }): void;
}

export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  readonly #now: () => number;
  readonly #slots = new Map<string, Set<PoolSlot>>();
  /** By server, and by owner where each user has its own credentials. */
  readonly #health = new Map<string, Backoff>();
  readonly #verdicts = new Map<string, Verdict>();
  readonly #habits = new Map<string, QuestionHabits>();
  readonly #obituaries = new Map<string, string>();
  readonly #spawns: Semaphore;
  readonly #closing = new Set<Promise<void>>();
  readonly #hung = new HungServers();
  #sweeper: NodeJS.Timeout | undefined;
  #watcher: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
    this.#now = options.now ?? elapsedNow;
    this.#spawns = new Semaphore(options.limits.spawns);
  }

  /** Remembers what an earlier process learnt about a server. */
  remember(definition: ServerDefinition, verdict: Verdict): void {
    const key = fingerprint(definition.connection);
    if (!this.#verdicts.has(key)) this.#verdicts.set(key, verdict);
  }

  verdict(definition: ServerDefinition): Verdict | undefined {
    return this.#verdicts.get(fingerprint(definition.connection));
  }

  /** Returns an open connection that suits the caller, if there is one. */
  borrow(definition: ServerDefinition, caller: Caller | undefined): Lease | undefined {
    const slot = this.#closed ? undefined : this.#find(definition, caller);
    if (slot?.connection === undefined || slot.mayEcho) return undefined;
    slot.leases++;
    return this.#lease(slot, slot.connection, caller);
  }

  /**
   * Returns a connection for one use. Opens at most one at a time per server and audience; other callers wait for the
   * same.
   */
  async acquire(definition: ServerDefinition, caller: Caller | undefined, options: Patience = {}): Promise<Lease> {
    if (this.#closed)
      throw new DiscoveryError('SHUTTING_DOWN', 'The engine is closed and opens no more connections.', {
        outcome: 'not_sent',
      });
    const open = this.borrow(definition, caller);
    if (open !== undefined) return open;
    const opening = this.#find(definition, caller);
    // The client of a relay hears only the questions of its server.
    const withRoots = () =>
      caller && !caller.exclusive
        ? candidates(this.#slots.get(definition.name), this.#audienceOf(definition, caller), definition, caller)
        : [];
    const told = opening || withRoots().length === 0 ? undefined : await askForRoots(caller, options);
    const same = told && withRoots().find(({ connection }) => connection?.toldRoots === told.key);
    const slot = opening ?? same ?? this.#find(definition, caller) ?? this.#add(definition, caller);
    slot.leases++;
    try {
      const connection = await abortable(slot.ready(), options.signal);
      // A server that was expected to be modern, and so shared, may turn out to be an old one.
      if (slot.audience.kind !== 'shared' || this.#audienceOf(definition, caller).kind === 'shared')
        return this.#lease(slot, connection, told?.caller ?? caller);
    } catch (error) {
      this.#giveBack(slot);
      throw error;
    }
    this.#giveBack(slot);
    return this.acquire(definition, caller, options);
  }

  /** True while a connection to the server is open: one with the owner's credentials, or with the gateway's. */
  isConnected(server: string, owner?: string): boolean {
    for (const slot of this.#slots.get(server) ?? [])
      if (slot.connection && !slot.retired && slot.owner === owner) return true;
    return false;
  }

  status(server: string, owner?: string): { readonly status: ServerStatus; readonly reason: string | undefined } {
    if (this.isConnected(server, owner)) return { status: 'connected', reason: undefined };
    const error = this.#health.get(ownedKey(server, owner))?.error;
    return error ? { status: 'error', reason: error.message } : { status: 'disconnected', reason: undefined };
  }

  /** Returns the end of what the server's processes wrote to stderr; if none runs, of the last one. */
  log(server: string): string {
    const slots = [...(this.#slots.get(server) ?? [])];
    if (slots.length === 0) return this.#obituaries.get(server) ?? '';
    return slots.map((slot) => slot.connection?.log ?? '').join('');
  }

  /** Number of connections, for limits and tests. */
  get size(): number {
    let size = 0;
    for (const slots of this.#slots.values()) size += slots.size;
    return size;
  }

  /** Closes connections that no longer fit the configuration: idle ones now, busy ones after their last call. */
  retain(definitions: Iterable<ServerDefinition>): void {
    const wanted = new Map([...definitions].map((definition) => [definition.name, definition]));
    for (const [server, slots] of this.#slots) {
      const definition = wanted.get(server);
      const identity = definition && identityOf(definition);
      for (const slot of slots) if (slot.identity !== identity) this.#retire(slot);
    }
    for (const server of this.#obituaries.keys()) if (!wanted.has(server)) this.#obituaries.delete(server);
    this.#health.clear();
  }

  /** Closes the connections of one client session. */
  endSession(session: string): void {
    for (const slots of this.#slots.values()) {
      for (const slot of slots) if (slot.audience.session === session) this.#retire(slot);
    }
  }

  /** Closes one server's connections, or all of them for good. */
  async close(server?: string): Promise<void> {
    if (server === undefined) {
      this.#closed = true;
      clearInterval(this.#sweeper);
      clearInterval(this.#watcher);
    }
    const names = server === undefined ? [...this.#slots.keys()] : [server];
    for (const name of names) for (const slot of this.#slots.get(name) ?? []) this.#drop(slot);
    await Promise.all(this.#closing);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #find(definition: ServerDefinition, caller: Caller | undefined): PoolSlot | undefined {
    const identity = identityOf(definition);
    const audience = caller && this.#audienceOf(definition, caller);
    const owner = ownerOf(definition, caller);
    let strange: PoolSlot | undefined;
    for (const slot of this.#slots.get(definition.name) ?? NO_SLOTS) {
      if (slot.retired || slot.identity !== identity || slot.owner !== owner || !slot.suits(audience, caller)) continue;
      if (slot.isFamiliar(caller)) return slot;
      strange ??= slot;
    }
    return strange;
  }

  #audienceOf(definition: ServerDefinition, caller: Caller | undefined): Audience {
    return audienceOf(caller, this.verdict(definition)?.era === 'modern');
  }

  #add(definition: ServerDefinition, caller: Caller | undefined): PoolSlot {
    const health = this.#healthOf(definition.name, ownerOf(definition, caller));
    if (health.waitMs > 0) throw unavailable(definition.name, health);
    if (isLocal(definition.connection)) {
      const slots = [...this.#slots.values()].flatMap((slots) => [...slots]);
      for (const slot of makeRoom(definition.name, slots, this.#options.limits.localServers)) this.#drop(slot);
    }
    const print = fingerprint(definition.connection);
    const habits = this.#habits.get(print) ?? new QuestionHabits();
    this.#habits.set(print, habits);
    const slot = new PoolSlot(
      definition,
      this.#audienceOf(definition, caller),
      habits,
      ownerOf(definition, caller),
      (slot) => this.#open(slot),
    );
    slot.lastUsed = this.#now();
    const slots = this.#slots.get(definition.name) ?? new Set();
    this.#slots.set(definition.name, slots.add(slot));
    this.#sweeper ??= setInterval(
      () => this.#sweep(),
      Math.max(LIMITS.pace.idle, this.#options.limits.idleMs / 10),
    ).unref();
    this.#watcher ??= setInterval(() => {
      this.#hung.end(
        [...this.#slots.values()].flatMap((slots) => [...slots]),
        this.#options.limits.callIdleMs,
      );
    }, LIMITS.pace.hung).unref();
    return slot;
  }

  async #open(slot: PoolSlot): Promise<McpConnection> {
    const { definition, audience, abort } = slot;
    const print = fingerprint(definition.connection);
    const open = () =>
      this.#options.open(definition, {
        capabilities: audience.capabilities,
        prior: this.#verdicts.get(print),
        principal: slot.owner,
        signal: abort.signal,
        onClose: (reason) => this.#died(slot, reason),
        onNotification: (method, params) =>
          this.#options.onNotification?.(definition.name, method, params, slot.owner, audience.exclusive),
        onQuestion: (method) => slot.habits.note(method),
      });
    try {
      const { connection, verdict } = await (slot.isLocal ? this.#spawns.run(open, LIMITS.slice.start) : open());
      if (abort.signal.aborted) {
        await connection.close();
        throw givenUp(definition.name);
      }
      this.#verdicts.set(print, verdict);
      slot.connection = connection;
      if (!connection.closed) this.#healthOf(definition.name, slot.owner).opened();
      return connection;
    } catch (error) {
      if (!this.#forget(slot)) throw abort.signal.aborted ? givenUp(definition.name) : error;
      // The verdict may be stale; the next attempt starts without it.
      this.#verdicts.delete(print);
      const known = error instanceof DiscoveryError ? error : undefined;
      const health = this.#healthOf(definition.name, slot.owner);
      if (needsAPerson(error)) health.refused(error as Error);
      else
        health.failed(error as Error, {
          final: known?.code === 'SERVER_AUTH_REQUIRED',
          atLeastMs: known?.details.retryAfterMs ?? 0,
        });
      throw error;
    }
  }

  #lease(slot: PoolSlot, connection: McpConnection, caller: Caller | undefined): Lease {
    const leave = slot.join(connection, caller);
    let held = true;
    return {
      connection,
      release: ({ close = false, unanswered = false } = {}) => {
        if (!held) return;
        held = false;
        leave();
        this.#giveBack(slot);
        if (unanswered && !connection.closed) this.#hung.suspect(connection, elapsedNow());
        if (close ? slot.leases === 0 : unanswered && slot.isPerCall) this.#drop(slot);
      },
    };
  }

  #giveBack(slot: PoolSlot): void {
    slot.leases--;
    slot.lastUsed = this.#now();
    if (slot.leases > 0) return;
    if (slot.retired || slot.isOver) this.#drop(slot);
    else if (slot.isKept) for (const one of surplus(this.#slots.get(slot.definition.name) ?? [])) this.#drop(one);
  }

  #died(slot: PoolSlot, reason: Error): void {
    if (!this.#forget(slot)) return;
    const { name } = slot.definition;
    // A forgotten session is no failure of the server: it answered, and a new session costs little.
    if (!slot.isLocal && reason instanceof ForgottenError) return;
    if (slot.connection?.log) this.#obituaries.set(name, slot.connection.log);
    this.#healthOf(name, slot.owner).died(
      new DiscoveryError('SERVER_CONNECTION_ERROR', sentence(`${name} went away: ${reason.message}`), { server: name }),
    );
  }

  #retire(slot: PoolSlot): void {
    slot.retired = true;
    if (slot.leases === 0) this.#drop(slot);
  }

  #drop(slot: PoolSlot): void {
    slot.retired = true;
    if (!this.#forget(slot)) return;
    slot.abort.abort();
    const closing = (slot.connection ? slot.connection.close() : ended(slot.opening)).finally(() =>
      this.#closing.delete(closing),
    );
    this.#closing.add(closing);
  }

  #forget(slot: PoolSlot): boolean {
    const slots = this.#slots.get(slot.definition.name);
    const known = slots?.delete(slot) ?? false;
    if (slots?.size === 0) this.#slots.delete(slot.definition.name);
    return known;
  }

  #sweep(): void {
    const before = this.#now() - this.#options.limits.idleMs;
    for (const slots of this.#slots.values()) {
      for (const slot of slots) if (slot.leases === 0 && slot.connection && slot.lastUsed <= before) this.#drop(slot);
    }
  }

  /** Lets the next attempt to connect to a server be made at once: a caller insists. */
  retryNow(server: string, owner?: string): void {
    this.#health.get(ownedKey(server, owner))?.retryNow();
  }

  /** One user's failures say nothing about another's credentials. */
  #healthOf(server: string, owner: string | undefined): Backoff {
    const key = ownedKey(server, owner);
    let health = this.#health.get(key);
    if (!health) {
      const { now, random } = this.#options;
      health = new Backoff({ ...(now && { now }), ...(random && { random }) });
      if (this.#health.size >= LIMITS.cache.health) this.#health.delete(this.#health.keys().next().value as string);
      this.#health.set(key, health);
    }
    return health;
  }
}

/** Returns the user whose credentials a connection uses; undefined where all callers use the same. */
export const ownerOf = ({ credentials }: ServerDefinition, caller: Caller | undefined): string | undefined =>
  credentials === 'user' ? caller?.principal : undefined;

const NO_SLOTS: readonly PoolSlot[] = [];

const ended = (work: Promise<unknown>): Promise<void> =>
  work.then(
    () => {},
    () => {},
  );

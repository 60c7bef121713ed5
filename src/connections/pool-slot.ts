/**
 * Holds one connection of the pool, opening or open, with its audience and its current users.
 * @module
 */

import { abortable } from '../async/abortable.ts';
import { withTimeLimit } from '../async/time-limit.ts';
import { LIMITS } from '../core/limits.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { Caller, ServerDefinition } from '../core/types.ts';
import type { Audience } from './audience.ts';
import { JsonRpcError, METHOD_NOT_FOUND } from './json-rpc.ts';
import type { McpConnection } from './mcp-connection.ts';
import { type QuestionHabits, ROOTS } from './question-habits.ts';

type Asker = { readonly ask: Caller['ask'] };

/** Stands for clients that cannot be told apart. */
const SEVERAL = Symbol('several');

export class PoolSlot {
  readonly definition: ServerDefinition;
  readonly identity: string;
  readonly audience: Audience;
  /** Shared by all connections to the same server. */
  readonly habits: QuestionHabits;
  /** The user whose credentials it uses; undefined where all callers use the same. */
  readonly owner: string | undefined;
  /** Aborts the opening. */
  readonly abort = new AbortController();
  readonly opening: Promise<McpConnection>;
  connection: McpConnection | undefined;
  leases = 0;
  lastUsed = 0;
  /** To be closed when its last user is done. */
  retired = false;
  /** The current users that can be asked, the latest last. */
  readonly #askers = new Set<Asker>();
  #hasServed = false;
  /** The client it has served, if known. */
  #client: string | typeof SEVERAL | undefined;

  constructor(
    definition: ServerDefinition,
    audience: Audience,
    habits: QuestionHabits,
    owner: string | undefined,
    open: (slot: PoolSlot) => Promise<McpConnection>,
  ) {
    this.definition = definition;
    this.identity = identityOf(definition);
    this.audience = audience;
    this.habits = habits;
    this.owner = owner;
    this.opening = open(this);
    // The caller may have given up by the time opening fails.
    this.opening.catch(() => {});
  }

  get isLocal(): boolean {
    return isLocal(this.definition.connection);
  }

  /** Whether questions and messages of the server belong to one caller at a time. */
  get isPerCall(): boolean {
    return this.audience.kind === 'call' && (this.audience.exclusive || this.connection?.era !== 'modern');
  }

  /** Whether the next caller may be a different one. `shared` in the entry says that this does not matter. */
  get #changesHands(): boolean {
    return this.audience.anonymous && !this.definition.shared;
  }

  /** Whether a caller that cannot be recognised again was asked something here: the server may have kept the answer. */
  get isSpent(): boolean {
    return this.#changesHands && this.connection?.wasAsked === true;
  }

  /** Whether the server may ask something that concerns only the client it has served so far. */
  get #isForOneClient(): boolean {
    if (!this.#hasServed || !this.#changesHands || this.connection?.era === 'modern') return false;
    return this.connection?.toldRoots === undefined || this.habits.asksMore;
  }

  /**
   * Whether it is kept for one caller that may never return: a client, or a caller with the roots that the server was
   * told.
   */
  get isKept(): boolean {
    return (this.isSpent || this.#isForOneClient) && !this.retired && this.leases === 0;
  }

  /** Whether no caller can use it any more. */
  get isOver(): boolean {
    if (this.isSpent && this.connection?.toldRoots === undefined) return true;
    return this.#isForOneClient && this.#client === SEVERAL;
  }

  /** Whether it would serve this caller if the caller had the roots that the server was told. */
  suitsWithRoots(caller: Caller): boolean {
    if (!this.isSpent || !this.isKept || this.isOver) return false;
    return !this.#isForOneClient || this.isFamiliar(caller);
  }

  /**
   * Whether it has served only this caller. A client without a session is known by its socket and its name. They prove
   * nothing, and its answers are never shared; they only tell whose question may have come late.
   */
  isFamiliar(caller: Caller | undefined): boolean {
    if (!this.#hasServed || !this.#changesHands) return true;
    return this.#client !== SEVERAL && this.#client === clientKey(caller);
  }

  /** Whether the server may still send a message to an earlier caller that the next caller would receive. */
  get mayEcho(): boolean {
    return this.audience.anonymous && this.audience.exclusive && this.#hasServed;
  }

  /** Returns the connection after the server has sent its messages to earlier callers: a server answers in order. */
  async ready(): Promise<McpConnection> {
    const connection = await this.opening;
    if (this.mayEcho)
      await withTimeLimit(
        LIMITS.time.echo,
        undefined,
        () => new Error('no answer'),
        (signal) => abortable(connection.ping(), signal),
      ).catch(() => {});
    return connection;
  }

  /** Whether a caller of this audience may use the connection now; without a caller, whether any may. */
  suits(audience: Audience | undefined, caller?: Caller): boolean {
    if (this.isSpent) return false;
    if (audience && this.#isForOneClient && !this.isFamiliar(caller)) return false;
    const mine = this.audience;
    const isOpenToAll = !mine.exclusive && (audience === undefined || this.connection?.era === 'modern');
    if (isOpenToAll && !audience?.exclusive) return true;
    return mine.key === audience?.key && (mine.kind !== 'call' || this.leases === 0);
  }

  /** Lets the server ask this caller until the returned function is called. */
  join(connection: McpConnection, caller: Caller | undefined): () => void {
    const { kind, exclusive } = this.audience;
    if (!caller || kind === 'shared' || (connection.era === 'modern' && !exclusive)) return () => {};
    const ask = caller.ask && (this.isFamiliar(caller) ? caller.ask : knownRootsOnly(connection, caller.ask));
    const asker: Asker = { ask };
    this.#askers.add(asker);
    connection.asker = asker.ask;
    return () => {
      this.#client = this.isFamiliar(caller) ? (clientKey(caller) ?? SEVERAL) : SEVERAL;
      this.#hasServed = true;
      this.#askers.delete(asker);
      const latest = [...this.#askers].at(-1);
      if (latest) connection.asker = latest.ask;
      // A session of the old protocol can be asked between its calls, too. A finished call cannot be asked.
      else if (kind === 'call' || caller.acceptsInputRequired) {
        connection.asker = undefined;
        if (kind === 'call') connection.onNotification = undefined;
        connection.withdrawQuestions();
      }
    };
  }
}

const clientKey = ({ socket, clientName }: Caller = {}): string | undefined =>
  socket === undefined ? undefined : JSON.stringify([socket, clientName]);

/**
 * Asks nothing on a connection that has served another caller: a question could belong to either. The exception is
 * roots that the server already knows, because they are the same for both.
 */
function knownRootsOnly(connection: McpConnection, ask: NonNullable<Caller['ask']>): NonNullable<Caller['ask']> {
  return async (request, signal) => {
    if (request.method === ROOTS && connection.toldRoots !== undefined) return ask(request, signal);
    const why = 'it may belong to an earlier client of this connection. Call again: the next call gets one of its own';
    throw new JsonRpcError(METHOD_NOT_FOUND, `${request.method}: nobody was asked, because ${why}`);
  };
}

const identities = new WeakMap<ServerDefinition['connection'], string>();

/**
 * Returns a text that is equal for connections that reach the same server with the same values. It contains the values
 * as written, so it stays in memory.
 */
export function identityOf({ connection }: ServerDefinition): string {
  let identity = identities.get(connection);
  if (identity === undefined) {
    identity = JSON.stringify(connection);
    identities.set(connection, identity);
  }
  return identity;
}

/**
 * One place in the pool: a connection that is opening or open, who it is for, and who uses it now.
 * @module
 */

import { abortable } from '../async/abortable.ts';
import { withTimeLimit } from '../async/time-limit.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { Caller, ServerDefinition } from '../core/types.ts';
import type { Audience } from './audience.ts';
import { JsonRpcError, METHOD_NOT_FOUND } from './json-rpc.ts';
import type { McpConnection } from './mcp-connection.ts';
import { type QuestionHabits, ROOTS } from './question-habits.ts';

/** How long a caller waits for the words to an earlier one to end. */
const ECHO_MS = 2000;

type Asker = { readonly ask: Caller['ask'] };

/** Stands for clients of which nobody knows whether they are the same. */
const SEVERAL = Symbol('several');

export class PoolSlot {
  readonly definition: ServerDefinition;
  readonly identity: string;
  readonly audience: Audience;
  /** Shared by all connections to the same server. */
  readonly habits: QuestionHabits;
  /** Aborts the opening. */
  readonly abort = new AbortController();
  readonly opening: Promise<McpConnection>;
  connection: McpConnection | undefined;
  leases = 0;
  lastUsed = 0;
  /** To be closed as soon as nobody uses it. */
  retired = false;
  /** Those who use the connection now and can be asked, the latest last. */
  readonly #askers = new Set<Asker>();
  #hasServed = false;
  /** Whom it has served, as far as that can be told. */
  #client: string | typeof SEVERAL | undefined;

  constructor(
    definition: ServerDefinition,
    audience: Audience,
    habits: QuestionHabits,
    open: (slot: PoolSlot) => Promise<McpConnection>,
  ) {
    this.definition = definition;
    this.identity = identityOf(definition);
    this.audience = audience;
    this.habits = habits;
    this.opening = open(this);
    // Whoever asked for it may have given up by the time it fails.
    this.opening.catch(() => {});
  }

  get isLocal(): boolean {
    return isLocal(this.definition.connection);
  }

  /** Whether what the server asks or says over the connection belongs to one caller at a time, by time alone. */
  get isPerCall(): boolean {
    return this.audience.kind === 'call' && (this.audience.exclusive || this.connection?.era !== 'modern');
  }

  /** Whether the next caller may be another one than the last. An operator's `shared` says that it does not matter. */
  get #changesHands(): boolean {
    return this.audience.anonymous && !this.definition.shared;
  }

  /** Whether a caller that nobody would know again was asked something here: the server may have kept the answer. */
  get isSpent(): boolean {
    return this.#changesHands && this.connection?.wasAsked === true;
  }

  /** Whether the server may ask what only the client it has served so far could be asked here. */
  get #isForOneClient(): boolean {
    if (!this.#hasServed || !this.#changesHands || this.connection?.era === 'modern') return false;
    return this.connection?.toldRoots === undefined || this.habits.asksMore;
  }

  /** Whether it waits for a certain caller, who may never come: one with the roots that the server was told, or one client. */
  get isKept(): boolean {
    return (this.isSpent || this.#isForOneClient) && !this.retired && this.leases === 0;
  }

  /** Whether nobody can use it any more. */
  get isOver(): boolean {
    if (this.isSpent && this.connection?.toldRoots === undefined) return true;
    return this.#isForOneClient && this.#client === SEVERAL;
  }

  /** Whether it would serve this caller if that one had the roots that the server was told. */
  suitsWithRoots(caller: Caller): boolean {
    if (!this.isSpent || !this.isKept || this.isOver) return false;
    return !this.#isForOneClient || this.isFamiliar(caller);
  }

  /**
   * Whether it has served nobody but this caller. A client without a session is known by its socket and its name: they do
   * not prove who it is, and what it has answered is kept from everybody. They tell whose question may have come late.
   */
  isFamiliar(caller: Caller | undefined): boolean {
    if (!this.#hasServed || !this.#changesHands) return true;
    return this.#client !== SEVERAL && this.#client === clientOf(caller);
  }

  /** Whether the server may still say something to an earlier caller that the next one would hear. */
  get mayEcho(): boolean {
    return this.audience.anonymous && this.audience.exclusive && this.#hasServed;
  }

  /** The connection, when the server has said what it had to say to an earlier caller: it answers in order. */
  async ready(): Promise<McpConnection> {
    const connection = await this.opening;
    if (this.mayEcho)
      await withTimeLimit(
        ECHO_MS,
        undefined,
        () => new Error('no answer'),
        (signal) => abortable(connection.ping(), signal),
      ).catch(() => {});
    return connection;
  }

  /** Whether a caller of this audience may use the connection now; without a caller, whether anything may. */
  suits(audience: Audience | undefined, caller?: Caller): boolean {
    if (this.isSpent) return false;
    if (audience && this.#isForOneClient && !this.isFamiliar(caller)) return false;
    const mine = this.audience;
    const isOpenToAll = !mine.exclusive && (audience === undefined || this.connection?.era === 'modern');
    if (isOpenToAll && !audience?.exclusive) return true;
    return mine.key === audience?.key && (mine.kind !== 'call' || this.leases === 0);
  }

  /** Lets the server ask this caller, until the function given back is called. */
  join(connection: McpConnection, caller: Caller | undefined): () => void {
    const { kind, exclusive } = this.audience;
    if (!caller || kind === 'shared' || (connection.era === 'modern' && !exclusive)) return () => {};
    const ask = caller.ask && (this.isFamiliar(caller) ? caller.ask : knownRootsOnly(connection, caller.ask));
    const asker: Asker = { ask };
    this.#askers.add(asker);
    connection.asker = asker.ask;
    return () => {
      this.#client = this.isFamiliar(caller) ? (clientOf(caller) ?? SEVERAL) : SEVERAL;
      this.#hasServed = true;
      this.#askers.delete(asker);
      const latest = [...this.#askers].at(-1);
      // A call that is over cannot be asked; a session can, also between its calls.
      if (latest) connection.asker = latest.ask;
      else if (kind === 'call') {
        connection.asker = connection.onNotification = undefined;
        connection.withdrawQuestions();
      }
    };
  }
}

const clientOf = ({ socket, clientName }: Caller = {}): string | undefined =>
  socket === undefined ? undefined : JSON.stringify([socket, clientName]);

/**
 * Asks nothing of a caller on a connection that has served another: nobody can tell whose question it is. Except for roots
 * that the server knows already, which are the same for both.
 */
function knownRootsOnly(connection: McpConnection, ask: NonNullable<Caller['ask']>): NonNullable<Caller['ask']> {
  return async (request, signal) => {
    if (request.method === ROOTS && connection.toldRoots !== undefined) return ask(request, signal);
    const why = 'it may belong to an earlier client of this connection. Call again: the next call gets one of its own';
    throw new JsonRpcError(METHOD_NOT_FOUND, `${request.method}: nobody was asked, because ${why}`);
  };
}

const identities = new WeakMap<ServerDefinition['connection'], string>();

/** Equal for connections that reach the same with the same values. Holds them as written, so it stays in memory. */
export function identityOf({ connection }: ServerDefinition): string {
  let identity = identities.get(connection);
  if (identity === undefined) {
    identity = JSON.stringify(connection);
    identities.set(connection, identity);
  }
  return identity;
}

/**
 * One place in the pool: a connection that is opening or open, who it is for, and who uses it now.
 * @module
 */
import type { Caller, ServerDefinition } from '../types.ts';
import { abortable } from './abortable.ts';
import type { Audience } from './audience.ts';
import type { McpConnection } from './mcp-connection.ts';
import { withTimeLimit } from './time-limit.ts';

/** How long a caller waits for the words to an earlier one to end. */
const ECHO_MS = 2000;

type Asker = { readonly ask: Caller['ask'] };

export class PoolSlot {
  readonly definition: ServerDefinition;
  readonly identity: string;
  readonly audience: Audience;
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

  constructor(definition: ServerDefinition, audience: Audience, open: (slot: PoolSlot) => Promise<McpConnection>) {
    this.definition = definition;
    this.identity = identityOf(definition);
    this.audience = audience;
    this.opening = open(this);
    // Whoever asked for it may have given up by the time it fails.
    this.opening.catch(() => {});
  }

  get isLocal(): boolean {
    return this.definition.connection.kind === 'stdio';
  }

  /** Whether what the server asks or says over the connection belongs to one caller at a time, by time alone. */
  get isPerCall(): boolean {
    return this.audience.kind === 'call' && (this.audience.exclusive || this.connection?.era !== 'modern');
  }

  /**
   * Whether a caller that nobody would know again was asked something here: the server may have kept the answer. An
   * operator's `shared` says that it does not matter.
   */
  get isSpent(): boolean {
    return this.audience.anonymous && this.connection?.wasAsked === true && !this.definition.shared;
  }

  /** Whether it waits for a caller with the roots that the server was told. */
  get isForSameRoots(): boolean {
    return this.isSpent && !this.retired && this.leases === 0 && this.connection?.toldRoots !== undefined;
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
  suits(audience: Audience | undefined): boolean {
    if (this.isSpent) return false;
    const mine = this.audience;
    const isOpenToAll = !mine.exclusive && (audience === undefined || this.connection?.era === 'modern');
    if (isOpenToAll && !audience?.exclusive) return true;
    return mine.key === audience?.key && (mine.kind !== 'call' || this.leases === 0);
  }

  /** Lets the server ask this caller, until the function given back is called. */
  join(connection: McpConnection, caller: Caller | undefined): () => void {
    const { kind, exclusive } = this.audience;
    if (!caller || kind === 'shared' || (connection.era === 'modern' && !exclusive)) return () => {};
    const asker: Asker = { ask: caller.ask };
    this.#askers.add(asker);
    connection.asker = asker.ask;
    return () => {
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

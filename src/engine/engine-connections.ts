/**
 * Opens, leases and closes connections to configured servers, and logs in to them.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';
import { requireServer, requireTools } from '../catalog/tool-lookup.ts';
import { type Lease, ownerOf } from '../connections/connection-pool.ts';
import type { ServerIdentity } from '../connections/handshake.ts';
import { DiscoveryError } from '../core/errors.ts';
import { introductionDefinition } from '../core/item-definition.ts';
import { ok, type ToolResult } from '../core/result.ts';
import { isProvider } from '../core/tool-provider.ts';
import type { Caller, ServerDefinition, ToolDefinition } from '../core/types.ts';
import type { LoginScreen } from '../logins/login-flow.ts';
import type { KeyPlace } from '../logins/login-key.ts';
import type { LogOut } from '../logins/server-logins.ts';
import type { NotificationListener } from './downstreams.ts';
import type { LoginWish } from './engine-logins.ts';
import type { EngineRuntime } from './engine-runtime.ts';
import { sharedState, stateWith } from './seen-states.ts';

type Introduced = Pick<ServerIdentity, 'serverInfo' | 'instructions'>;

export class EngineConnections {
  readonly #runtime: EngineRuntime;

  constructor(runtime: EngineRuntime) {
    this.#runtime = runtime;
  }

  /** Opens a connection to a server in advance. Throws if the server cannot be reached. */
  async connect(server: string): Promise<void> {
    (await this.lease(server, {})).release();
  }

  /** Closes the connections to a server; the next call opens one again. */
  disconnect(server: string): Promise<void> {
    return this.#runtime.downstreams.pool.close(server);
  }

  /** Whether a connection to a server is open. */
  isConnected(server: string): boolean {
    return this.#runtime.downstreams.pool.isConnected(server);
  }

  /** The user whose credentials a caller's connection to a server has; undefined if all callers use the same. */
  async ownerOf(server: string, caller: Caller): Promise<string | undefined> {
    return ownerOf(await this.#definition(server), caller);
  }

  /** Leases a connection to a server, to relay requests other than tool calls. Release it after use. */
  async lease(server: string, caller: Caller, signal?: CallSignal): Promise<Lease> {
    const { servers } = await stateWith(this.#runtime, server, caller);
    if (!servers.has(server))
      throw new DiscoveryError('SERVER_NOT_FOUND', `There is no server "${server}".`, { server });
    const { downstreams } = this.#runtime;
    const lease = await downstreams.acquire(await this.#definition(server), caller, signal);
    downstreams.lists.subscribe(lease.connection);
    return lease;
  }

  /**
   * The tools that a server lists over the caller's own connection and that may be used, in the server's order. `lease`
   * leases that connection.
   */
  async tools(
    server: string,
    caller: Caller,
    lease: () => Promise<Lease>,
  ): Promise<ToolResult<readonly ToolDefinition[]>> {
    const state = await stateWith(this.#runtime, server, caller);
    // Approvals begin with the first list of a server.
    const known = await requireTools(state, server, caller);
    if (!known.success) return known;
    const { connection, release } = await lease();
    try {
      const { lists } = this.#runtime.downstreams;
      const { tools } = await lists.readTools(connection, await this.#definition(server));
      await state.vet?.(server, tools);
      return ok(tools.filter((tool) => state.policy.decide(server, tool).enabled));
    } finally {
      release();
    }
  }

  /**
   * How a server introduces itself to clients. One that needs approval has the name that it is configured by, and only
   * what is approved of its other words.
   */
  async introduction(server: string, identity: ServerIdentity, caller: Caller): Promise<Introduced> {
    if ((await this.#definition(server)).approval === undefined) return identity;
    const state = await stateWith(this.#runtime, server, caller);
    await requireTools(state, server, caller);
    const words = this.#runtime.downstreams.lists.introduction(identity);
    const isApproved = words && state.policy.decide(server, introductionDefinition(words)).enabled;
    const { instructions, ...serverInfo } = isApproved ? words : {};
    return { serverInfo, instructions: instructions as string | undefined };
  }

  /** Closes the connections of a client that has disconnected. */
  endSession(session: string): void {
    this.#runtime.downstreams.pool.endSession(session);
  }

  /** Calls back with everything servers send outside of calls. Returns a function that unsubscribes. */
  onNotification(listener: NotificationListener): () => void {
    return this.#runtime.downstreams.onNotification(listener);
  }

  /** The end of what a server wrote to stderr, without the secrets it was given. */
  log(server: string): string {
    return this.#runtime.downstreams.log(server);
  }

  /**
   * Logs in to a server, with a person at the screen. Resolves with where the key of the tokens is kept.
   */
  async logIn(server: string, screen: LoginScreen, wish?: LoginWish): Promise<KeyPlace> {
    return this.#runtime.downstreams.logins.logIn(await this.#definition(server), screen, wish);
  }

  /** Ends the login to a server. */
  async logOut(server: string, principal?: string): Promise<LogOut> {
    return this.#runtime.downstreams.logins.logOut(await this.#definition(server), principal);
  }

  async #definition(server: string): Promise<ServerDefinition> {
    const known = requireServer(await sharedState(this.#runtime), server);
    if (!known.success) throw new DiscoveryError(known.error.code, known.error.message, known.error);
    if (isProvider(known.data))
      throw new DiscoveryError(
        'SERVER_NOT_FOUND',
        `${server} is a provider of this program; there is no server to connect to.`,
      );
    return known.data;
  }
}

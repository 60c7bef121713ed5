/**
 * Opens, leases and closes connections to configured servers, and logs in to them.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';
import { requireServer } from '../catalog/tool-lookup.ts';
import type { Lease } from '../connections/connection-pool.ts';
import { DiscoveryError } from '../core/errors.ts';
import { isProvider } from '../core/tool-provider.ts';
import type { Caller, ServerDefinition } from '../core/types.ts';
import type { LoginScreen } from '../logins/login-flow.ts';
import type { KeyPlace } from '../logins/login-key.ts';
import type { LogOut } from '../logins/server-logins.ts';
import type { NotificationListener } from './downstreams.ts';
import type { EngineRuntime } from './engine-runtime.ts';
import { sharedState } from './seen-states.ts';

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

  /** Leases a connection to a server, to relay requests other than tool calls. Release it after use. */
  async lease(server: string, caller: Caller, signal?: CallSignal): Promise<Lease> {
    return this.#runtime.downstreams.acquire(await this.#definition(server), caller, signal);
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
   * Logs in to a server, with a person at the screen, and asks for `scopes` in place of the server's own. Resolves with
   * where the key of the tokens is kept.
   */
  async logIn(server: string, screen: LoginScreen, scopes?: readonly string[]): Promise<KeyPlace> {
    return this.#runtime.downstreams.logins.logIn(await this.#definition(server), screen, scopes);
  }

  /** Ends the login to a server. */
  async logOut(server: string): Promise<LogOut> {
    return this.#runtime.downstreams.logins.logOut(await this.#definition(server));
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

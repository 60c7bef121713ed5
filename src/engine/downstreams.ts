/**
 * Connects an engine to its servers: opens connections, sends calls and passes notifications on.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';
import type { Listing } from '../catalog/listing.ts';
import { paced } from '../catalog/paced.ts';
import { toServerError } from '../catalog/retry-policy.ts';
import { ConnectionPool, type Lease, ownerOf } from '../connections/connection-pool.ts';
import type { McpConnection } from '../connections/mcp-connection.ts';
import { definitionFor } from '../connections/user-credentials.ts';
import { wasAnswered } from '../connections/was-answered.ts';
import { noteConnect } from '../core/call-notes.ts';
import { DiscoveryError, ToolNotFoundError } from '../core/errors.ts';
import { withHop } from '../core/hops.ts';
import { DEFAULTS } from '../core/limits.ts';
import { ok } from '../core/result.ts';
import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { Caller, IdleClock, ItemRef, ServerDefinition, ServerStatus, ToolCall } from '../core/types.ts';
import { IDENTITY } from '../core/version.ts';
import { itemResult } from '../execution/item-tools.ts';
import type { Handler } from '../execution/pipeline.ts';
import type { SharedLogins } from '../logins/server-logins.ts';
import { redactData, redactFailure } from '../secrets/redact-data.ts';
import type { Redact } from '../secrets/redactor.ts';
import { EngineLogins } from './engine-logins.ts';
import { EngineSecrets } from './engine-secrets.ts';
import type { EngineState } from './engine-state.ts';
import type { EngineWorld } from './engine-world.ts';
import { ProviderSources } from './provider-sources.ts';
import { ServerLists } from './server-lists.ts';
import { ServerLogs } from './server-logs.ts';
import type { ListChange } from './shared-changes.ts';

/** Gets everything servers send outside of calls. `owner` is the user whose connection it came over, if it is one user's. */
export type NotificationListener = (
  server: string,
  method: string,
  params: Readonly<Record<string, unknown>>,
  owner: string | undefined,
) => void;

export class Downstreams {
  readonly pool: ConnectionPool;
  /** The program's own providers. */
  readonly providers: ProviderSources;
  /** Reads the lists of servers. */
  readonly lists: ServerLists;
  readonly logins: EngineLogins;
  readonly #world: EngineWorld;
  readonly #secrets: EngineSecrets;
  readonly #listeners = new Set<NotificationListener>();
  readonly #onToolsChanged: (server: string, owner: string | undefined) => void;
  readonly #stateOf: (server: string, caller: Caller | undefined) => EngineState | undefined;
  #state: EngineState | undefined;
  #logs: ServerLogs | undefined;

  /** `stateOf` finds the state of a source among those that the current request sees. */
  constructor(
    world: EngineWorld,
    onToolsChanged: (server: string, owner: string | undefined) => void,
    stateOf: (server: string, caller: Caller | undefined) => EngineState | undefined,
    cluster: { readonly logins: () => SharedLogins | undefined; readonly tell: (change: ListChange) => void },
  ) {
    this.#world = world;
    this.#onToolsChanged = onToolsChanged;
    this.#stateOf = stateOf;
    this.#secrets = new EngineSecrets(world.env);
    this.logins = new EngineLogins(world, this.#secrets, () => this.#state?.config.home ?? '', cluster.logins);
    this.providers = new ProviderSources(() => this.#state?.config.limits, world.now);
    this.pool = new ConnectionPool({
      open: (definition, request) => this.#open(definition, request),
      limits: this.#poolLimits(),
      now: world.elapsed,
      onNotification: (server, method, params, owner, isExclusive) => {
        if (LIST_CHANGED.has(method)) {
          const isOfTools = method === 'notifications/tools/list_changed';
          this.lists[isOfTools ? 'confirmed' : 'confirmedItems'].outdate(server);
          // The list of a relay's client is its own. Reading the list for all callers would start the server again.
          if (!isExclusive) this.#onToolsChanged(server, owner);
          const definition = this.#state?.servers.get(server)?.definition;
          if (definition && !isProvider(definition) && isLocal(definition.connection))
            cluster.tell({ server, method, owner });
        }
        this.notified(server, method, params, owner);
      },
    });
    this.lists = new ServerLists(world, this.#secrets, (definition) => this.pool.verdict(definition));
  }

  /**
   * Applies a new configuration: closes connections that no longer match it, and restores what was learnt about the
   * rest.
   */
  configure(state: EngineState): void {
    this.#state = state;
    const { home, limits } = state.config;
    if (this.#world.state !== 'memory')
      this.#logs ??= new ServerLogs({
        home,
        maxBytes: limits.stderr,
        redact: this.redact,
        onError: (error) => this.#world.logger.debug({}, `the stderr of servers cannot be saved: ${error.message}`),
      });
    this.#secrets.configure(state.config);
    const definitions = [...state.servers.values()].flatMap(({ definition }) =>
      isProvider(definition) ? [] : [definition],
    );
    this.pool.retain(definitions);
    for (const definition of definitions) {
      const verdict = state.catalog.state(definition.name)?.verdict;
      if (verdict) this.pool.remember(definition, verdict);
    }
    void this.followLogins();
  }

  /** Removes known secrets, and anything that looks like a credential, from a text. */
  get redact(): Redact {
    return this.#secrets.redact;
  }

  /** Keeps the token of a caller out of all texts from now on. */
  keepSecret(value: string): void {
    this.#secrets.known.learnPassing(value);
  }

  /** Expands a text that is a secret as a whole. */
  expandSecret(text: string, where: string): string {
    const expanded = this.#secrets.expand(text, where);
    this.#secrets.known.learn([expanded]);
    return expanded;
  }

  status(server: string, owner?: string): { readonly status: ServerStatus; readonly reason: string | undefined } {
    const { status, reason } = this.pool.status(server, owner);
    return { status, reason: reason && this.redact(reason) };
  }

  onNotification(listener: NotificationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Passes on what a server has sent outside of calls, here or at another replica. */
  notified(
    server: string,
    method: string,
    params: Parameters<NotificationListener>[2],
    owner: string | undefined,
  ): void {
    if (this.#listeners.size === 0) return;
    // Log messages may hold secrets. Other notifications hold only names and addresses.
    const said = method === 'notifications/message' ? redactData(params, this.redact) : params;
    for (const listener of this.#listeners) this.#tell(() => listener(server, method, said, owner));
  }

  /** The end of a server's stderr, without secrets. */
  log(server: string): string {
    return this.redact(this.pool.log(server));
  }

  /** Closes all connections for good and writes the servers' last output. */
  async close(): Promise<void> {
    await this.pool.close();
    await this.#logs?.flush();
  }

  /** Leases a connection. */
  async acquire(
    definition: ServerDefinition,
    caller: Caller | undefined,
    signal?: CallSignal,
    idleClock?: IdleClock,
  ): Promise<Lease> {
    if (this.#world.offline) throw offline(definition.name);
    try {
      return await this.pool.acquire(definition, caller, { signal, idleClock });
    } catch (error) {
      throw this.#secrets.hideIn(error, definition.name);
    }
  }

  /** Reads one source's tools: synchronously, if it is a provider that lists synchronously. */
  list(definition: SourceDefinition, caller: Caller | undefined): Listing | Promise<Listing> {
    return isProvider(definition) ? this.providers.list(definition) : this.#listServer(definition, caller);
  }

  /** Reads a server's tools. Its connection stays open until it is idle. */
  async #listServer(definition: ServerDefinition, caller: Caller | undefined): Promise<Listing> {
    await this.lists.turn(definition);
    const lease = await this.acquire(definition, caller);
    try {
      return await this.lists.read(lease.connection, definition, caller);
    } finally {
      lease.release();
    }
  }

  /** Sends a call to its source; the last step of the pipeline. */
  readonly invoke: Handler = async (call) => {
    const state = this.#stateOf(call.server, call.caller);
    const definition = state?.servers.get(call.server)?.definition;
    if (!state || !definition)
      throw new DiscoveryError('SERVER_NOT_FOUND', `Server "${call.server}" is no longer configured.`, {
        outcome: 'not_sent',
      });
    if (isProvider(definition)) {
      const result = this.providers.call(definition, call);
      // Refresh the list: otherwise a removed tool would be offered until the list expires.
      result.catch((error) => error?.code === 'TOOL_NOT_FOUND' && this.#onToolsChanged(call.server, undefined));
      return ok(await result);
    }
    // Almost every call finds an open connection.
    const lease = this.pool.borrow(definition, call.caller) ?? (await this.#connected(definition, call));
    const { connection } = lease;
    let unanswered = false;
    try {
      if (call.onNotification) connection.onNotification = call.onNotification;
      if (definition.approval)
        await (call.item
          ? this.#confirmItem(state, connection, call, call.item)
          : this.#confirm(state, connection, call));
      const isGateway = connection.identity.serverInfo.name === IDENTITY.name;
      const sent = isGateway ? { ...call, meta: withHop(call.meta, state.id) } : call;
      const answer = await connection.callTool(call.tool, call.arguments, sent);
      // A list from disk or from another replica was not read over this connection.
      if (this.#world.background) this.lists.subscribe(connection);
      const result = call.item && !call.item.isRaw ? itemResult(call.item.kind, answer) : answer;
      return ok(result.isError === true ? await paced(redactFailure(result, this.redact)) : result);
    } catch (error) {
      const isRefused = error instanceof DiscoveryError && error.code === 'TOOL_NOT_APPROVED';
      unanswered = !isRefused && !wasAnswered(error);
      if (error instanceof DiscoveryError && error.code === 'TOOL_NOT_FOUND' && call.item?.kind !== 'resource')
        this.#onToolsChanged(call.server, ownerOf(definition, call.caller));
      throw this.#secrets.hideIn(error, call.server);
    } finally {
      lease.release({ unanswered });
    }
  };

  /**
   * Throws unless the tool is approved as this connection lists it, and as the catalogue has it: both may have changed
   * since the call was looked up.
   */
  async #confirm(
    { policy, catalog, vet, sight }: EngineState,
    connection: McpConnection,
    call: ToolCall,
  ): Promise<void> {
    const { server, tool } = call;
    const listed = await this.lists.confirmed.definition(connection, tool).catch((error) => {
      const { code, message, details } = toServerError(error, server);
      throw new DiscoveryError(code, message, { ...details, tool, outcome: 'not_sent' });
    });
    if (listed === undefined) throw new ToolNotFoundError(server, tool);
    await vet?.(server, [listed]);
    for (const definition of [listed, catalog.definition(server, tool) ?? listed]) {
      const { enabled, code = 'TOOL_DISABLED', reason } = policy.decide(server, definition);
      if (enabled) continue;
      this.#onToolsChanged(server, sight?.owner);
      throw new DiscoveryError(code, reason, { server, tool, retryable: false, outcome: 'not_sent' });
    }
  }

  /** The same for a resource or a prompt. One that the connection does not list was decided on already. */
  async #confirmItem(
    { policy, vet, sight }: EngineState,
    connection: McpConnection,
    { server, tool }: ToolCall,
    { kind, id }: ItemRef,
  ): Promise<void> {
    const listed = await this.lists.confirmedItems.definition(connection, `${kind}:${id}`);
    if (listed === undefined) return;
    await vet?.(server, [listed]);
    const { enabled, code = 'TOOL_DISABLED', reason } = policy.decide(server, listed);
    if (enabled) return;
    this.#onToolsChanged(server, sight?.owner);
    throw new DiscoveryError(code, reason, { server, tool, retryable: false, outcome: 'not_sent' });
  }

  /** Connects for a call that found no open connection, and notes how long that took. */
  async #connected(definition: ServerDefinition, call: ToolCall): Promise<Lease> {
    const began = this.#world.elapsed();
    try {
      return await this.acquire(definition, call.caller, call.signal, call.idleClock);
    } finally {
      noteConnect(call, this.#world.elapsed() - began);
    }
  }

  /** Getters, so that a reload changes the limits. */
  #poolLimits() {
    const limits = () => this.#state?.config.limits;
    return {
      get spawns() {
        return limits()?.spawns ?? DEFAULTS.limits.spawns;
      },
      get localServers() {
        return limits()?.localServers ?? DEFAULTS.limits.localServers;
      },
      get idleMs() {
        return limits()?.idle ?? DEFAULTS.limits.idle;
      },
      get callIdleMs() {
        return limits()?.callIdle ?? DEFAULTS.limits.callIdle;
      },
    };
  }

  /** Calls a listener. A listener that throws does not affect the others. */
  #tell(listen: () => void): void {
    try {
      listen();
    } catch (error) {
      this.#world.logger.warn({ err: String(error) }, 'a listener for notifications threw');
    }
  }

  /** Reads logins again, and closes connections whose login has ended. */
  async followLogins(name?: string): Promise<void> {
    for (const server of await this.logins.reread(name)) await this.pool.close(server);
  }

  async #open(
    wanted: ServerDefinition,
    request: Parameters<ConstructorParameters<typeof ConnectionPool>[0]['open']>[1],
  ) {
    const limits = this.#state?.config.limits;
    if (!limits) throw new DiscoveryError('SHUTTING_DOWN', 'No configuration is loaded.');
    // Collects secrets now, with the values that the server receives.
    const secrets = this.#secrets.known;
    // Loaded when a server is first needed: most starts answer from the cache.
    const { openConnection } = await import('../connections/open-connection.ts');
    const definition = definitionFor(wanted, request.principal);
    const run = isLocal(definition.connection) ? this.#logs?.begin(definition.name, this.#world.now()) : undefined;
    let ended: (() => void) | undefined;
    try {
      const opened = await openConnection(definition, {
        ...request,
        credentials: await this.logins.credentials(definition, request.principal),
        onStderr: run?.write,
        onClose: (reason) => {
          run?.end(reason.message);
          ended?.();
          request.onClose(reason);
        },
        client: IDENTITY,
        env: this.#world.env,
        expand: (text, place) => this.#secrets.expand(text, `server "${definition.name}"`, place),
        secrets,
        limits: {
          pages: limits.listPages,
          tools: limits.toolsPerServer,
          definitionBytes: limits.definition,
          descriptionChars: limits.description,
          listPageMs: limits.listPage,
          listMs: limits.list,
          messageBytes: limits.message,
          messageValues: limits.messageValues,
          stderrBytes: limits.stderr,
        },
        fetch: this.#world.fetch,
      });
      if (!opened.connection.closed) ended = this.#world.observer?.connected?.(definition.name);
      return opened;
    } catch (error) {
      const told = this.#secrets.hideIn(error, definition.name);
      run?.end(told instanceof Error ? told.message : String(told));
      throw told;
    }
  }
}

const offline = (server: string): DiscoveryError =>
  new DiscoveryError('SERVER_UNAVAILABLE', `${server} was not contacted: the engine is offline.`, {
    server,
    retryable: false,
    outcome: 'not_sent',
  });

/** After any of these, a server's whole list is read again. */
const LIST_CHANGED: ReadonlySet<string> = new Set(
  ['tools', 'resources', 'prompts'].map((list) => `notifications/${list}/list_changed`),
);

/**
 * Connects an engine to its servers: opens connections, reads tool lists and passes notifications on.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';
import type { Listing } from '../catalog/listing.ts';
import { paced } from '../catalog/paced.ts';
import { toServerError } from '../catalog/retry-policy.ts';
import { expandReferences, lookUpReferences } from '../config/references.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { ConnectionPool, type Lease } from '../connections/connection-pool.ts';
import type { Credentials } from '../connections/credentials.ts';
import { fingerprint } from '../connections/fingerprint.ts';
import { JsonRpcError, METHOD_NOT_FOUND } from '../connections/json-rpc.ts';
import type { McpConnection } from '../connections/mcp-connection.ts';
import type { ToolList } from '../connections/tool-list.ts';
import { wasAnswered } from '../connections/was-answered.ts';
import { DiscoveryError, ToolNotFoundError } from '../core/errors.ts';
import { withHop } from '../core/hops.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { ok } from '../core/result.ts';
import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import { hasOwnToken, isLocal, mapTexts, transportParts } from '../core/transport-parts.ts';
import type {
  Caller,
  IdleClock,
  RateLimit,
  ServerDefinition,
  ServerItems,
  ServerStatus,
  ToolCall,
} from '../core/types.ts';
import { IDENTITY } from '../core/version.ts';
import { noteConnect } from '../execution/call-notes.ts';
import { itemResult } from '../execution/item-tools.ts';
import type { Handler } from '../execution/pipeline.ts';
import { TokenBucket } from '../execution/token-bucket.ts';
import type { LoginScreen } from '../logins/login-flow.ts';
import type { KeyPlace } from '../logins/login-key.ts';
import type { LoginTarget, LogOut, ServerLogins } from '../logins/server-logins.ts';
import { redactData, redactDefinitions, redactFailure } from '../secrets/redact-data.ts';
import { KnownSecrets, type Redact } from '../secrets/redactor.ts';
import { type Place, type ReferencedValue, secretsIn, secretsOf } from '../secrets/server-secrets.ts';
import { ConfirmedLists } from './confirmed-lists.ts';
import type { EngineState } from './engine-state.ts';
import type { EngineWorld } from './engine-world.ts';
import { ProviderSources } from './provider-sources.ts';
import { ServerLogs } from './server-logs.ts';

type NotificationListener = (server: string, method: string, params: Readonly<Record<string, unknown>>) => void;

export class Downstreams {
  readonly pool: ConnectionPool;
  /** The program's own providers. */
  readonly providers: ProviderSources;
  readonly #world: EngineWorld;
  readonly #listeners = new Set<NotificationListener>();
  readonly #subscribed = new WeakSet<McpConnection>();
  readonly #listings = new Map<string, TokenBucket>();
  /** What servers that need approval have listed, by connection. */
  readonly #confirmed: ConfirmedLists;
  readonly #onToolsChanged: (server: string) => void;
  readonly #stateOf: (server: string) => EngineState | undefined;
  #state: EngineState | undefined;
  readonly #secrets = new KnownSecrets();
  /**
   * The configuration whose secrets are not collected yet. With many servers this takes a while, and most starts need
   * no secrets.
   */
  #unread: ResolvedConfig | undefined;
  #logs: ServerLogs | undefined;
  #logins: Promise<ServerLogins> | undefined;

  /** `stateOf` finds the state of a source among those that the current request sees. */
  constructor(
    world: EngineWorld,
    onToolsChanged: (server: string) => void,
    stateOf: (server: string) => EngineState | undefined,
  ) {
    this.#world = world;
    this.#onToolsChanged = onToolsChanged;
    this.#stateOf = stateOf;
    this.#confirmed = new ConfirmedLists((connection) => this.#readTools(connection), world.elapsed);
    this.providers = new ProviderSources(() => this.#state?.config.limits, world.now);
    this.pool = new ConnectionPool({
      open: (definition, request) => this.#open(definition, request),
      limits: this.#poolLimits(),
      now: world.elapsed,
      onNotification: (server, method, params, isExclusive) => {
        if (method === 'notifications/tools/list_changed') this.#confirmed.outdate(server);
        // The list of a relay's client is its own. Reading the list for all callers would start the server again.
        if (LIST_CHANGED.has(method) && !isExclusive) this.#onToolsChanged(server);
        if (this.#listeners.size === 0) return;
        // Log messages may hold secrets. Other notifications hold only names and addresses.
        const said = method === 'notifications/message' ? redactData(params, this.redact) : params;
        for (const listener of this.#listeners) this.#tell(() => listener(server, method, said));
      },
    });
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
    // Secrets of an earlier configuration stay secret: its calls may still fail.
    this.#readSecrets();
    this.#unread = state.config;
    const definitions = [...state.servers.values()].flatMap(({ definition }) =>
      isProvider(definition) ? [] : [definition],
    );
    this.pool.retain(definitions);
    for (const definition of definitions) {
      const verdict = state.catalog.state(definition.name)?.verdict;
      if (verdict) this.pool.remember(definition, verdict);
    }
    void this.#rereadLogins();
  }

  /** Logs in to a server, with a person at the screen. Resolves with where the key of the tokens is kept. */
  async logIn(definition: ServerDefinition, screen: LoginScreen, scopes?: readonly string[]): Promise<KeyPlace> {
    const target = this.#loginTarget(definition, undefined);
    const settings = scopes ? { ...target.settings, scopes: [...scopes] } : target.settings;
    return (await this.#loadLogins()).logIn({ ...target, settings }, screen);
  }

  /** Ends the login to a server. */
  async logOut(definition: ServerDefinition): Promise<LogOut> {
    return (await this.#loadLogins()).logOut(this.#loginTarget(definition, undefined));
  }

  /** Removes known secrets, and anything that looks like a credential, from a text. */
  get redact(): Redact {
    this.#readSecrets();
    return this.#secrets.redactWords;
  }

  status(server: string): { readonly status: ServerStatus; readonly reason: string | undefined } {
    const { status, reason } = this.pool.status(server);
    return { status, reason: reason && this.redact(reason) };
  }

  onNotification(listener: NotificationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
      throw this.#withoutSecrets(error, definition.name);
    }
  }

  /** Reads one source's tools: synchronously, if it is a provider that lists synchronously. */
  list(definition: SourceDefinition, caller: Caller | undefined): Listing | Promise<Listing> {
    return isProvider(definition) ? this.providers.list(definition) : this.#listServer(definition, caller);
  }

  /** Reads a server's tools. Its connection stays open until it is idle. */
  async #listServer(definition: ServerDefinition, caller: Caller | undefined): Promise<Listing> {
    await this.listingTurn(definition);
    const lease = await this.acquire(definition, caller);
    try {
      return await this.listOver(lease.connection, definition, caller);
    } finally {
      lease.release();
    }
  }

  /** Reads a server's tools over an open connection. */
  async listOver(connection: McpConnection, definition: ServerDefinition, caller?: Caller): Promise<Listing> {
    try {
      const { serverInfo, instructions } = connection.identity;
      const { redact } = this.#secrets;
      const tools = this.readTools(connection, definition);
      const [list, { skipped, ...items }] = await Promise.all([tools, connection.listItems()]);
      return {
        server: definition.name,
        fingerprint: fingerprint(definition.connection),
        fetchedAt: this.#world.now(),
        ...list,
        items: await redactItems(items, redact),
        skipped: redactData([...list.skipped, ...skipped], this.redact),
        incomplete: list.incomplete && this.redact(list.incomplete),
        title: typeof serverInfo.title === 'string' ? redact.cut(serverInfo.title, 500) : undefined,
        serverVersion:
          typeof serverInfo.version === 'string' ? redact.cut(serverInfo.version, LIMITS.names.shown) : undefined,
        instructions: instructions === undefined ? undefined : redact.cut(instructions, 500),
        verdict: this.pool.verdict(definition),
        ...(caller?.ask && { interactive: true }),
      };
    } catch (error) {
      throw this.#withoutSecrets(error, definition.name);
    }
  }

  /** Reads a server's list over an open connection. */
  readTools(connection: McpConnection, { approval }: ServerDefinition): Promise<ToolList> {
    return approval ? this.#confirmed.read(connection) : this.#readTools(connection);
  }

  /** Reads a server's list, without the secrets it was given. */
  async #readTools(connection: McpConnection): Promise<ToolList> {
    // Subscribe first, so that no change between listing and subscribing is missed.
    this.subscribe(connection);
    const list = await listTools(connection);
    return { ...list, tools: await paced(redactDefinitions(list.tools, this.#secrets.redact)) };
  }

  /** Sends a call to its source; the last step of the pipeline. */
  readonly invoke: Handler = async (call) => {
    const state = this.#stateOf(call.server);
    const definition = state?.servers.get(call.server)?.definition;
    if (!state || !definition)
      throw new DiscoveryError('SERVER_NOT_FOUND', `Server "${call.server}" is no longer configured.`, {
        outcome: 'not_sent',
      });
    if (isProvider(definition)) {
      const result = this.providers.call(definition, call);
      // Refresh the list: otherwise a removed tool would be offered until the list expires.
      result.catch((error) => error?.code === 'TOOL_NOT_FOUND' && this.#onToolsChanged(call.server));
      return ok(await result);
    }
    // Almost every call finds an open connection.
    const lease = this.pool.borrow(definition, call.caller) ?? (await this.#connected(definition, call));
    const { connection } = lease;
    let unanswered = false;
    try {
      if (call.onNotification) connection.onNotification = call.onNotification;
      if (definition.approval && !call.item) await this.#confirm(state, connection, call);
      const isGateway = connection.identity.serverInfo.name === IDENTITY.name;
      const sent = isGateway ? { ...call, meta: withHop(call.meta, state.id) } : call;
      const answer = await connection.callTool(call.tool, call.arguments, sent);
      const result = call.item && !call.item.isRaw ? itemResult(call.item.kind, answer) : answer;
      return ok(result.isError === true ? await paced(redactFailure(result, this.redact)) : result);
    } catch (error) {
      const isRefused = error instanceof DiscoveryError && error.code === 'TOOL_NOT_APPROVED';
      unanswered = !isRefused && !wasAnswered(error);
      if (error instanceof DiscoveryError && error.code === 'TOOL_NOT_FOUND' && call.item?.kind !== 'resource')
        this.#onToolsChanged(call.server);
      throw this.#withoutSecrets(error, call.server);
    } finally {
      lease.release({ unanswered });
    }
  };

  /**
   * Throws unless the tool is approved as this connection lists it, and as the catalogue has it: both may have changed
   * since the call was looked up.
   */
  async #confirm({ policy, catalog }: EngineState, connection: McpConnection, call: ToolCall): Promise<void> {
    const { server, tool } = call;
    const listed = await this.#confirmed.definition(connection, tool).catch((error) => {
      const { code, message, details } = toServerError(error, server);
      throw new DiscoveryError(code, message, { ...details, tool, outcome: 'not_sent' });
    });
    if (listed === undefined) throw new ToolNotFoundError(server, tool);
    for (const definition of [listed, catalog.definition(server, tool) ?? listed]) {
      const { enabled, code = 'TOOL_DISABLED', reason } = policy.decide(server, definition);
      if (enabled) continue;
      this.#onToolsChanged(server);
      throw new DiscoveryError(code, reason, { server, tool, retryable: false, outcome: 'not_sent' });
    }
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

  /**
   * Waits for the turn to ask a server for its list. A local server waits only for a `rate` that a caller gives, which
   * holds until another one is given.
   */
  async listingTurn({ name, connection }: ServerDefinition, rate?: RateLimit): Promise<void> {
    const known = this.#listings.get(name);
    if (known === undefined && rate === undefined && isLocal(connection)) return;
    const now = this.#world.elapsed();
    const bucket = known ?? new TokenBucket(rate ?? DEFAULTS.listing, now);
    if (known && rate) known.change(rate, now);
    this.#listings.set(name, bucket);
    const wait = bucket.take(now, Number.POSITIVE_INFINITY) ?? 0;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait).unref());
  }

  /** Calls a listener. A listener that throws does not affect the others. */
  #tell(listen: () => void): void {
    try {
      listen();
    } catch (error) {
      this.#world.logger.warn({ err: String(error) }, 'a listener for notifications threw');
    }
  }

  /** Asks for announcements of changed lists, once for each connection. */
  subscribe(connection: McpConnection): void {
    if (this.#subscribed.has(connection)) return;
    this.#subscribed.add(connection);
    const { resources, prompts } = connection.identity.capabilities;
    connection.subscribe({
      toolsListChanged: true,
      ...(resources !== undefined && { resourcesListChanged: true }),
      ...(prompts !== undefined && { promptsListChanged: true }),
    });
  }

  #readSecrets(): void {
    if (this.#unread === undefined) return;
    const { servers, search } = this.#unread;
    this.#unread = undefined;
    const { env } = this.#world;
    const references = {
      env,
      lookUp: (text: string) => lookUpReferences(text, env),
    };
    this.#secrets.learn(secretsOf(servers, references, search.embedder));
  }

  /**
   * Expands the references in a text for a server. Every expanded value counts as a secret from now on, also a rotated
   * one.
   */
  #expand(text: string, where: string, place: Place = { name: '' }): string {
    const values: ReferencedValue[] = [];
    const expanded = expandReferences(text, this.#world.env, where, (value) => values.push(value));
    this.#secrets.learn(secretsIn({ expanded, values }, place));
    return expanded;
  }

  /** A person may have logged in or out since the logins were read. */
  async #rereadLogins(): Promise<void> {
    for (const server of (await (await this.#logins)?.reread()) ?? []) await this.pool.close(server);
  }

  #loadLogins(): Promise<ServerLogins> {
    this.#logins ??= import('../logins/server-logins.ts').then(
      ({ ServerLogins }) =>
        new ServerLogins({
          home: () => this.#state?.config.home ?? '',
          env: this.#world.env,
          learn: (secrets) => this.#secrets.learn(secrets),
          fetch: this.#world.fetch,
        }),
    );
    return this.#logins;
  }

  /** Returns what a login needs to know of a server, with references expanded. */
  #loginTarget({ name, connection }: ServerDefinition, principal: string | undefined): LoginTarget {
    const { opensWith } = transportParts(connection.type);
    if (isLocal(connection) || opensWith === undefined)
      throw new DiscoveryError(
        'VALIDATION_ERROR',
        `${name} is a program on this computer; there is nothing to log in to.`,
        { server: name },
      );
    if (hasOwnToken(connection))
      throw new DiscoveryError(
        'VALIDATION_ERROR',
        `The entry of ${name} says which token to send. Remove auth and the Authorization header to log in.`,
        { server: name },
      );
    const { url, oauth = {}, headers } = mapTexts(connection, (text) => this.#expand(text, `server "${name}"`));
    return {
      server: name,
      url: new URL(url).href,
      settings: oauth,
      headers: new Headers(headers),
      opensWith,
      principal,
    };
  }

  /** Returns the login of a user to a remote server. An engine that keeps nothing on disk has none. */
  async #credentials(definition: ServerDefinition, principal: string | undefined): Promise<Credentials | undefined> {
    const { connection } = definition;
    if (this.#world.state === 'memory' || isLocal(connection) || hasOwnToken(connection)) return undefined;
    let target: LoginTarget;
    try {
      target = this.#loginTarget(definition, principal);
    } catch {
      // What is wrong with the entry is reported when the connection opens.
      return undefined;
    }
    return (await this.#loadLogins()).credentials(target);
  }

  async #open(
    definition: ServerDefinition,
    request: Parameters<ConstructorParameters<typeof ConnectionPool>[0]['open']>[1],
  ) {
    const limits = this.#state?.config.limits;
    if (!limits) throw new DiscoveryError('SHUTTING_DOWN', 'No configuration is loaded.');
    // Collect secrets now, with the values that the server receives.
    this.#readSecrets();
    const { env } = this.#world;
    // Loaded when a server is first needed: most starts answer from the cache.
    const { openConnection } = await import('../connections/open-connection.ts');
    const run = isLocal(definition.connection) ? this.#logs?.begin(definition.name, this.#world.now()) : undefined;
    try {
      return await openConnection(definition, {
        ...request,
        credentials: await this.#credentials(definition, request.principal),
        onStderr: run?.write,
        onClose: (reason) => {
          run?.end(reason.message);
          request.onClose(reason);
        },
        client: IDENTITY,
        env,
        expand: (text, place) => this.#expand(text, `server "${definition.name}"`, place),
        secrets: this.#secrets,
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
    } catch (error) {
      const told = this.#withoutSecrets(error, definition.name);
      run?.end(told instanceof Error ? told.message : String(told));
      throw told;
    }
  }

  /** Redacts an error: a server may quote its secrets when it fails. */
  #withoutSecrets(error: unknown, server: string): unknown {
    if (!(error instanceof Error)) return error;
    const message = this.redact(error.message);
    // Clients of an exposed server get this error unchanged, apart from secrets.
    if (error instanceof JsonRpcError)
      return new JsonRpcError(error.code, message, redactData(error.data, this.redact));
    if (error instanceof DiscoveryError) {
      const cause = error.cause instanceof JsonRpcError ? this.#withoutSecrets(error.cause, server) : error.cause;
      if (message === error.message && cause === error.cause && error.server !== undefined) return error;
      return new DiscoveryError(error.code, message, { ...error.details, server, cause });
    }
    if (message !== error.message) error.message = message;
    return error;
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

async function redactItems(items: Partial<ServerItems>, redact: Redact): Promise<Partial<ServerItems>> {
  const lists = Object.entries(items).map(
    async ([list, entries]) => [list, await paced(redactDefinitions<object>(entries, redact))] as const,
  );
  return Object.fromEntries(await Promise.all(lists));
}

/** Lists tools. A server that does not know `tools/list` has none. */
async function listTools(connection: McpConnection) {
  try {
    return await connection.listTools();
  } catch (error) {
    if (error instanceof JsonRpcError && error.code === METHOD_NOT_FOUND)
      return { tools: [], skipped: [], incomplete: undefined };
    throw error;
  }
}

/**
 * Wires the modules of an engine and decides nothing itself. The gateway, the command line and the meta-tools use all
 * of it; programs use `DiscoveryEngine`, which shows less.
 *
 * Each agent request has two forms. `find`, `toolsOf`, `describe` and `call` return a `ToolResult` with the error for
 * the agent; `searchTools`, `listTools`, `getToolDetails` and `executeTool` are the plain forms.
 * @module
 */

import type { CallSignal } from '../async/cancellation.ts';
import type { CacheStats } from '../cache/caching-layer.ts';
import { withRate } from '../cache/lookup-counts.ts';
import { type Description, describeTool } from '../catalog/description.ts';
import { usableItems } from '../catalog/server-items.ts';
import { type Patience, requireServer, requireTools, requireUsableTool, resolveRef } from '../catalog/tool-lookup.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import type { Lease } from '../connections/connection-pool.ts';
import { DiscoveryError, type ErrorInfo } from '../core/errors.ts';
import { isLoop, LOOP_REFUSAL } from '../core/hops.ts';
import { LIMITS } from '../core/limits.ts';
import { fail, ok, type ToolResult, toFailure } from '../core/result.ts';
import { isProvider } from '../core/tool-provider.ts';
import type {
  Caller,
  CallToolResult,
  EmbedderStatus,
  ItemRef,
  SearchResult,
  ServerDefinition,
  ServerItems,
  ServerMetadata,
  ToolDefinition,
  ToolMetadata,
  ToolRef,
} from '../core/types.ts';
import type { ExecuteOptions, ExecutionEvents, RefusedCall } from '../execution/tool-executor.ts';
import type { LoginScreen } from '../logins/login-flow.ts';
import type { KeyPlace } from '../logins/login-key.ts';
import type { LogOut } from '../logins/server-logins.ts';
import type { RuleWarning } from '../rules/report.ts';
import type { Explanation } from '../search/explanation.ts';
import type { Redact } from '../secrets/redactor.ts';
import { CORE, type EngineHandle } from './engine-handle.ts';
import { ownTool } from './engine-own-tools.ts';
import { EngineRuntime, type ReloadOptions } from './engine-runtime.ts';
import type { EngineState, KnownSources } from './engine-state.ts';
import { type EngineConfig, type EngineOptions, realEngineWorld } from './engine-world.ts';
import { explainTool, type FindOptions, type FindResult, findTools, gatewayNotes } from './find-tools.ts';
import { findMeant } from './meant-tool.ts';
import { type PendingTool, pendingTools } from './pending-tools.ts';
import { probeServer, type ServerProbe } from './probe-server.ts';
import { type ReadListsOptions, readLists } from './read-lists.ts';
import { ruleWarnings } from './rule-warnings.ts';
import { serverOverview } from './server-overview.ts';
import { stateBefore } from './state-before.ts';

export type { FindOptions, FindResult } from './find-tools.ts';

/** The result of `executeTool`. */
export type ExecutionResult =
  | { readonly success: true; readonly result: CallToolResult }
  | { readonly success: false; readonly error: ErrorInfo };

/** A call as an agent wrote it. */
export interface CallRequest extends ExecuteOptions {
  readonly server: string;
  readonly tool: string;
  readonly arguments?: unknown;
}

/** The call of a relay: its tool is the one that the caller's own connection lists. */
export interface RelayedCall extends CallRequest {
  readonly definition?: ToolDefinition | undefined;
}

/** Serves the gateway, the command line and programs. */
export class EngineCore implements EngineHandle {
  readonly #runtime: EngineRuntime;
  readonly #beforeLoading: () => KnownSources;
  #before: KnownSources | undefined;

  /**
   * Takes a configuration as written by hand, or `configFile()`, and reads it on first use. The configuration decides
   * where state is kept, unless `defaultState` or `config.state` does.
   */
  constructor(config: EngineConfig, options: EngineOptions = {}, defaultState?: EngineConfig['state']) {
    const world = realEngineWorld(config, options, defaultState);
    this.#beforeLoading = () => stateBefore(config, world.providers);
    this.#runtime = new EngineRuntime(world);
  }

  get [CORE](): EngineCore {
    return this;
  }

  /** The parts, for the discovery service: another view of the same engine. */
  get runtime(): EngineRuntime {
    return this.#runtime;
  }

  /** The current state and the states of the request's own providers. Empty while nothing is loaded. */
  get states(): readonly EngineState[] {
    const state = this.#runtime.current?.state;
    return state === undefined ? [] : [state, ...this.#runtime.requests.beside(state)];
  }

  /**
   * Like `states`, after updating the lists of providers that list synchronously. While the configuration loads, returns
   * what is known without it.
   */
  get sourcesNow(): readonly KnownSources[] {
    const { states } = this;
    const { providers } = this.#runtime.downstreams;
    for (const state of states) providers.renew(state);
    if (states.length > 0 || this.problem) return states;
    this.#before ??= this.#beforeLoading();
    providers.renewBefore(this.#before);
    return [this.#before];
  }

  /** Resolves when the configuration is loaded. Rejects with its error. */
  async loaded(): Promise<void> {
    await this.#runtime.ready();
  }

  /** Reads missing lists, loads all definitions and builds the index. Resolves with the errors, by server. */
  async ready(options: ReadListsOptions = {}): Promise<ReadonlyMap<string, ErrorInfo>> {
    const failed = new Map<string, ErrorInfo>();
    for (const state of await this.#states()) {
      for (const [server, error] of await readLists(state, options)) failed.set(server, error);
      await Promise.all([...state.servers.keys()].map((server) => state.catalog.load(server)));
      // The first search builds the index, so make one.
      state.catalog.search.find('tool');
    }
    return failed;
  }

  /** All enabled servers with their state. Connects to none. */
  async listServers(): Promise<ServerMetadata[]> {
    return (await this.#states()).flatMap((state) => serverOverview(state, this.#runtime.downstreams));
  }

  /** Names of the enabled servers. */
  async serverNames(): Promise<string[]> {
    return [...(await this.#state()).servers.keys()];
  }

  /** Names of the servers that have not been listed yet. */
  async unseen(): Promise<string[]> {
    return (await this.#state()).discovery.unseen();
  }

  /** Reads missing lists, or all lists with `again`, while the caller waits. Resolves with the errors, by server. */
  async readLists(options: ReadListsOptions = {}): Promise<ReadonlyMap<string, ErrorInfo>> {
    const states = await this.#states();
    if (options.again) for (const server of options.servers ?? []) this.#runtime.downstreams.pool.retryNow(server);
    const failed = await Promise.all(states.map((state) => readLists(state, options)));
    return new Map(failed.flatMap((one) => [...one]));
  }

  /**
   * Connects to one server, reads its list, closes the connection and reports. The server's failure is part of the
   * report, never a rejection.
   */
  async probe(server: string, signal?: AbortSignal): Promise<ServerProbe> {
    return probeServer(await this.#state(), this.#runtime.downstreams, server, signal);
  }

  /** Resolves a server and a tool, as written by an agent or a person, from what is known. Asks no server. */
  async refOf(server: string, tool: string): Promise<ToolRef> {
    return resolveRef(await this.#state(), server, tool);
  }

  /** Like `refOf`, but asks a source for its list if the name is ambiguous. */
  async settledRef(server: string, tool: string, options: Patience = {}): Promise<ToolRef> {
    const [, ref] = await findMeant(await this.#states(), server, tool, options);
    return ref;
  }

  /** Forgets the cached lists of one server, or of all. Resolves with the names of those servers. */
  async forget(server?: string): Promise<ToolResult<readonly string[]>> {
    const state = await this.#state();
    const known = server === undefined ? undefined : requireServer(state, server);
    if (known?.success === false) return known;
    await Promise.all([state.catalog.forget(server), this.#runtime.embeddings.forget(server)]);
    return ok(server === undefined ? [...state.servers.keys()] : [server]);
  }

  /**
   * Searches all tools, or one server's. Waits briefly for servers that have no list yet, and names those still
   * missing.
   */
  async find(query: string, options: FindOptions = {}): Promise<ToolResult<FindResult>> {
    return findTools(this.#runtime, await this.#states(), query, options, (known) => this.#count(known));
  }

  /** Explains a tool's rank for a query: its words, similar meaning, and what was learnt. */
  async explain(
    query: string,
    server: string,
    tool: string,
    options: FindOptions = {},
  ): Promise<ToolResult<Explanation>> {
    return explainTool(this.#runtime, await this.#state(), query, { server, tool }, options);
  }

  /** One server's tools, by name. */
  async toolsOf(
    server: string,
    options: { includeDisabled?: boolean; caller?: Caller | undefined } = {},
  ): Promise<ToolResult<readonly ToolMetadata[]>> {
    const state = await this.#having(server);
    this.#count(state.catalog.isSeen(server));
    const listed = await requireTools(state, server, options.caller);
    if (!listed.success) return listed;
    state.discovery.refreshBehind([server], options.caller);
    this.#runtime.answered(state);
    return ok(state.catalog.tools(server, options.includeDisabled));
  }

  /** One server's enabled tools, as the server itself defines them. */
  async definitionsOf(
    server: string,
    options: { caller?: Caller | undefined } = {},
  ): Promise<ToolResult<readonly ToolDefinition[]>> {
    const listed = await this.toolsOf(server, options);
    if (!listed.success) return listed;
    const { catalog } = await this.#having(server);
    return ok(listed.data.flatMap(({ name }) => catalog.definition(server, name) ?? []));
  }

  /** One server's resources, resource templates and prompts that may be used, as the server itself lists them. */
  async serverItems(server: string, options: { caller?: Caller | undefined } = {}): Promise<ToolResult<ServerItems>> {
    const listed = await this.toolsOf(server, options);
    if (!listed.success) return listed;
    const { catalog } = await this.#having(server);
    return ok(usableItems(catalog.items(server), (kind, id) => catalog.decideItem(server, kind, id).enabled));
  }

  /**
   * One tool with its parameters and examples. With `examples`, generates one if there is none. Fails with
   * TOOL_DISABLED for a disabled tool.
   */
  async describe(
    server: string,
    tool: string,
    options: { caller?: Caller | undefined; examples?: boolean | undefined } = {},
  ): Promise<ToolResult<Description>> {
    if (!isName(server) || !isName(tool)) return NAMELESS;
    const [state, ref] = await findMeant(await this.#states(), server, tool, options);
    const own = ownTool(ref);
    if (own) return ok(describeTool(own, options.examples));
    this.#count(state.catalog.isSeen(ref.server));
    const found = await requireUsableTool(state, ref, options.caller);
    if (!found.success) return found;
    state.discovery.refreshBehind([ref.server], options.caller);
    this.#runtime.answered(state);
    const { definition, metadata } = found.data;
    const inferredOutput = this.#runtime.outputs.schemaOf(definition);
    return ok({ ...describeTool(metadata, options.examples), ...(inferredOutput && { inferredOutput }) });
  }

  /** Calls a tool through the whole pipeline. Never throws. */
  async call(request: RelayedCall): Promise<ToolResult<CallToolResult>> {
    const { server, tool, definition } = request;
    if (!isName(server) || !isName(tool)) return this.refuse(NAMELESS, request);
    const where = { server, tool, outcome: 'not_sent' } as const;
    try {
      const runtime = this.#runtime;
      const running = runtime.current ?? (await runtime.onTheWay(runtime.ready()));
      const { state } = running;
      const { proxy } = running.execution ?? (await runtime.onTheWay(runtime.execution(running)));
      if (isLoop(request.meta, state.id)) return await proxy.refuse(LOOP_REFUSAL, request);
      const isKnown = definition !== undefined || (state.providers.length === 0 && state.catalog.isLoaded(server));
      const meant = isKnown
        ? ok([state, definition ? { server, tool } : resolveRef(state, server, tool)] as const)
        : await runtime.onTheWay(
            findMeant(await this.#states(), server, tool, request).then(ok, (error) => toFailure(error, where)),
          );
      if (!meant.success) return await proxy.refuse(meant, request);
      const [owner, ref] = meant.data;
      runtime.answered(state);
      const isShared = owner === state;
      const options = isShared ? request : ofOneRequest(owner, request);
      const result = await proxy.execute(ref.server, ref.tool, request.arguments, options);
      if (isShared) runtime.usage?.settled(ref, request.caller, result);
      if (state.config.validation.observe && result.success)
        runtime.outputs.note(owner.catalog.definition(ref.server, ref.tool), result.data);
      return result;
    } catch (error) {
      return toFailure(error, where);
    }
  }

  /** Reads a resource or gets a prompt through the whole pipeline. The result is the server's own answer. Never throws. */
  async readItem(
    server: string,
    { kind, id }: ItemRef,
    request: Omit<CallRequest, 'server' | 'tool'> = {},
  ): Promise<ToolResult<CallToolResult>> {
    const tool = `${kind}:${id}`;
    try {
      const { proxy } = await this.#runtime.execution(await this.#runtime.ready());
      return await proxy.execute(server, tool, request.arguments, { ...request, item: { kind, id, isRaw: true } });
    } catch (error) {
      return toFailure(error, { server, tool, outcome: 'not_sent' });
    }
  }

  /** Tells whether the rules allow a resource or a prompt. */
  async allowsItem(server: string, { kind, id }: ItemRef, caller?: Caller): Promise<boolean> {
    const state = await this.#having(server);
    // Whether a server's items may be used depends on its tools.
    if (!state.catalog.isSeen(server)) await requireTools(state, server, caller);
    return state.catalog.decideItem(server, kind, id).enabled;
  }

  /** Records a call that was refused before it got here, and returns the refusal. */
  async refuse(refusal: ToolResult<never>, request: RefusedCall = {}): Promise<ToolResult<CallToolResult>> {
    try {
      const { proxy } = await this.#runtime.execution(await this.#runtime.ready());
      return await proxy.refuse(refusal, request);
    } catch (error) {
      // Without a configuration there is no audit log.
      return toFailure(error, { outcome: 'not_sent' });
    }
  }

  /** Tells whether a request with this `_meta` has passed through this gateway before. */
  async isLoop(meta: Readonly<Record<string, unknown>> | undefined): Promise<boolean> {
    return meta !== undefined && isLoop(meta, (await this.#runtime.ready()).state.id);
  }

  /** Like `call`, as events: progress, then exactly one result. Leaving the loop cancels the call. */
  async *executeStream(server: string, tool: string, args?: unknown, options: ExecuteOptions = {}): ExecutionEvents {
    if (!isName(server) || !isName(tool)) {
      yield { type: 'result', result: await this.refuse(NAMELESS, { ...options, server, tool }) };
      return;
    }
    try {
      const runtime = this.#runtime;
      const running = await runtime.onTheWay(runtime.ready());
      const [owner, ref] = await runtime.onTheWay(findMeant(await this.#states(), server, tool, options));
      const { proxy } = await runtime.onTheWay(runtime.execution(running));
      const isShared = owner === running.state;
      const events = proxy.executeStream(ref.server, ref.tool, args, isShared ? options : ofOneRequest(owner, options));
      yield* (isShared && runtime.usage?.watched(ref, options.caller, events)) || events;
    } catch (error) {
      yield { type: 'result', result: toFailure(error, { server, tool, outcome: 'not_sent' }) };
    }
  }

  /** The hits of `find`. Empty for an unknown server. */
  async searchTools(query: string, options: FindOptions = {}): Promise<SearchResult[]> {
    const found = await this.find(query, options);
    return found.success ? [...found.data.results] : [];
  }

  /** The tools of `toolsOf`. Empty for a server that is unknown or cannot be reached. */
  async listTools(server: string, includeDisabled = false): Promise<ToolMetadata[]> {
    const found = await this.toolsOf(server, { includeDisabled });
    return found.success ? [...found.data] : [];
  }

  /** The tool of `describe`. Null for a tool that is unknown or may not be used. */
  async getToolDetails(server: string, tool: string): Promise<ToolMetadata | null> {
    const found = await this.describe(server, tool);
    return found.success ? found.data : null;
  }

  /** `call` with positional arguments. */
  async executeTool(
    server: string,
    tool: string,
    args?: unknown,
    options: ExecuteOptions = {},
  ): Promise<ExecutionResult> {
    const result = await this.call({ server, tool, arguments: args, ...options });
    return result.success ? { success: true, result: result.data } : result;
  }

  /** The tools that wait for a person, from the lists that are known. */
  async pending(server?: string): Promise<readonly PendingTool[]> {
    return pendingTools(await this.#state(), server);
  }

  /**
   * Approves definitions of a server exactly as they are handed in, from the next reload on. Resolves with the names of
   * those that are too large to be approved.
   */
  async approve(server: string, definitions: readonly ToolDefinition[]): Promise<readonly string[]> {
    return (await (await this.#state()).approvals?.approve(server, definitions)) ?? [];
  }

  /** A server as it lists itself: its version and every definition, whether it may be used or not. */
  async listed(
    server: string,
  ): Promise<{ readonly version?: string | undefined; readonly tools: readonly ToolDefinition[] }> {
    const { catalog } = await this.#state();
    await catalog.load(server);
    return { version: catalog.state(server)?.serverVersion, tools: catalog.definitions(server) };
  }

  /** Why earlier approvals do not count, or will not be remembered. */
  approvalProblems(): readonly string[] {
    return this.#runtime.current?.state.approvals?.problems ?? [];
  }

  /**
   * The embedder's progress, and why it is not in use. Undefined without an embedder. With `complete`, first reads all
   * tools.
   */
  embedder(complete = false, signal?: AbortSignal): Promise<EmbedderStatus | undefined> {
    return this.#runtime.embedder(complete, signal);
  }

  /** Rules that are shadowed or match nothing, among the tools known so far. */
  async ruleWarnings(): Promise<RuleWarning[]> {
    return ruleWarnings(await this.#state());
  }

  /** Notes about the whole gateway, for an agent. */
  notes(): string[] {
    return gatewayNotes(this.#runtime.current?.state);
  }

  /**
   * Cache hits and misses of all gateways that share the cache folder, over the last thirty days or since `since`. A hit
   * is an answer that needed no server.
   */
  async cacheStats(since?: number): Promise<CacheStats> {
    await this.#state();
    return withRate((await this.#runtime.lookups?.read(since)) ?? { hits: 0, misses: 0 });
  }

  /** Removes the secrets of all servers, and credentials in general, from a text. */
  get redact(): Redact {
    return this.#runtime.downstreams.redact;
  }

  /** The end of what a server wrote to stderr, without the secrets it was given. */
  serverLog(server: string): string {
    return this.#runtime.downstreams.log(server);
  }

  /**
   * Loads the configuration again and replaces the current one. `ifChanged` skips a configuration that is equal;
   * `confirm` may reject one. Resolves with true if it was replaced. On an error the current one stays and the error is
   * thrown.
   */
  reload(options: ReloadOptions = {}): Promise<boolean> {
    return this.#runtime.reload(options);
  }

  /** Why no configuration is in force, if loading failed; otherwise undefined. A reload may fix it. */
  get problem(): ErrorInfo | undefined {
    return this.#runtime.problem;
  }

  stateFolder(): Promise<string> {
    return this.#runtime.stateFolder();
  }

  /** The files that the last load read or looked for, each with its signature. */
  async reads(): Promise<ReadonlyMap<string, string>> {
    await this.#runtime.ready().catch(() => undefined);
    return this.#runtime.reads;
  }

  /** Calls back when tool lists change, by a reload or otherwise. Returns a function that unsubscribes. */
  onToolsChanged(listener: (isReload: boolean, server?: string) => void): () => void {
    return this.#runtime.onToolsChanged(listener);
  }

  /** Calls back after every reload. Returns a function that unsubscribes. */
  onReload(listener: () => void): () => void {
    return this.#runtime.onReload(listener);
  }

  /** The configuration in force. Its secrets are still references. */
  async getConfig(): Promise<ResolvedConfig> {
    return (await this.#state()).config;
  }

  /**
   * Logs in to a server, with a person at the screen, and asks for `scopes` in place of the server's own. Resolves with
   * where the key of the tokens is kept.
   */
  async logIn(server: string, screen: LoginScreen, scopes?: readonly string[]): Promise<KeyPlace> {
    const definition = await this.#definition(server);
    return this.#runtime.downstreams.logIn(definition, screen, scopes);
  }

  /** Ends the login to a server. */
  async logOut(server: string): Promise<LogOut> {
    return this.#runtime.downstreams.logOut(await this.#definition(server));
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
    const { downstreams } = this.#runtime;
    const lease = await downstreams.acquire(await this.#definition(server), caller, signal);
    downstreams.subscribe(lease.connection);
    return lease;
  }

  /**
   * The tools that a server lists over the caller's own connection and that may be used, in the server's order. `lease`
   * leases that connection.
   */
  async toolsOver(
    server: string,
    caller: Caller,
    lease: () => Promise<Lease>,
  ): Promise<ToolResult<readonly ToolDefinition[]>> {
    const state = await this.#having(server);
    // Approvals begin with the first list of a server.
    const known = await requireTools(state, server, caller);
    if (!known.success) return known;
    const { connection, release } = await lease();
    try {
      const { tools } = await this.#runtime.downstreams.readTools(connection, await this.#definition(server));
      return ok(tools.filter((tool) => state.policy.decide(server, tool).enabled));
    } finally {
      release();
    }
  }

  /** One tool that may be used, as its server defines it. */
  async definitionOf(server: string, tool: string, caller?: Caller): Promise<ToolResult<ToolDefinition>> {
    const found = await requireUsableTool(await this.#having(server), { server, tool }, caller);
    return found.success ? ok(found.data.definition) : found;
  }

  /** Calls back with everything servers send outside of calls. */
  onNotification(
    listener: (server: string, method: string, params: Readonly<Record<string, unknown>>) => void,
  ): () => void {
    return this.#runtime.downstreams.onNotification(listener);
  }

  /** Closes the connections of a client that has disconnected. */
  endSession(session: string): void {
    this.#runtime.downstreams.pool.endSession(session);
  }

  /** Closes connections and processes and saves state. Running calls get a grace period. */
  close(): Promise<void> {
    return this.#runtime.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #definition(server: string): Promise<ServerDefinition> {
    const known = requireServer(await this.#state(), server);
    if (!known.success) throw new DiscoveryError(known.error.code, known.error.message, known.error);
    if (isProvider(known.data))
      throw new DiscoveryError(
        'SERVER_NOT_FOUND',
        `${server} is a provider of this program; there is no server to connect to.`,
      );
    return known.data;
  }

  async #state(): Promise<EngineState> {
    return (await this.#runtime.ready()).state;
  }

  /** The shared state, then those of the current request. Reads the changed lists of providers again. */
  async #states(): Promise<readonly EngineState[]> {
    const state = await this.#state();
    const states = [state, ...this.#runtime.requests.beside(state)];
    for (const one of states) if (one.providers.length > 0) await this.#runtime.downstreams.providers.renewed(one);
    return states;
  }

  /** The state that contains a server. */
  async #having(server: string): Promise<EngineState> {
    const states = await this.#states();
    return states.find(({ servers }) => servers.has(server)) ?? (states[0] as EngineState);
  }

  #count(hit: boolean): void {
    this.#runtime.count(hit);
  }
}

/** Counts calls to a request's own source separately from other sources of the same name. */
const ofOneRequest = <T extends ExecuteOptions>({ servers }: EngineState, options: T): T => ({
  ...options,
  gate: [...servers.values()][0]?.fingerprint,
});

const isName = (written: unknown): boolean => typeof written === 'string' && written.length <= LIMITS.names.qualified;

const NAMELESS = fail(
  'VALIDATION_ERROR',
  `A call needs a server and a tool, each a string of at most ${LIMITS.names.qualified} characters.`,
  { outcome: 'not_sent' },
);

/**
 * Wires the modules of an engine and decides nothing itself. The gateway, the command line and the meta-tools use all
 * of it; programs use `DiscoveryEngine`, which shows less.
 *
 * Each agent request has two forms. `find`, `toolsOf`, `describe` and `call` return a `ToolResult` with the error for
 * the agent; `searchTools`, `listTools`, `getToolDetails` and `executeTool` are the plain forms.
 * @module
 */

import type { CacheStats } from '../cache/caching-layer.ts';
import { withRate } from '../cache/lookup-counts.ts';
import type { Description } from '../catalog/description.ts';
import { type Patience, requireServer, resolveRef } from '../catalog/tool-lookup.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import type { ErrorInfo } from '../core/errors.ts';
import { ok, type ToolResult } from '../core/result.ts';
import type {
  Caller,
  CallToolResult,
  EmbedderStatus,
  SearchResult,
  ServerMetadata,
  ToolDefinition,
  ToolMetadata,
  ToolRef,
} from '../core/types.ts';
import type { ExecuteOptions, ExecutionEvents, RefusedCall } from '../execution/tool-executor.ts';
import type { RuleWarning } from '../rules/report.ts';
import type { Explanation } from '../search/explanation.ts';
import type { Redact } from '../secrets/redactor.ts';
import { EngineApprovals } from './engine-approvals.ts';
import { EngineCalls, type RelayedCall } from './engine-calls.ts';
import { EngineConnections } from './engine-connections.ts';
import { CORE, type EngineHandle } from './engine-handle.ts';
import { EngineItems } from './engine-items.ts';
import { EngineRuntime, type ReloadOptions } from './engine-runtime.ts';
import type { EngineState, KnownSources } from './engine-state.ts';
import { type EngineConfig, type EngineOptions, realEngineWorld } from './engine-world.ts';
import { explainTool, type FindOptions, type FindResult, findTools, gatewayNotes } from './find-tools.ts';
import { findMeant } from './meant-tool.ts';
import { type PinnedTool, pinnedTools, pinsAnyOf } from './pinned-tools.ts';
import { probeServer, type ServerProbe } from './probe-server.ts';
import { type Exposure, exposureFor, sees } from './profile-parts.ts';
import { type ReadListsOptions, readLists } from './read-lists.ts';
import { ruleWarnings } from './rule-warnings.ts';
import { seenStates, sharedState } from './seen-states.ts';
import { serverOverview } from './server-overview.ts';
import { definitionOf, definitionsOf, describe, type ShowOptions, toolsOf } from './show-tools.ts';
import { stateBefore } from './state-before.ts';

/** The result of `executeTool`. */
export type ExecutionResult =
  | { readonly success: true; readonly result: CallToolResult }
  | { readonly success: false; readonly error: ErrorInfo };

/** Tells whether something concerns a caller. */
type IsFor = (caller: Caller) => boolean;

/** Serves the gateway, the command line and programs. */
export class EngineCore implements EngineHandle {
  /** The tools that wait for a person. */
  readonly approvals: EngineApprovals;
  /** Connections to servers, and logins. */
  readonly connections: EngineConnections;
  /** Resources and prompts. */
  readonly items: EngineItems;
  readonly #calls: EngineCalls;
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
    this.approvals = new EngineApprovals(this.#runtime);
    this.connections = new EngineConnections(this.#runtime);
    this.items = new EngineItems(this.#runtime);
    this.#calls = new EngineCalls(this.#runtime);
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

  /** Loads what the first call needs, so that it does not wait for that. Starts no server. */
  async loadAhead(): Promise<void> {
    const running = await this.#runtime.ready();
    await this.#runtime.executions.of(running);
    const { loadTransports } = await import('../connections/open-connection.ts');
    const used = running.state.config.servers.filter(({ enabled }) => enabled);
    await loadTransports(used.map(({ connection }) => connection.type));
  }

  /** Reads missing lists, loads all definitions and builds the index. Resolves with the errors, by server. */
  async ready(options: ReadListsOptions = {}): Promise<ReadonlyMap<string, ErrorInfo>> {
    const failed = new Map<string, ErrorInfo>();
    for (const state of await seenStates(this.#runtime)) {
      for (const [server, error] of await readLists(state, options)) failed.set(server, error);
      await Promise.all([...state.servers.keys()].map((server) => state.catalog.load(server)));
      // The first search builds the index, so make one.
      state.catalog.search.find('tool');
    }
    return failed;
  }

  /** All enabled servers that a caller sees, with their state. Connects to none. */
  async listServers({ caller }: ShowOptions = {}): Promise<ServerMetadata[]> {
    return (await seenStates(this.#runtime, caller)).flatMap((state) =>
      serverOverview(state, this.#runtime.downstreams),
    );
  }

  /** Names of the enabled servers that a caller sees. */
  async serverNames({ caller }: ShowOptions = {}): Promise<string[]> {
    const base = await sharedState(this.#runtime);
    const seen = (await this.#runtime.profiles.of(base, caller)) ?? [base];
    return seen.flatMap(({ servers }) => [...servers.keys()]);
  }

  /** The tools that a caller's clients see beside the five, by the name they have there. */
  pinned({ caller }: ShowOptions = {}): Promise<ReadonlyMap<string, PinnedTool>> {
    return pinnedTools(this.#runtime, caller);
  }

  /**
   * Calls back when clients of some callers should list the tools of the gateway again, with which callers. Returns a
   * function that unsubscribes.
   */
  onShownTools(listener: (isFor: IsFor) => void): () => void {
    return this.onToolsChanged((server, isFor) => {
      const state = this.#runtime.current?.state;
      if (server === undefined) listener(isFor);
      else if (state) listener((caller) => isFor(caller) && pinsAnyOf(state, server, caller));
    });
  }

  /** What the clients of a caller see under its own name, beside or instead of the five tools. */
  exposure(caller: Caller): Exposure | undefined {
    const state = this.#runtime.current?.state;
    return state && exposureFor(state, caller);
  }

  /** Whether the configuration has a profile of this name. */
  hasProfile(name: string): boolean {
    return this.#runtime.current?.state.profiles.has(name) ?? false;
  }

  /** Names of the servers that have not been listed yet. */
  async unseen(): Promise<string[]> {
    return (await sharedState(this.#runtime)).discovery.unseen();
  }

  /** Reads missing lists, or all lists with `again`, while the caller waits. Resolves with the errors, by server. */
  async readLists(options: ReadListsOptions = {}): Promise<ReadonlyMap<string, ErrorInfo>> {
    const states = await seenStates(this.#runtime, options.caller);
    if (options.again) for (const server of options.servers ?? []) this.#runtime.downstreams.pool.retryNow(server);
    const failed = await Promise.all(states.map((state) => readLists(state, options)));
    return new Map(failed.flatMap((one) => [...one]));
  }

  /**
   * Connects to one server, reads its list, closes the connection and reports. The server's failure is part of the
   * report, never a rejection.
   */
  async probe(server: string, signal?: AbortSignal): Promise<ServerProbe> {
    return probeServer(await sharedState(this.#runtime), this.#runtime.downstreams, server, signal);
  }

  /** Resolves a server and a tool, as written by an agent or a person, from what is known. Asks no server. */
  async refOf(server: string, tool: string): Promise<ToolRef> {
    return resolveRef(await sharedState(this.#runtime), server, tool);
  }

  /** Like `refOf`, but asks a source for its list if the name is ambiguous. */
  async settledRef(server: string, tool: string, options: Patience = {}): Promise<ToolRef> {
    const [, ref] = await findMeant(await seenStates(this.#runtime, options.caller), server, tool, options);
    return ref;
  }

  /** Forgets the cached lists of one server, or of all. Resolves with the names of those servers. */
  async forget(server?: string): Promise<ToolResult<readonly string[]>> {
    const state = await sharedState(this.#runtime);
    const known = server === undefined ? undefined : requireServer(state, server);
    if (known?.success === false) return known;
    await Promise.all([
      state.catalog.forget(server),
      this.#runtime.profiles.forget(state, server),
      this.#runtime.embeddings.forget(server),
    ]);
    const forgotten = server === undefined ? [...state.servers.keys()] : [server];
    // What another replica has read before does not take its place.
    for (const name of forgotten) state.discovery.demand(name);
    return ok(forgotten);
  }

  /**
   * Searches all tools, or one server's. Waits briefly for servers that have no list yet, and names those still
   * missing.
   */
  async find(query: string, options: FindOptions = {}): Promise<ToolResult<FindResult>> {
    return findTools(this.#runtime, await seenStates(this.#runtime, options.caller), query, options);
  }

  /** Explains a tool's rank for a query: its words, similar meaning, and what was learnt. */
  async explain(
    query: string,
    server: string,
    tool: string,
    options: FindOptions = {},
  ): Promise<ToolResult<Explanation>> {
    return explainTool(this.#runtime, await sharedState(this.#runtime), query, { server, tool }, options);
  }

  /** One server's tools, by name. */
  toolsOf(
    server: string,
    options: ShowOptions & { includeDisabled?: boolean } = {},
  ): Promise<ToolResult<readonly ToolMetadata[]>> {
    return toolsOf(this.#runtime, server, options);
  }

  /** One server's enabled tools, as the server itself defines them. */
  definitionsOf(server: string, options: ShowOptions = {}): Promise<ToolResult<readonly ToolDefinition[]>> {
    return definitionsOf(this.#runtime, server, options);
  }

  /** One tool that may be used, as its server defines it. */
  definitionOf(server: string, tool: string, options: ShowOptions = {}): Promise<ToolResult<ToolDefinition>> {
    return definitionOf(this.#runtime, server, tool, options);
  }

  /**
   * One tool with its parameters and examples. With `examples`, generates one if there is none. Fails with
   * TOOL_DISABLED for a disabled tool.
   */
  describe(
    server: string,
    tool: string,
    options: ShowOptions & { examples?: boolean | undefined } = {},
  ): Promise<ToolResult<Description>> {
    return describe(this.#runtime, server, tool, options);
  }

  /** Calls a tool through the whole pipeline. Never throws. */
  call(request: RelayedCall): Promise<ToolResult<CallToolResult>> {
    return this.#calls.call(request);
  }

  /** Like `call`, as events: progress, then exactly one result. Leaving the loop cancels the call. */
  executeStream(server: string, tool: string, args?: unknown, options: ExecuteOptions = {}): ExecutionEvents {
    return this.#calls.stream(server, tool, args, options);
  }

  /** Records a call that was refused before it got here, and returns the refusal. */
  refuse(refusal: ToolResult<never>, request?: RefusedCall): Promise<ToolResult<CallToolResult>> {
    return this.#calls.refuse(refusal, request);
  }

  /** Tells whether a request with this `_meta` has passed through this gateway before. */
  isLoop(meta: Readonly<Record<string, unknown>> | undefined): Promise<boolean> {
    return this.#calls.isLoop(meta);
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

  /**
   * The embedder's progress, and why it is not in use. Undefined without an embedder. With `complete`, first reads all
   * tools.
   */
  embedder(complete = false, signal?: AbortSignal): Promise<EmbedderStatus | undefined> {
    return this.#runtime.embedder(complete, signal);
  }

  /** Rules that are shadowed or match nothing, among the tools known so far. */
  async ruleWarnings(): Promise<RuleWarning[]> {
    return ruleWarnings(await sharedState(this.#runtime));
  }

  /** Notes about the whole gateway, for an agent. */
  notes({ caller }: ShowOptions = {}): string[] {
    const base = this.#runtime.current?.state;
    return gatewayNotes(base && (this.#runtime.profiles.now(base, caller)?.[0] ?? base));
  }

  /**
   * Cache hits and misses of all gateways that share the cache folder, over the last thirty days or since `since`. A hit
   * is an answer that needed no server.
   */
  async cacheStats(since?: number): Promise<CacheStats> {
    await sharedState(this.#runtime);
    return withRate((await this.#runtime.lookups?.read(since)) ?? { hits: 0, misses: 0 });
  }

  /** Removes the secrets of all servers, and credentials in general, from a text. */
  get redact(): Redact {
    return this.#runtime.downstreams.redact;
  }

  /** Keeps a value out of all texts from now on. */
  keepSecret(value: string): void {
    this.#runtime.downstreams.keepSecret(value);
  }

  /** The identity provider of the configuration in force, with references expanded. */
  async identityProvider(): Promise<ResolvedConfig['auth']> {
    const { auth } = await this.getConfig();
    if (!auth?.introspection) return auth;
    const clientSecret = this.#runtime.downstreams.expandSecret(auth.introspection.clientSecret, 'auth.introspection');
    return { ...auth, introspection: { ...auth.introspection, clientSecret } };
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

  /**
   * Calls back after a reload, and when the list of a server has changed for some callers. Returns a function that
   * unsubscribes.
   */
  onToolsChanged(listener: (server: string | undefined, isFor: IsFor) => void): () => void {
    return this.#runtime.listeners.onToolsChanged((server, sight) => {
      const state = this.#runtime.current?.state;
      listener(server, (caller) => server === undefined || (state !== undefined && sees(state, caller, sight)));
    });
  }

  /** Calls back after every reload. Returns a function that unsubscribes. */
  onReload(listener: () => void): () => void {
    return this.#runtime.listeners.onReload(listener);
  }

  /** The configuration in force. Its secrets are still references. */
  async getConfig(): Promise<ResolvedConfig> {
    return (await sharedState(this.#runtime)).config;
  }

  /** Closes connections and processes and saves state. Running calls get a grace period. */
  close(): Promise<void> {
    return this.#runtime.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

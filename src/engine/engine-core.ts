/**
 * Wires the modules of an engine and decides nothing itself. The gateway, the command line and the meta-tools use it as it
 * is; programs use `DiscoveryEngine`, which shows less of it.
 *
 * What an agent can ask for comes in two forms. `find`, `toolsOf`, `describe` and `call` return a `ToolResult` with the
 * error the agent should see; `searchTools`, `listTools`, `getToolDetails` and `executeTool` are the plain forms.
 * @module
 */

import type { CallSignal } from '../async/cancellation.ts';
import type { CacheStats } from '../cache/caching-layer.ts';
import { withRate } from '../cache/lookup-counts.ts';
import { type Description, describeTool } from '../catalog/description.ts';
import {
  type Patience,
  requireServer,
  requireTools,
  requireUsableTool,
  resolveRef,
  settleRef,
} from '../catalog/tool-lookup.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import type { Lease } from '../connections/connection-pool.ts';
import { DiscoveryError, type ErrorInfo } from '../core/errors.ts';
import { isLoop, LOOP_REFUSAL } from '../core/hops.ts';
import { OWN_SERVER } from '../core/own-server.ts';
import { fail, ok, type ToolResult, toFailure } from '../core/result.ts';
import { isProvider } from '../core/tool-provider.ts';
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
import type { ExecuteOptions, ExecutionEvent, RefusedCall } from '../execution/tool-executor.ts';
import type { RuleWarning } from '../rules/report.ts';
import type { Explanation } from '../search/explanation.ts';
import { CORE, type EngineHandle } from './engine-handle.ts';
import { ownTool } from './engine-own-tools.ts';
import { EngineRuntime, type ReloadOptions } from './engine-runtime.ts';
import type { EngineState } from './engine-state.ts';
import { type EngineConfig, type EngineOptions, realEngineWorld } from './engine-world.ts';
import { explainTool, type FindOptions, type FindResult, findTools, gatewayNotes } from './find-tools.ts';
import { probeServer, type ServerProbe } from './probe-server.ts';
import { type ReadListsOptions, readLists } from './read-lists.ts';
import { ruleWarnings } from './rule-warnings.ts';
import { serverOverview } from './server-overview.ts';

export type { FindOptions, FindResult } from './find-tools.ts';

/** What `executeTool` gives back. */
export type ExecutionResult =
  | { readonly success: true; readonly result: CallToolResult }
  | { readonly success: false; readonly error: ErrorInfo };

/** A call as an agent wrote it. */
export interface CallRequest extends ExecuteOptions {
  readonly server: string;
  readonly tool: string;
  readonly arguments?: unknown;
}

/** One engine serves the gateway, the command line and programs. */
export class EngineCore implements EngineHandle {
  readonly #runtime: EngineRuntime;

  /** Takes a configuration as people write it, or `configFile()`, which loads one; reads it on first use. State is kept as the configuration says, unless `defaultState` or `config.state` says otherwise. */
  constructor(config: EngineConfig, options: EngineOptions = {}, defaultState?: EngineConfig['state']) {
    this.#runtime = new EngineRuntime(realEngineWorld(config, options, defaultState));
  }

  get [CORE](): EngineCore {
    return this;
  }

  /** What is in force now, and what the request being served brings along; none while nothing is loaded. */
  get states(): readonly EngineState[] {
    const state = this.#runtime.current?.state;
    return state === undefined ? [] : [state, ...this.#runtime.requests.beside(state)];
  }

  /** Reads the lists that nobody has seen, brings all definitions into memory and builds the index. Resolves with what went wrong, by server. */
  async ready(options: ReadListsOptions = {}): Promise<ReadonlyMap<string, ErrorInfo>> {
    const failed = new Map<string, ErrorInfo>();
    for (const state of await this.#states()) {
      for (const [server, error] of await readLists(state, options)) failed.set(server, error);
      await Promise.all([...state.servers.keys()].map((server) => state.catalog.load(server)));
      // Building is left to the first search: this is one.
      state.catalog.search.find('tool');
    }
    return failed;
  }

  /** All servers that are switched on, with what is known of them. Connects to none. */
  async listServers(): Promise<ServerMetadata[]> {
    return (await this.#states()).flatMap((state) => serverOverview(state, this.#runtime.downstreams));
  }

  /** Names of the servers that are switched on. */
  async serverNames(): Promise<string[]> {
    return [...(await this.#state()).servers.keys()];
  }

  /** Names of the servers whose tools nobody has seen yet. */
  async unseen(): Promise<string[]> {
    return (await this.#state()).discovery.unseen();
  }

  /** Reads lists nobody has seen, or with `again` all of them, while the caller waits. Resolves with what went wrong, by server. */
  async readLists(options: ReadListsOptions = {}): Promise<ReadonlyMap<string, ErrorInfo>> {
    const states = await this.#states();
    if (options.again) for (const server of options.servers ?? []) this.#runtime.downstreams.pool.retryNow(server);
    const failed = await Promise.all(states.map((state) => readLists(state, options)));
    return new Map(failed.flatMap((one) => [...one]));
  }

  /** Connects to one server, reads its list, closes it, and says how that went. Never rejects because of the server. */
  async probe(server: string, signal?: AbortSignal): Promise<ServerProbe> {
    return probeServer(await this.#state(), this.#runtime.downstreams, server, signal);
  }

  /** The pair that is meant by a server and a tool as an agent or a person wrote them, as far as is known without asking. */
  async refOf(server: string, tool: string): Promise<ToolRef> {
    return resolveRef(await this.#state(), server, tool);
  }

  /** The same; a source is asked for its list where the name could be read in two ways. */
  async settledRef(server: string, tool: string, options: Patience = {}): Promise<ToolRef> {
    const [, ref] = await this.#meant(await this.#states(), server, tool, options);
    return ref;
  }

  /** Forgets the lists that were kept of one server, or of all. Resolves with the names of those servers. */
  async forget(server?: string): Promise<ToolResult<readonly string[]>> {
    const state = await this.#state();
    const known = server === undefined ? undefined : requireServer(state, server);
    if (known?.success === false) return known;
    await Promise.all([state.catalog.forget(server), this.#runtime.embeddings.forget(server)]);
    return ok(server === undefined ? [...state.servers.keys()] : [server]);
  }

  /** Searches all tools, or one server's; waits a little for servers that were never seen and names those that are missing. */
  async find(query: string, options: FindOptions = {}): Promise<ToolResult<FindResult>> {
    return findTools(this.#runtime, await this.#states(), query, options, (known) => this.#count(known));
  }

  /** Why a tool has the place it has for a query: its words, what is alike in meaning, what was learnt. */
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

  /** One server's tools as the server itself defines them, without those that are disabled. */
  async definitionsOf(
    server: string,
    options: { caller?: Caller | undefined } = {},
  ): Promise<ToolResult<readonly ToolDefinition[]>> {
    const listed = await this.toolsOf(server, options);
    if (!listed.success) return listed;
    const { catalog } = await this.#having(server);
    return ok(listed.data.flatMap(({ name }) => catalog.definition(server, name) ?? []));
  }

  /** One tool with its parameters and examples, made up if need be where `examples` asks. Disabled is TOOL_DISABLED. */
  async describe(
    server: string,
    tool: string,
    options: { caller?: Caller | undefined; examples?: boolean | undefined } = {},
  ): Promise<ToolResult<Description>> {
    const [state, ref] = await this.#meant(await this.#states(), server, tool, options);
    const own = ownTool(ref);
    if (own) return ok(describeTool(own, options.examples));
    this.#count(state.catalog.isSeen(ref.server));
    const found = await requireUsableTool(state, ref, options.caller);
    if (!found.success) return found;
    state.discovery.refreshBehind([ref.server], options.caller);
    this.#runtime.answered(state);
    return ok(describeTool(found.data.metadata, options.examples));
  }

  /** Calls a tool through the whole pipeline. Never throws. */
  async call(request: CallRequest): Promise<ToolResult<CallToolResult>> {
    const { server, tool } = request;
    if (typeof server !== 'string' || typeof tool !== 'string') return this.refuse(NAMELESS, request);
    const where = { server, tool, outcome: 'not_sent' } as const;
    try {
      const runtime = this.#runtime;
      const running = runtime.current ?? (await runtime.onTheWay(runtime.ready()));
      const { state } = running;
      const { proxy } = running.execution ?? (await runtime.onTheWay(runtime.execution(running)));
      if (isLoop(request.meta, state.id)) return await proxy.refuse(LOOP_REFUSAL, request);
      const isKnown = state.providers.length === 0 && state.catalog.isLoaded(server);
      const meant = isKnown
        ? ok([state, resolveRef(state, server, tool)] as const)
        : await runtime.onTheWay(
            this.#meant(await this.#states(), server, tool, request).then(ok, (error) => toFailure(error, where)),
          );
      if (!meant.success) return await proxy.refuse(meant, request);
      const [owner, ref] = meant.data;
      runtime.answered(state);
      if (owner !== state)
        return await proxy.execute(ref.server, ref.tool, request.arguments, ofOneRequest(owner, request));
      const result = await proxy.execute(ref.server, ref.tool, request.arguments, request);
      runtime.usage?.settled(ref, request.caller, result);
      return result;
    } catch (error) {
      return toFailure(error, where);
    }
  }

  /** Records a call that was refused before it got here, as every call is recorded, and gives the refusal back. */
  async refuse(refusal: ToolResult<never>, request: RefusedCall = {}): Promise<ToolResult<CallToolResult>> {
    try {
      const { proxy } = await this.#runtime.execution(await this.#runtime.ready());
      return await proxy.refuse(refusal, request);
    } catch (error) {
      // Without a configuration there is no log either.
      return toFailure(error, { outcome: 'not_sent' });
    }
  }

  /** Whether a request with this `_meta` has come through this gateway before. */
  async isLoop(meta: Readonly<Record<string, unknown>> | undefined): Promise<boolean> {
    return meta !== undefined && isLoop(meta, (await this.#runtime.ready()).state.id);
  }

  /** `call` made visible: progress as it comes, then exactly one result. Leaving the loop cancels the call. */
  async *executeStream(
    server: string,
    tool: string,
    args?: unknown,
    options: ExecuteOptions = {},
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    const runtime = this.#runtime;
    const running = await runtime.onTheWay(runtime.ready());
    const [owner, ref] = await runtime.onTheWay(this.#meant(await this.#states(), server, tool, options));
    const { proxy } = await runtime.onTheWay(runtime.execution(running));
    const isShared = owner === running.state;
    const events = proxy.executeStream(ref.server, ref.tool, args, isShared ? options : ofOneRequest(owner, options));
    yield* (isShared && runtime.usage?.watched(ref, options.caller, events)) || events;
  }

  /** The hits of `find`; none for a server that does not exist. */
  async searchTools(query: string, options: FindOptions = {}): Promise<SearchResult[]> {
    const found = await this.find(query, options);
    return found.success ? [...found.data.results] : [];
  }

  /** The tools of `toolsOf`; none for a server that does not exist or cannot be reached. */
  async listTools(server: string, includeDisabled = false): Promise<ToolMetadata[]> {
    const found = await this.toolsOf(server, { includeDisabled });
    return found.success ? [...found.data] : [];
  }

  /** The tool of `describe`; null for one that does not exist or may not be used. */
  async getToolDetails(server: string, tool: string): Promise<ToolMetadata | null> {
    const found = await this.describe(server, tool);
    return found.success ? found.data : null;
  }

  /** `call` with its parts as arguments. */
  async executeTool(
    server: string,
    tool: string,
    args?: unknown,
    options: ExecuteOptions = {},
  ): Promise<ExecutionResult> {
    const result = await this.call({ server, tool, arguments: args, ...options });
    return result.success ? { success: true, result: result.data } : result;
  }

  /** How far the embedder has come, if there is one, and why it is not used if it is not. With `complete`, all tools are read first. */
  embedder(complete = false, signal?: AbortSignal): Promise<EmbedderStatus | undefined> {
    return this.#runtime.embedder(complete, signal);
  }

  /** Rules that are shadowed by others or match nothing, for the tools known so far. */
  async ruleWarnings(): Promise<RuleWarning[]> {
    return ruleWarnings(await this.#state());
  }

  /** Things an agent should know about the gateway as a whole. */
  notes(): string[] {
    return gatewayNotes(this.#runtime.current?.state);
  }

  /** How often an answer came from what was already known, without asking a server. */
  stats(): { readonly hits: number; readonly misses: number; readonly hitRate: number } {
    return withRate(this.#runtime.counts, 1);
  }

  /** The same over the last thirty days, of all gateways that share the cache folder, or since a point in time. */
  async cacheStats(since?: number): Promise<CacheStats> {
    await this.#state();
    return withRate((await this.#runtime.lookups?.read(since)) ?? { hits: 0, misses: 0 }, 0);
  }

  /** The end of what a server wrote to stderr, without the secrets it was given. */
  serverLog(server: string): string {
    return this.#runtime.downstreams.log(server);
  }

  /** Loads the configuration anew and swaps it in, with `ifChanged` only one that says something else, with `confirm` only one that is confirmed: then true. On any error the old state goes on, and the error is thrown. */
  reload(options: ReloadOptions = {}): Promise<boolean> {
    return this.#runtime.reload(options);
  }

  /** Why no configuration is in force, once loading one has failed; undefined otherwise. A reload may mend it. */
  get problem(): ErrorInfo | undefined {
    return this.#runtime.problem;
  }

  /** Where the configuration comes from: the state folder, and the files that the last load read or looked for, each with its signature. */
  async source(): Promise<{ readonly home: string; readonly files: ReadonlyMap<string, string> }> {
    await this.#runtime.ready().catch(() => undefined);
    return { home: await this.#runtime.stateFolder(), files: this.#runtime.reads };
  }

  /** Calls back when lists of tools have changed, by a reload or otherwise; returns how to stop that. */
  onToolsChanged(listener: (isReload: boolean, server?: string) => void): () => void {
    return this.#runtime.onToolsChanged(listener);
  }

  /** Calls back after every reload; returns how to stop that. */
  onReload(listener: () => void): () => void {
    return this.#runtime.onReload(listener);
  }

  /** The configuration in force. Secrets in it are still references. */
  async getConfig(): Promise<ResolvedConfig> {
    return (await this.#state()).config;
  }

  /** Opens a connection to a server in advance. Throws what keeps it from that. */
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

  /** A connection of one's own to a server, for relaying what is not a tool call. Give it back. */
  async lease(server: string, caller: Caller, signal?: CallSignal): Promise<Lease> {
    const known = requireServer(await this.#state(), server);
    if (!known.success) throw new DiscoveryError(known.error.code, known.error.message, known.error);
    if (isProvider(known.data))
      throw new DiscoveryError(
        'SERVER_NOT_FOUND',
        `${server} is part of this program: there is nothing to connect to.`,
      );
    return this.#runtime.downstreams.acquire(known.data, caller, signal);
  }

  /** Hears everything servers say outside of calls. */
  onNotification(
    listener: (server: string, method: string, params: Readonly<Record<string, unknown>>) => void,
  ): () => void {
    return this.#runtime.downstreams.onNotification(listener);
  }

  /** Closes what belonged to a client that has gone. */
  endSession(session: string): void {
    this.#runtime.downstreams.pool.endSession(session);
  }

  /** Ends calls (those under way get a while), connections, processes; writes what is to be kept. */
  close(): Promise<void> {
    return this.#runtime.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #state(): Promise<EngineState> {
    return (await this.#runtime.ready()).state;
  }

  /** The state of everybody, then those of the request being served; lists of providers that changed are read anew. */
  async #states(): Promise<readonly EngineState[]> {
    const state = await this.#state();
    const states = [state, ...this.#runtime.requests.beside(state)];
    for (const one of states) if (one.providers.length > 0) await this.#runtime.renewed(one);
    return states;
  }

  /** The state that has a server. */
  async #having(server: string): Promise<EngineState> {
    const states = await this.#states();
    return states.find(({ servers }) => servers.has(server)) ?? (states[0] as EngineState);
  }

  /** The pair that is meant, and the state that has it. What everybody has comes before what a request brings along. */
  async #meant(
    states: readonly EngineState[],
    server: string,
    tool: string,
    options: Patience,
  ): Promise<readonly [EngineState, ToolRef]> {
    const [shared] = states as readonly [EngineState];
    // A name alone may be that of an own tool whose list nobody has read.
    if (server === '') await Promise.all(states.map((state) => listed(state, options.caller)));
    for (const state of states) {
      const ref = await settleRef(state, server, tool, options);
      if (state.servers.has(ref.server) || ref.server === OWN_SERVER) return [state, ref];
    }
    return [shared, await settleRef(shared, server, tool, options)];
  }

  #count(hit: boolean): void {
    this.#runtime.count(hit);
  }
}

/** Reads the lists of providers that nobody has seen. */
const listed = ({ providers, catalog, discovery }: EngineState, caller: Caller | undefined): Promise<unknown> =>
  Promise.all(providers.filter(({ name }) => !catalog.isSeen(name)).map(({ name }) => discovery.listed(name, caller)));

/** Counts a call to a source of one request apart from others of its name. */
const ofOneRequest = <T extends ExecuteOptions>({ servers }: EngineState, options: T): T => ({
  ...options,
  gate: [...servers.values()][0]?.fingerprint,
});

const NAMELESS = fail('VALIDATION_ERROR', 'A call needs the names of a server and a tool.', { outcome: 'not_sent' });

/**
 * DiscoveryEngine: configuration in; servers, search, details and calls out. Wires the modules, decides nothing itself.
 *
 * What an agent can ask for comes in two forms. `find`, `toolsOf`, `describe` and `call` return a `ToolResult` with the
 * error the agent should see; `searchTools`, `listTools`, `getToolDetails` and `executeTool` are the plain forms.
 * @module
 */

import { type Description, describeTool } from './catalog/description.ts';
import type { Listing } from './catalog/listing.ts';
import { searchNotes } from './catalog/search-notes.ts';
import { type FoundTool, requireServer, requireTool, requireTools, resolveRef } from './catalog/tool-lookup.ts';
import type { ResolvedConfig } from './config/resolved-config.ts';
import type { Lease } from './connections/connection-pool.ts';
import { Downstreams } from './downstreams.ts';
import { createExecution, type Execution } from './engine-execution.ts';
import { buildState, type EngineState } from './engine-state.ts';
import { type EngineOptions, type EngineWorld, realEngineWorld } from './engine-world.ts';
import type { ErrorInfo } from './errors.ts';
import { OWN_SERVER, READ_RESULT, ResultPages } from './execution/result-pages.ts';
import type { ExecuteOptions, ExecutionEvent } from './execution/tool-execution-proxy.ts';
import { fail, ok, type ToolResult } from './result.ts';
import { type RuleWarning, reportRules } from './rules/report.ts';
import type {
  Caller,
  CallToolResult,
  SearchOptions,
  SearchResult,
  ServerMetadata,
  ToolDefinition,
  ToolMetadata,
} from './types.ts';

/** How long a search waits for the first lists of servers nobody has seen. */
const FIRST_LISTS_MS = 2000;
const SAVE_AFTER_MS = 1000;

export interface FindOptions extends SearchOptions {
  readonly caller?: Caller | undefined;
  /** How long to wait for servers that were never seen. */
  readonly waitMs?: number | undefined;
}

export interface FindResult {
  readonly results: readonly SearchResult[];
  /** What was not searched or was withheld, and why. */
  readonly notes: readonly string[];
}

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

/**
 * One engine serves the gateway, the command line and programs.
 * @example
 * await using engine = new DiscoveryEngine({ servers: [{ name: 'files', connection: { type: 'stdio', command: 'mcp-files' } }] });
 * const hits = await engine.searchTools('read a text file');
 */
export class DiscoveryEngine {
  readonly #world: EngineWorld;
  readonly #downstreams: Downstreams;
  readonly #pages = new ResultPages();
  readonly #reloadListeners = new Set<() => void>();
  #state: Promise<EngineState>;
  #current: { readonly state: EngineState; readonly execution: Execution } | undefined;
  #saving: NodeJS.Timeout | undefined;
  #closed: Promise<void> | undefined;
  #hits = 0;
  #misses = 0;

  /** Takes a configuration as people write it, a resolved one, or a function that loads one; reads it on first use. */
  constructor(config: unknown, options: EngineOptions = {}) {
    this.#world = realEngineWorld(config, options);
    this.#downstreams = new Downstreams(this.#world, (server) => this.#current?.state.discovery.changed(server));
    this.#state = this.#load();
    this.#state.catch(() => {});
  }

  /** All servers that are switched on, with what is known of them. Connects to none. */
  async listServers(): Promise<ServerMetadata[]> {
    const { servers, catalog, discovery } = await this.#ready();
    return [...servers.values()].map(({ definition }) => {
      const { name, connection } = definition;
      const { status, reason } = this.#downstreams.status(name);
      const failure = discovery.failure(name);
      const state = catalog.state(name);
      return {
        name,
        description: catalog.about(name),
        toolCount: state?.toolCount ?? 0,
        enabledCount: state?.enabledCount ?? 0,
        status: failure && status !== 'connected' ? 'error' : status,
        reason: reason ?? failure?.message ?? state?.incomplete,
        stale: discovery.isStale(name) || undefined,
        config: connection,
      };
    });
  }

  /** Names of the servers that are switched on. */
  async serverNames(): Promise<string[]> {
    return [...(await this.#ready()).servers.keys()];
  }

  /** Searches all tools, or one server's; waits a little for servers that were never seen and names those that are missing. */
  async find(query: string, options: FindOptions = {}): Promise<ToolResult<FindResult>> {
    const state = await this.#ready();
    const { discovery, catalog, config } = state;
    if (!config.enabled) return ok({ results: [], notes: this.notes() });
    const { caller, waitMs = FIRST_LISTS_MS, server, ...rest } = options;
    if (server !== undefined) {
      const known = requireServer(state, server);
      if (!known.success) return known;
    }
    const unseen = discovery.unseen().filter((name) => server === undefined || name === server);
    this.#count(unseen.length === 0);
    // A server that failed before is tried again behind the answer; nobody waits for it twice.
    await discovery.firstLists(
      unseen.filter((name) => !discovery.failure(name)),
      waitMs,
      caller,
    );
    for (const name of unseen) if (discovery.failure(name)) void discovery.refresh(name, caller);
    const { results, withheld } = catalog.search.find(query, { ...rest, server });
    discovery.refreshBehind(
      results.map((result) => result.server),
      caller,
    );
    return ok({ results, notes: [...this.notes(), ...searchNotes(discovery, unseen, results, withheld)] });
  }

  /** One server's tools, by name. */
  async toolsOf(
    server: string,
    options: { includeDisabled?: boolean; caller?: Caller | undefined } = {},
  ): Promise<ToolResult<readonly ToolMetadata[]>> {
    const state = await this.#ready();
    this.#count(state.catalog.isSeen(server));
    const listed = await requireTools(state, server, options.caller);
    if (!listed.success) return listed;
    state.discovery.refreshBehind([server], options.caller);
    return ok(state.catalog.tools(server, options.includeDisabled));
  }

  /** One server's tools as the server itself defines them, without those that are disabled. */
  async definitionsOf(
    server: string,
    options: { caller?: Caller | undefined } = {},
  ): Promise<ToolResult<readonly ToolDefinition[]>> {
    const listed = await this.toolsOf(server, options);
    if (!listed.success) return listed;
    const { catalog } = await this.#ready();
    return ok(listed.data.flatMap(({ name }) => catalog.definition(server, name) ?? []));
  }

  /** One tool with its parameters and examples. A disabled tool is TOOL_DISABLED. */
  async describe(
    server: string,
    tool: string,
    options: { caller?: Caller | undefined } = {},
  ): Promise<ToolResult<Description>> {
    const state = await this.#ready();
    if (server === OWN_SERVER && tool === READ_RESULT.name) return ok(describeTool(OWN_TOOL));
    const ref = resolveRef(state, server, tool);
    this.#count(state.catalog.isSeen(ref.server));
    const found = await requireTool(state, ref, options.caller);
    if (!found.success) return found;
    const decision = state.rules.decide(ref.server, found.data.metadata.name);
    if (!decision.enabled)
      return fail('TOOL_DISABLED', `${ref.server}:${found.data.metadata.name} may not be used. ${decision.reason}`, {
        ...ref,
        outcome: 'not_sent',
      });
    state.discovery.refreshBehind([ref.server], options.caller);
    return ok(describeTool(found.data.metadata));
  }

  /** Calls a tool through the whole pipeline. Never throws. */
  async call(request: CallRequest): Promise<ToolResult<CallToolResult>> {
    const { server, tool, arguments: args, ...options } = request;
    const { state, execution } = this.#current ?? (await this.#whenReady());
    if (!state.catalog.isLoaded(server)) await state.catalog.load(server);
    const ref = resolveRef(state, server, tool);
    return execution.proxy.execute(ref.server, ref.tool, args, options);
  }

  /** `call` made visible: progress as it comes, then exactly one result. Leaving the loop cancels the call. */
  async *executeStream(
    server: string,
    tool: string,
    args?: unknown,
    options: ExecuteOptions = {},
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    const { state, execution } = await this.#whenReady();
    const ref = resolveRef(state, server, tool);
    yield* execution.proxy.executeStream(ref.server, ref.tool, args, options);
  }

  async searchTools(query: string, options: FindOptions = {}): Promise<SearchResult[]> {
    const found = await this.find(query, options);
    return found.success ? [...found.data.results] : [];
  }

  async listTools(server: string, includeDisabled = false): Promise<ToolMetadata[]> {
    const found = await this.toolsOf(server, { includeDisabled });
    return found.success ? [...found.data] : [];
  }

  async getToolDetails(server: string, tool: string): Promise<ToolMetadata | null> {
    const found = await this.describe(server, tool);
    return found.success ? found.data : null;
  }

  async executeTool(
    server: string,
    tool: string,
    args?: unknown,
    options: ExecuteOptions = {},
  ): Promise<ExecutionResult> {
    const result = await this.call({ server, tool, arguments: args, ...options });
    return result.success ? { success: true, result: result.data } : result;
  }

  /** Rules that are shadowed by others or match nothing, for the tools known so far. */
  async ruleWarnings(): Promise<RuleWarning[]> {
    const { servers, catalog, rules } = await this.#ready();
    await catalog.adopt(servers.keys());
    const known = [...servers.keys()].flatMap((server) =>
      catalog.tools(server, true).map((tool) => ({ server, tool: tool.name })),
    );
    return reportRules(rules, known);
  }

  /** Things an agent should know about the gateway as a whole. */
  notes(): string[] {
    const config = this.#current?.state.config;
    if (config && !config.enabled)
      return [`Discovery is switched off (enabled: false${config.origin ? ` in ${config.origin}` : ''}).`];
    if (config && config.servers.length === 0)
      return ['No servers are configured. A person can set some up with: anygpt mcp init'];
    return [];
  }

  /** How often an answer came from what was already known. */
  stats(): { readonly hits: number; readonly misses: number; readonly hitRate: number } {
    const total = this.#hits + this.#misses;
    return { hits: this.#hits, misses: this.#misses, hitRate: total === 0 ? 1 : this.#hits / total };
  }

  /** The end of what a server wrote to stderr. */
  serverLog(server: string): string {
    return this.#downstreams.pool.log(server);
  }

  /** Loads the configuration anew and swaps it in. On any error the old state goes on, and the error is thrown. */
  async reload(): Promise<void> {
    const next = await this.#build();
    const before = this.#current;
    await before?.state.catalog.save();
    before?.state.discovery.stop();
    this.#install(next);
    this.#state = Promise.resolve(next);
    // Calls under way end where they began.
    void before?.execution.proxy.finish().then(before.execution.closeAudit);
    for (const listener of this.#reloadListeners) listener();
  }

  /** Calls back after every reload; returns how to stop that. */
  onReload(listener: () => void): () => void {
    this.#reloadListeners.add(listener);
    return () => this.#reloadListeners.delete(listener);
  }

  /** The configuration in force. Secrets in it are still references. */
  async getConfig(): Promise<ResolvedConfig> {
    return (await this.#ready()).config;
  }

  /** A connection of one's own to a server, for relaying what is not a tool call. Give it back. */
  async lease(server: string, caller: Caller, signal?: AbortSignal): Promise<Lease> {
    const state = await this.#ready();
    const known = requireServer(state, server);
    if (!known.success) throw new Error(known.error.message);
    return this.#downstreams.pool.acquire(known.data, caller, { signal });
  }

  /** Hears everything servers say outside of calls. */
  onNotification(
    listener: (server: string, method: string, params: Readonly<Record<string, unknown>>) => void,
  ): () => void {
    return this.#downstreams.onNotification(listener);
  }

  /** Closes what belonged to a client that has gone. */
  endSession(session: string): void {
    this.#downstreams.pool.endSession(session);
  }

  /** Ends calls (those under way get a while), connections, processes; writes what is to be kept. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#state.catch(() => {});
    const { state, execution } = this.#current ?? {};
    state?.discovery.stop();
    clearTimeout(this.#saving);
    await execution?.proxy.close();
    await this.#downstreams.pool.close();
    await state?.catalog.save();
    await execution?.closeAudit();
    this.#pages.close();
  }

  #ready(): Promise<EngineState> {
    return this.#state;
  }

  async #whenReady(): Promise<{ readonly state: EngineState; readonly execution: Execution }> {
    await this.#state;
    return this.#current as { readonly state: EngineState; readonly execution: Execution };
  }

  async #load(): Promise<EngineState> {
    const state = await this.#build();
    this.#install(state);
    return state;
  }

  async #build(): Promise<EngineState> {
    const config = await this.#world.loadConfig();
    return buildState(config, {
      store: this.#world.openStore,
      list: (definition, caller): Promise<Listing> => this.#downstreams.list(definition, caller),
      logger: this.#world.logger,
      now: this.#world.now,
      onChange: () => this.#saveSoon(),
    });
  }

  #install(state: EngineState): void {
    const execution = createExecution({
      state,
      world: this.#world,
      downstreams: this.#downstreams,
      pages: this.#pages,
      lookup: (server, tool) => lookUp(state, server, tool),
    });
    this.#current = { state, execution };
    this.#downstreams.configure(state);
    for (const warning of state.config.warnings) this.#world.logger.warn({}, warning);
    if (state.catalog.dirty) this.#saveSoon();
  }

  #saveSoon(): void {
    if (this.#closed) return;
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => void this.#current?.state.catalog.save(), SAVE_AFTER_MS).unref();
  }

  #count(hit: boolean): void {
    if (hit) this.#hits++;
    else this.#misses++;
  }
}

const OWN_TOOL: ToolMetadata = {
  ...READ_RESULT,
  server: OWN_SERVER,
  summary: READ_RESULT.description ?? '',
  enabled: true,
  tags: [],
};

/** The quick way for tools in memory; the thorough one discovers, refreshes and suggests. */
function lookUp(
  state: EngineState,
  server: string,
  tool: string,
): ToolResult<FoundTool> | Promise<ToolResult<FoundTool>> {
  const definition = state.servers.has(server) ? state.catalog.definition(server, tool) : undefined;
  const metadata = definition && state.catalog.tool(server, tool);
  return definition && metadata ? ok({ definition, metadata }) : requireTool(state, { server, tool });
}

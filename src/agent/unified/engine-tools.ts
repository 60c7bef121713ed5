/**
 * Connects a registry to its engine: has the engine read lists, copies what it knows into the table, and sends calls to it.
 * The engine is given, or made of entries when a server or a provider is first needed. Tools of the registry itself and of
 * its providers are scoped to it: another user of a given engine does not see them.
 * @module
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { ageSince } from '../../async/clock.ts';
import { Semaphore } from '../../async/semaphore.ts';
import { waitAtMost } from '../../async/time-limit.ts';
import { DiscoveryError, type ErrorInfo, ServerConnectionError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { withoutMetaTools } from '../../core/own-server.ts';
import { fail, type ToolResult } from '../../core/result.ts';
import { isProvider, type SourceDefinition, type ToolProvider, UNDESCRIBED } from '../../core/tool-provider.ts';
import type { CallToolResult, ToolDefinition } from '../../core/types.ts';
import type { EngineCore } from '../../engine/engine-core.ts';
import { coreOf, type EngineHandle, isEngine } from '../../engine/engine-handle.ts';
import type { EngineState } from '../../engine/engine-state.ts';
import { outsideRequests, withRequestProviders } from '../registry/request-scope.ts';
import type { Tell } from './registry-log.ts';
import { namingVariables, type ServerEntry } from './servers-from-env.ts';
import type { ExcludedTool, OwnTool, ToolTable } from './tool-table.ts';

export interface EngineToolsOptions {
  readonly servers: EngineHandle | readonly ServerEntry[];
  readonly table: ToolTable;
  readonly tell: Tell;
  /** The static tools of the registry. A given engine calls them as it calls every other tool. */
  readonly own: ToolProvider;
  readonly ttlMs: number;
  /** How long callers wait for a provider. */
  readonly providerMs: number;
  /** Timeout of one call to a provider's tool. */
  readonly callMs: number;
  readonly now: () => number;
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
}

/** The outcome of reading lists. */
export interface Discovered {
  /** Whether the table may show other tools than before. */
  readonly changed: boolean;
  readonly failures: readonly ErrorInfo[];
}

/** Options of one call. */
export interface SourceCallOptions {
  readonly traceId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A source of tools: the name of a server, or a provider. */
type Source = string | ToolProvider;

/** A list that was read. */
interface Read {
  readonly at: number;
  /** The connection it came from; undefined for a list that the program registered itself. */
  readonly fingerprint: string | undefined;
  readonly revision: unknown;
}

interface KnownSource {
  readonly state: EngineState;
  readonly definition: SourceDefinition;
  readonly fingerprint: string;
}

/** The registry for which a list is being read: a provider that looks at it meanwhile does not wait for itself. */
const listing = new AsyncLocalStorage<EngineTools>();
const NOTHING: Discovered = { changed: false, failures: [] };

export class EngineTools {
  readonly #options: EngineToolsOptions;
  readonly #given: EngineCore | undefined;
  readonly #entries: readonly ServerEntry[];
  readonly #providers = new Set<ToolProvider>();
  readonly #reads = new Map<Source, Read>();
  readonly #reading = new Map<Source, Promise<ErrorInfo | undefined>>();
  /** Servers whose tools came from the engine. Tools that the program registered are the program's to remove. */
  readonly #discovered = new Set<string>();
  /** What the engine said of each source when its tools were copied. */
  readonly #copied = new Map<Source, unknown>();
  /** Servers whose list has changed in the engine since. */
  readonly #changed = new Set<string>();
  readonly #described = new WeakMap<ToolDefinition, ToolDefinition>();
  /** What the engine calls the static tools. */
  #ownName: { readonly state: EngineState; readonly name: string } | undefined;
  #opening: Promise<EngineCore> | undefined;
  #core: EngineCore | undefined;
  #unsubscribe: (() => void) | undefined;
  #closed = false;

  constructor(options: EngineToolsOptions) {
    const { servers } = options;
    this.#options = options;
    this.#given = isEngine(servers) ? coreOf(servers) : undefined;
    this.#entries = isEngine(servers) ? [] : servers;
  }

  /** Whether static tools are called by the engine: its rules, limits and audit log apply to them. */
  get callsStaticTools(): boolean {
    return this.#given !== undefined;
  }

  /** The source of static tools. */
  get staticTools(): ToolProvider {
    return this.#options.own;
  }

  /** Whether the rules of a given engine allow a static tool. */
  allows(tool: string): boolean {
    const [state] = this.#core?.states ?? [];
    if (!this.callsStaticTools || !state) return true;
    if (this.#ownName?.state !== state)
      this.#ownName = { state, name: this.#known(this.#options.own)?.definition.name ?? '' };
    return state.rules.decide(this.#ownName.name, tool).enabled;
  }

  hasProvider(provider: ToolProvider): boolean {
    return this.#providers.has(provider);
  }

  addProvider(provider: ToolProvider): void {
    this.#providers.add(provider);
    // Takes its place in the order now. Its list may arrive later.
    this.#options.table.setProvided(provider, { tools: new Map(), excluded: [] });
  }

  removeProvider(provider: ToolProvider): boolean {
    this.#forget(provider);
    this.#options.table.removeProvided(provider);
    return this.#providers.delete(provider);
  }

  /** Whether the list of a source was never read, or is older than the TTL. */
  isStale(source: Source): boolean {
    const read = this.#reads.get(source);
    if (!read || ageSince(read.at, this.#options.now()) >= this.#options.ttlMs) return true;
    if (typeof source !== 'string') return !Object.is(read.revision, revisionOf(source));
    const { fingerprint = read.fingerprint } = this.#core?.states[0]?.servers.get(source) ?? {};
    return read.fingerprint !== undefined && read.fingerprint !== fingerprint;
  }

  /** The program registered the tools of a server: they count as read now. */
  registered(server: string): void {
    this.#reading.delete(server);
    this.#changed.delete(server);
    this.#reads.set(server, { at: this.#options.now(), fingerprint: undefined, revision: undefined });
  }

  /** Removes the tools of a server. The result of a reading under way no longer counts. */
  removeServer(server: string, traceId?: string): number {
    this.#forget(server);
    this.#discovered.delete(server);
    const removedCount = this.#options.table.removeServer(server);
    if (removedCount > 0)
      this.#options.tell('tools.registry.server.removed', { serverName: server, removedCount }, traceId);
    return removedCount;
  }

  /** Reads every list that is due, and removes the tools of servers that are gone. */
  async discoverAll(traceId: string | undefined): Promise<Discovered> {
    const core = await this.#open();
    if (!core) return NOTHING;
    if (!this.#given) await core.reload({ ifChanged: true });
    await core.serverNames();
    const servers = this.#servers();
    const gone = [...this.#discovered].filter((server) => !servers.has(server));
    for (const server of gone) this.removeServer(server, traceId);
    const due = [...[...servers.keys()].sort(), ...this.#providerSources().keys()].filter((one) => this.#isDue(one));
    const failures = await this.#read(due, traceId);
    const changed = this.update();
    return { changed: changed || gone.length > 0 || due.length > failures.length, failures };
  }

  /** Reads the lists that are due and may hold a tool: those of providers, and of the servers that `pick` chooses. */
  async discoverFor(
    pick: (servers: ReadonlyMap<string, unknown>) => readonly string[],
    traceId: string | undefined,
  ): Promise<Discovered> {
    const core = await this.#open();
    if (!core) return NOTHING;
    await core.serverNames();
    const providers = [...this.#providerSources()].flatMap(([source, { state, definition }]) =>
      // One that is still being read has been waited for already.
      state.discovery.isRunning(definition.name) && !this.#reading.has(source) ? [] : [source],
    );
    const due = [...pick(this.#servers()), ...providers].filter((source) => this.#isDue(source));
    const failures = await this.#read(due, traceId);
    return { changed: this.update() || due.length > failures.length, failures };
  }

  /** Why the tools of some providers are not known. */
  unread(): ErrorInfo[] {
    return [...this.#providerSources()].flatMap(([source, { state, definition }]) => {
      const isKnown = source === this.#options.own || state.catalog.isSeen(definition.name);
      const failure =
        state.discovery.failure(definition.name) ??
        new ServerConnectionError(definition.name, 'It has not listed its tools yet.');
      return isKnown ? [] : { ...failure.toInfo(), server: definition.name };
    });
  }

  /** The failure of asking for a server that does not exist; undefined for one that does. */
  async missing(server: string): Promise<ErrorInfo | undefined> {
    const core = await this.#open();
    const known = core ? await core.serverNames() : [];
    if (known.includes(server)) return undefined;
    const result = core ? await core.toolsOf(server) : noServer(server);
    return result.success ? undefined : this.#named(result.error);
  }

  /** Copies lists that have changed in the engine. Returns whether there were any. */
  update(): boolean {
    if (!this.#core) return false;
    let isNew = false;
    for (const server of this.#changed) isNew = (this.#discovered.has(server) && this.#copy(server)) || isNew;
    this.#changed.clear();
    for (const provider of this.#providerSources().keys()) isNew = this.#copy(provider) || isNew;
    return isNew;
  }

  /** Calls a tool through the pipeline of the engine. */
  async call(
    source: Source,
    tool: string,
    args: unknown,
    { traceId, signal }: SourceCallOptions,
  ): Promise<ToolResult<CallToolResult>> {
    const core = await this.#open();
    if (!core) return noServer(String(source), tool);
    await core.serverNames();
    const isAdded = typeof source !== 'string' && this.#providers.has(source);
    const options = { traceId, signal, ...(isAdded && { timeout: this.#options.callMs }) };
    const server = typeof source === 'string' ? source : (this.#known(source)?.definition.name ?? '');
    const result = await this.#inScope(() => core.call({ server, tool, arguments: args, ...options }));
    return result.success ? result : { success: false, error: this.#named(result.error) };
  }

  /** Ends readings, and closes the engine if it was made here. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe?.();
    this.#reading.clear();
    const core = await this.#opening;
    if (!this.#given) await core?.close();
  }

  #forget(source: Source): void {
    this.#reading.delete(source);
    this.#reads.delete(source);
    this.#copied.delete(source);
  }

  /** The engine; undefined where there is nothing to ask, so that none is loaded. */
  async #open(): Promise<EngineCore | undefined> {
    if (this.#closed) throw new DiscoveryError('SHUTTING_DOWN', 'The registry is closed.', { outcome: 'not_sent' });
    if (!this.#given && this.#entries.length === 0 && this.#providers.size === 0) return undefined;
    this.#opening ??= this.#given ? Promise.resolve(this.#given) : this.#make();
    const core = await this.#opening;
    if (!this.#core && !this.#closed) this.#watch(core);
    return core;
  }

  async #make(): Promise<EngineCore> {
    const { EngineCore } = await import('../../engine/engine-core.ts');
    const { env, now } = this.#options;
    return new EngineCore(
      // The registry searches nothing.
      { servers: [...this.#entries], search: { meaning: false, phrases: false, learn: false } },
      { ...(env && { env }), elapsed: now, background: false, wholeResults: true },
      'memory',
    );
  }

  #watch(core: EngineCore): void {
    this.#core = core;
    this.#unsubscribe = core.onToolsChanged((isReload, server) => {
      if (server !== undefined) this.#changed.add(server);
      if (!isReload) return;
      for (const known of this.#discovered) this.#changed.add(known);
      this.#options.table.ownChanged();
    });
    void core.serverNames().then(
      () => this.#options.table.ownChanged(),
      () => {},
    );
  }

  /** Runs a function of the engine with the registry's own tools and providers in scope. */
  #inScope<T>(fn: () => T): T {
    const { own } = this.#options;
    return withRequestProviders(this.callsStaticTools ? [own, ...this.#providers] : [...this.#providers], fn);
  }

  /** The same without the providers of the request being served: the table is shared by all requests. */
  #scoped<T>(fn: () => T): T {
    return outsideRequests(() => this.#inScope(fn));
  }

  #isDue(source: Source): boolean {
    const isRead =
      typeof source === 'string'
        ? this.#known(source) !== undefined
        : source !== this.#options.own && listing.getStore() !== this;
    return isRead && this.isStale(source);
  }

  /** The servers and providers of the engine. */
  #servers(): EngineState['servers'] {
    return this.#core?.states[0]?.servers ?? new Map();
  }

  /** Providers of the engine, then those of the registry. */
  #providerSources(): ReadonlyMap<ToolProvider, KnownSource> {
    const states = this.#scoped(() => this.#core?.states ?? []);
    return new Map(
      states.flatMap((state) =>
        state.providers.map((definition) => [definition.provider, { state, definition, fingerprint: '' }] as const),
      ),
    );
  }

  #known(source: Source): KnownSource | undefined {
    if (typeof source !== 'string') return this.#providerSources().get(source);
    const [state] = this.#core?.states ?? [];
    const server = state?.servers.get(source);
    return state && server && !isProvider(server.definition) ? { state, ...server } : undefined;
  }

  /** Reads lists, or joins readings under way. Resolves with the failures. */
  async #read(due: readonly Source[], traceId: string | undefined): Promise<ErrorInfo[]> {
    const fresh = due.filter((source) => !this.#reading.has(source));
    const servers = fresh.filter((source) => typeof source === 'string');
    const providers = fresh.filter((source) => typeof source !== 'string');
    if (servers.length > 0) this.#options.tell('tools.discovery.started', { serverCount: servers.length }, traceId);
    this.#start(servers, undefined, traceId);
    this.#start(providers, this.#options.providerMs, traceId);
    const ended = await Promise.all(due.map((source) => this.#reading.get(source)));
    return ended.filter((failure) => failure !== undefined);
  }

  #start(sources: readonly Source[], waitMs: number | undefined, traceId: string | undefined): void {
    if (sources.length === 0) return;
    const names = sources.map((source) => this.#known(source)?.definition.name ?? '');
    const ask = () => this.#core?.readLists({ servers: names, again: true, waitMs });
    const asked = listing.run(this, () => this.#scoped(ask));
    for (const [at, source] of sources.entries()) {
      const isCurrent = () => this.#reading.get(source) === reading;
      const reading: Promise<ErrorInfo | undefined> = Promise.resolve(asked)
        .then((failed) => this.#take(source, failed?.get(names[at] ?? ''), isCurrent, traceId))
        .finally(() => {
          if (isCurrent()) this.#reading.delete(source);
        });
      this.#reading.set(source, reading);
    }
  }

  /** Takes over what was read. Resolves with the failure. */
  async #take(
    source: Source,
    failed: ErrorInfo | undefined,
    isCurrent: () => boolean,
    traceId: string | undefined,
  ): Promise<ErrorInfo | undefined> {
    const { tell, table, now } = this.#options;
    const known = this.#known(source);
    if (!known || !isCurrent()) return undefined;
    const { name } = known.definition;
    const { catalog } = known.state;
    if (failed) {
      const info = this.#named({ ...failed, outcome: 'not_sent', server: name });
      tell('tools.discovery.server.failed', { serverName: name, errorMessage: info.message }, traceId);
      // The engine may know its tools from an earlier run.
      if (typeof source === 'string' && !table.hasServer(source)) {
        await catalog.load(name);
        if (catalog.isSeen(name) && catalog.tools(name).length > 0 && isCurrent()) this.#copy(source);
      }
      return info;
    }
    await this.#describe(known);
    const revision = typeof source === 'string' ? undefined : revisionOf(source);
    // A tool that was not described is asked for again.
    if (this.#undescribed(known).length === 0)
      this.#reads.set(source, { at: now(), fingerprint: known.fingerprint, revision });
    this.#copy(source);
    if (typeof source === 'string')
      tell('tools.discovery.server.success', { serverName: name, toolCount: catalog.tools(name).length }, traceId);
    return undefined;
  }

  /** Asks a provider for definitions that its list left out. Those that come too late are there for the next discovery. */
  async #describe(known: KnownSource): Promise<void> {
    const { state, definition } = known;
    if (!isProvider(definition)) return;
    const turns = new Semaphore(LIMITS.atOnce.definitions);
    const describe = async (tool: ToolDefinition): Promise<void> => {
      const found = await state.describe(definition, tool);
      if (found.inputSchema === UNDESCRIBED) return;
      this.#described.set(tool, found);
      this.#copied.delete(definition.provider);
    };
    const all = this.#undescribed(known).map((tool) => turns.run(() => describe(tool)));
    if (all.length > 0) await waitAtMost(Promise.all(all), this.#options.providerMs);
  }

  /** The tools that a provider has listed and not described. */
  #undescribed({ state: { catalog }, definition }: KnownSource): readonly ToolDefinition[] {
    if (!isProvider(definition)) return [];
    const { name } = definition;
    return catalog
      .tools(name)
      .flatMap((tool) => catalog.definition(name, tool.name) ?? [])
      .filter((tool) => tool.inputSchema === UNDESCRIBED && !this.#described.has(tool));
  }

  /** Copies the tools of a source into the table, unless that was done. Returns whether it was not. */
  #copy(source: Source): boolean {
    const known = this.#known(source);
    const { table } = this.#options;
    const name = known?.definition.name ?? '';
    const listing = known?.state.catalog.state(name);
    if (!known || !listing || !known.state.catalog.isSeen(name) || this.#copied.get(source) === listing) return false;
    this.#copied.set(source, listing);
    const { catalog } = known.state;
    const tools = catalog.tools(name).flatMap(({ name: tool, examples = [] }) => {
      const definition = catalog.definition(name, tool);
      return definition ? (examples.length > 0 ? { ...definition, examples } : definition) : [];
    });
    if (typeof source === 'string') {
      this.#discovered.add(source);
      table.setServer(source, tools);
      return true;
    }
    const usable = new Map<string, OwnTool>();
    const excluded: ExcludedTool[] = [];
    for (const tool of tools) {
      const definition = tool.inputSchema === UNDESCRIBED ? this.#described.get(tool) : tool;
      const own = definition ? { definition, provider: source } : table.provided(source)?.tools.get(tool.name);
      if (own) usable.set(tool.name, own);
      else excluded.push({ serverName: null, toolName: tool.name, reason: `${name} did not describe it` });
    }
    table.setProvided(source, { tools: usable, excluded });
    return true;
  }

  /** The error in words that fit here: with the environment variable that is wrong, and without meta-tools. */
  #named(error: ErrorInfo): ErrorInfo {
    return withoutMetaTools(namingVariables(error, this.#entries, this.#options.env));
  }
}

const noServer = (server: string, tool?: string): ToolResult<never> =>
  fail('SERVER_NOT_FOUND', `This registry has no server "${server}".`, { server, tool, outcome: 'not_sent' });

/** A revision that throws counts as unchanged. */
function revisionOf(provider: ToolProvider): unknown {
  try {
    return provider.revision;
  } catch {
    return undefined;
  }
}

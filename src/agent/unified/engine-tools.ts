/**
 * Connects a registry to its engine: has the engine read lists that are due, shows what its catalogue holds, and sends calls
 * to it.
 * @module
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { type Attempt, ListKeeper } from '../../catalog/list-keeper.ts';
import { toServerError } from '../../catalog/retry-policy.ts';
import { DiscoveryError, type ErrorInfo, ServerConnectionError } from '../../core/errors.ts';
import { withoutMetaTools } from '../../core/own-server.ts';
import { fail, type ToolResult } from '../../core/result.ts';
import { type ToolProvider, UNDESCRIBED } from '../../core/tool-provider.ts';
import type { CallToolResult, ToolDefinition } from '../../core/types.ts';
import type { EngineCore } from '../../engine/engine-core.ts';
import { outsideRequests } from '../registry/request-scope.ts';
import type { ToolRegistry } from '../registry/tool-registry.ts';
import { LateDefinitions } from './late-definitions.ts';
import { RegistryEngine, type RegistryEngineOptions } from './registry-engine.ts';
import type { Tell } from './registry-log.ts';
import { entryOf, isSeen, isServer, type KnownSource, RegistrySources, type Source } from './registry-sources.ts';
import { namingVariables } from './servers-from-env.ts';
import type { AnthropicFields } from './static-tool.ts';
import { type ExcludedTool, type ToolList, type ToolLists, toToolList } from './tool-table.ts';

interface EngineToolsOptions extends RegistryEngineOptions {
  /** The static tools of the registry, and their fields for Anthropic alone. */
  readonly own: ToolRegistry;
  readonly anthropic: ReadonlyMap<string, AnthropicFields>;
  readonly tell: Tell;
  readonly ttlMs: number;
  /** How long callers wait for a provider. */
  readonly providerMs: number;
  /** Timeout of one call to a tool of the program. */
  readonly callMs: number;
}

/** The outcome of reading lists. */
export interface Discovered {
  /** Whether the shown tools may have changed. */
  readonly changed: boolean;
  readonly failures: readonly ErrorInfo[];
}

export interface SourceCallOptions {
  readonly traceId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A reading of one or more lists by the engine. */
interface Asked {
  /** The failures, by the name of the source. */
  readonly failed: Promise<ReadonlyMap<string, ErrorInfo>>;
  readonly traceId: string | undefined;
}

/** The registry that is reading lists. A provider that uses this registry while it lists must not wait for itself. */
const listing = new AsyncLocalStorage<EngineTools>();
const NOTHING: Discovered = { changed: false, failures: [] };

export class EngineTools implements ToolLists {
  readonly #options: EngineToolsOptions;
  readonly #engine: RegistryEngine;
  readonly #sources: RegistrySources;
  /** Lists that the program registered, by server. */
  readonly #registered = new Map<string, ToolList>();
  /** Servers whose catalogue lists are shown. */
  readonly #discovered = new Set<string>();
  /** Decide when each list is read, by the registry's own clock and TTL. */
  readonly #keepers = new Map<Source, ListKeeper<DiscoveryError, Asked>>();
  /** The last shown list of each source, and the catalogue entry that it was made from. */
  readonly #shown = new Map<Source, { readonly of: unknown; readonly list: ToolList }>();
  readonly #late = new LateDefinitions();
  #own: { readonly revision: string; readonly lists: readonly ToolList[] } | undefined;
  /** Count changes that the catalogue does not see: of servers here, of the registry's own providers below. */
  #changes = 0;
  #ownChanges = 0;

  constructor(options: EngineToolsOptions) {
    this.#options = options;
    this.#engine = new RegistryEngine(options);
    this.#sources = new RegistrySources(options.own, this.#engine);
  }

  addProvider(provider: ToolProvider): void {
    this.#sources.addProvider(provider);
  }

  removeProvider(provider: ToolProvider): boolean {
    this.#forget(provider);
    return this.#sources.removeProvider(provider);
  }

  /** Whether the list of a source was never read, or is older than the TTL. */
  isStale(source: Source): boolean {
    if (this.#keepers.get(source)?.isOld !== false) return true;
    const known = this.#sources.of(source);
    // The engine forgets the list of a name that now belongs to another server.
    return known !== undefined && !this.#registered.has(String(source)) && !isSeen(known);
  }

  /** Replaces the tools of a server with a list from the program. The list counts as read now. */
  register(server: string, tools: readonly ToolDefinition[]): void {
    this.#forget(server);
    this.#registered.set(server, toToolList(tools));
    this.#keeper(server).replaced();
  }

  /** Removes the tools of a server. Ignores the result of a running reading. */
  removeServer(server: string, traceId?: string): number {
    const removedCount = this.of(server)?.tools.size ?? 0;
    this.#forget(server);
    this.#discovered.delete(server);
    this.#registered.delete(server);
    if (removedCount > 0)
      this.#options.tell('tools.registry.server.removed', { serverName: server, removedCount }, traceId);
    return removedCount;
  }

  get revision(): string {
    return `${this.#changes} ${this.#sources.known().state?.catalog.version} ${this.#ownRevision()}`;
  }

  get own(): readonly ToolList[] {
    const revision = this.#ownRevision();
    if (this.#own?.revision === revision) return this.#own.lists;
    const lists = [this.#staticTools()];
    for (const [provider, known] of this.#sources.known().providers)
      if (provider !== this.#options.own) lists.push(this.#listOf(provider, known));
    this.#own = { revision, lists };
    return lists;
  }

  get servers(): Iterable<string> {
    return new Set([...this.#discovered, ...this.#registered.keys()]);
  }

  of(server: string): ToolList | undefined {
    const registered = this.#registered.get(server);
    if (registered || !this.#discovered.has(server)) return registered;
    return this.#listOf(server, this.#sources.of(server));
  }

  /**
   * Reads due lists, and removes the tools of servers that are gone. With `pick`, reads only the lists of providers and of
   * the servers that it returns, and removes nothing.
   */
  async discover(
    traceId: string | undefined,
    pick?: (servers: ReadonlyMap<string, unknown>) => readonly string[],
  ): Promise<Discovered> {
    const core = await this.#sources.open();
    if (!core) return NOTHING;
    const before = this.revision;
    if (!pick && !this.#engine.given) await core.reload({ ifChanged: true });
    await this.#ask(core, []);
    const { servers, providers } = this.#sources.known();
    if (!pick) for (const server of this.#discovered) if (!servers.has(server)) this.removeServer(server, traceId);
    const wanted = [...(pick?.(servers) ?? [...servers.keys()].sort()), ...providers.keys()];
    const due = wanted.filter((source) => this.#isDue(source, pick !== undefined));
    const fresh = due.filter((source) => !this.#keeper(source).reading);
    const remote = fresh.filter(isServer);
    if (remote.length > 0) this.#options.tell('tools.discovery.started', { serverCount: remote.length }, traceId);
    this.#read(core, remote, undefined, traceId);
    this.#read(core, fresh.filter(isOwn), this.#options.providerMs, traceId);
    await Promise.all(due.map((source) => this.#keepers.get(source)?.reading?.done));
    const failures = due.flatMap((source) => this.#keepers.get(source)?.failure?.toInfo() ?? []);
    return { changed: this.revision !== before || due.length > failures.length, failures };
  }

  /** Why the tools of some providers are not known. */
  unread(): ErrorInfo[] {
    return [...this.#sources.known().providers].flatMap(([source, known]) => {
      if (source === this.#options.own || isSeen(known)) return [];
      const { name } = known.definition;
      const unlisted = new ServerConnectionError(name, 'It has not listed its tools yet.');
      return { ...(known.state.discovery.failure(name) ?? unlisted).toInfo(), server: name };
    });
  }

  /** The error for a server that does not exist; undefined if it exists. */
  async missing(server: string): Promise<ErrorInfo | undefined> {
    const core = await this.#sources.open();
    if (this.#sources.known().servers.has(server)) return undefined;
    const result = core ? await core.toolsOf(server) : noServer(server);
    return result.success ? undefined : this.#named(result.error);
  }

  /** Calls a tool through the pipeline of the engine. */
  async call(
    source: Source,
    tool: string,
    args: unknown,
    { traceId, signal }: SourceCallOptions,
  ): Promise<ToolResult<CallToolResult>> {
    const core = await (isServer(source) ? this.#sources.open() : this.#engine.openForOwn());
    if (!core) return noServer(String(source), tool);
    await core.loaded();
    // A given engine has its own limits, which count for static tools, too.
    const isTimed = !isServer(source) && (this.#sources.has(source) || !this.#engine.given);
    const options = { traceId, signal, ...(isTimed && { timeout: this.#options.callMs }) };
    const server = isServer(source) ? source : (this.#sources.known(core).providers.get(source)?.definition.name ?? '');
    const result = await this.#sources.inScope(() => core.call({ server, tool, arguments: args, ...options }));
    return result.success ? result : { success: false, error: this.#named(result.error) };
  }

  /** Ends readings. Closes the engine if this registry created it. */
  async close(): Promise<void> {
    for (const keeper of this.#keepers.values()) keeper.invalidate();
    await Promise.all([this.#options.own.close(), this.#engine.close()]);
  }

  #forget(source: Source): void {
    this.#keepers.get(source)?.invalidate();
    this.#keepers.delete(source);
    this.#shown.delete(source);
    this.#changed(source);
  }

  #changed(source: Source): void {
    if (isServer(source)) this.#changes++;
    else this.#ownChanges++;
  }

  /** Changes with the program's tools. Includes a catalogue's version only if the catalogue holds providers. */
  #ownRevision(): string {
    const { providers } = this.#sources.known();
    const states = new Set([...providers.values()].map(({ state }) => state));
    const versions = [...states].map(({ catalog }) => catalog.version).join(' ');
    const changes = this.#ownChanges + this.#sources.changes + this.#late.changes;
    return `${changes} ${this.#options.own.revision} ${versions}`;
  }

  #isDue(source: Source, isHurried: boolean): boolean {
    const known = this.#sources.of(source);
    if (!known || source === this.#options.own) return false;
    if (isServer(source)) return this.isStale(source);
    const { state, definition } = known;
    // Do not wait again for a list that the engine is still reading.
    if (isHurried && state.discovery.isRunning(definition.name) && !this.#keepers.get(source)?.reading) return false;
    // Missing definitions are asked for again.
    return listing.getStore() !== this && (this.isStale(source) || this.#late.missing(known).length > 0);
  }

  /** Makes the engine read these lists, and the changed lists of providers. */
  #ask(core: EngineCore, sources: readonly Source[], waitMs?: number): Asked['failed'] {
    const servers = sources.map((source) => this.#sources.of(source)?.definition.name ?? '');
    const read = () => this.#sources.inScope(() => core.readLists({ servers, again: true, waitMs }));
    return listing.run(this, () => outsideRequests(read));
  }

  #keeper(source: Source): ListKeeper<DiscoveryError, Asked> {
    const known = this.#keepers.get(source);
    if (known) return known;
    const { ttlMs, now } = this.#options;
    const keeper = new ListKeeper<DiscoveryError, Asked>({
      read: (attempt, asked) => this.#take(source, attempt, asked),
      toFailure: (thrown) => toServerError(thrown, isServer(source) ? source : ''),
      isStale: (ageMs) => ageMs >= ttlMs,
      // The engine itself backs off from failing servers.
      retry: { initial: 0, max: 0 },
      now,
    });
    this.#keepers.set(source, keeper);
    return keeper;
  }

  #read(core: EngineCore, sources: readonly Source[], waitMs: number | undefined, traceId: string | undefined): void {
    if (sources.length === 0) return;
    const failed = this.#ask(core, sources, waitMs);
    for (const source of sources) this.#keeper(source).read({ failed, traceId });
  }

  /** Shows the tools that were read. Rejects with the failure. */
  async #take(source: Source, { isCurrent }: Attempt<DiscoveryError>, asked: Asked): Promise<boolean> {
    const before = entryOf(this.#sources.of(source));
    const failures = await asked.failed;
    const known = this.#sources.of(source);
    if (!known || !isCurrent()) return false;
    const { name } = known.definition;
    const { catalog } = known.state;
    const { tell } = this.#options;
    const failed = failures.get(name);
    // The engine may know the server's tools from an earlier run.
    if (failed && isServer(source)) await catalog.load(name);
    else await this.#late.ask(known, this.#options.providerMs);
    if (!isCurrent()) return false;
    if (isServer(source) && (!failed || (isSeen(known) && catalog.tools(name).length > 0))) {
      this.#discovered.add(source);
      this.#changed(source);
    }
    const failure = failed ?? incompleteness(known, before);
    if (failure) {
      const info = this.#named({ ...failure, outcome: 'not_sent', server: name });
      tell('tools.discovery.server.failed', { serverName: name, errorMessage: info.message }, asked.traceId);
      throw new DiscoveryError(info.code, info.message, info);
    }
    if (!isServer(source)) return true;
    this.#registered.delete(source);
    const { incomplete } = entryOf(known) ?? {};
    const found = { serverName: name, toolCount: catalog.tools(name).length, ...(incomplete && { incomplete }) };
    tell('tools.discovery.server.success', found, asked.traceId);
    return true;
  }

  /** The static tools that the rules in force allow. */
  #staticTools(): ToolList {
    const { own, anthropic } = this.#options;
    const known = this.#sources.known().providers.get(own);
    const isAllowed = (tool: ToolDefinition) =>
      known?.state.policy.decide(known.definition.name, tool).enabled !== false;
    const allowed = own.listTools().filter(isAllowed);
    return { tools: new Map(allowed.map((tool) => [tool.name, tool])), provider: own, anthropic };
  }

  /** The tools of a source in the catalogue, with their examples; the last shown tools if the catalogue has none. */
  #listOf(source: Source, known: KnownSource | undefined): ToolList {
    const shown = this.#shown.get(source);
    if (!known || !isSeen(known)) return shown?.list ?? NO_TOOLS;
    const {
      state: { catalog },
      definition: { name },
    } = known;
    if (!catalog.isLoaded(name)) void catalog.load(name);
    const of = catalog.state(name);
    if (shown && (!catalog.isLoaded(name) || (shown.of === of && shown.list.excluded?.length === 0))) return shown.list;
    const tools = new Map<string, ToolDefinition>();
    const excluded: ExcludedTool[] = [];
    for (const { name: tool, examples = [] } of catalog.tools(name)) {
      const listed = catalog.definition(name, tool);
      const isBare = listed?.inputSchema === UNDESCRIBED;
      const definition = isBare ? (this.#late.of(listed) ?? shown?.list.tools.get(tool)) : listed;
      if (definition) tools.set(tool, examples.length > 0 ? { ...definition, examples } : definition);
      else excluded.push({ serverName: null, toolName: tool, reason: `${name} did not describe it` });
    }
    const list = { tools, excluded, ...(!isServer(source) && { provider: source }) };
    this.#shown.set(source, { of, list });
    return list;
  }

  /** Adapts an error to this registry: names the wrong environment variable, and mentions no meta-tools. */
  #named(error: ErrorInfo): ErrorInfo {
    return withoutMetaTools(namingVariables(error, this.#engine.entries, this.#options.env));
  }
}

const NO_TOOLS: ToolList = { tools: new Map() };

const isOwn = (source: Source): source is ToolProvider => !isServer(source);

/** The failure of an incomplete list, also if the catalogue kept the list `before`. Undefined for a complete one. */
function incompleteness(known: KnownSource, before: unknown) {
  const now = entryOf(known);
  if (now?.isCut && now !== before) return undefined;
  const reason = now?.incomplete ?? (now === before && 'the new list is incomplete; the last one stays in use');
  return reason ? new ServerConnectionError(known.definition.name, reason).toInfo() : undefined;
}

const noServer = (server: string, tool?: string): ToolResult<never> =>
  fail('SERVER_NOT_FOUND', `This registry has no server "${server}".`, { server, tool, outcome: 'not_sent' });

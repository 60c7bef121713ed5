/**
 * Discovers the tools of servers, configured or not: lists them, describes them as capabilities, registers them and
 * writes them down. One more view of an engine: it uses the engine's connections, lists, retries and rules.
 * @module
 */
import { Semaphore } from '../async/semaphore.ts';
import { WEAK } from '../catalog/search-notes.ts';
import { requireServer } from '../catalog/tool-lookup.ts';
import type { ServerConfig } from '../config/define-config.ts';
import { DiscoveryError, type ErrorInfo, ValidationError } from '../core/errors.ts';
import type { ToolProvider } from '../core/tool-provider.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { ServerDefinition, ServerItems } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { coreOf, type EngineHandle, isEngine } from '../engine/engine-handle.ts';
import type { EngineConfig, EngineOptions } from '../engine/engine-world.ts';
import type { RuleSet } from '../rules/decide.ts';
import type { DiscoveredTool, DiscoverySource } from './discover-server.ts';
import { checkOptions, type DiscoveryOptions, parallelOf, withDefaultTtl } from './discovery-options.ts';
import type { ExportFormat } from './export/export-formats.ts';
import { type CapabilityManifest, type ManifestTool, toolToManifest } from './manifest.ts';
import { manifestOf, registerCapabilities, type ServicePorts } from './register-capabilities.ts';
import { serverProvider } from './server-provider.ts';
import { ServiceRegistries } from './service-registries.ts';

/** A server: the name of a configured or discovered one, or an entry as in a configuration. */
export type ServerChoice = string | ServerConfig;

/** What became of one server of several. */
export interface ServerDiscovery {
  readonly server: string;
  readonly tools: readonly DiscoveredTool[];
  /** Why there are no tools, with the stage. */
  readonly error?: ErrorInfo | undefined;
}

/** A server that has a capability. */
export interface ServerMatch {
  /** Its name here, or in the registry. */
  readonly server: string;
  readonly source: 'local' | 'registry';
  /** From 0 to 1. */
  readonly relevance: number;
  readonly summary: string;
  /** The tools that fit, best first; of a local server. */
  readonly tools: readonly string[];
}

/** What became of warming the cache. */
export interface WarmCacheStats {
  readonly successful: number;
  readonly failed: number;
  readonly cachedTools: number;
  /** The errors, by server. */
  readonly errors: ReadonlyMap<string, ErrorInfo>;
}

/**
 * The discovery service. `engine.service()` makes one for an engine; on its own it makes an engine for itself.
 * @example
 * const service = engine.service();
 * const tools = await service.discoverTools({ name: 'docs', connection: { type: 'http', url: 'https://example.com/mcp' } });
 * for (const tool of tools) await service.registerCapability(tool);
 */
export class DiscoveryService implements AsyncDisposable {
  readonly #open: () => Promise<EngineCore>;
  readonly #ports: ServicePorts;
  #core: Promise<EngineCore> | undefined;
  readonly #isOwner: boolean;
  #opened: ServiceRegistries | undefined;

  /**
   * Takes an engine, or the configuration of one. An engine of its own keeps nothing on disk unless `state` or the
   * variable `CCOS_MCP_CACHE_DIR` names a folder. `CCOS_MCP_CACHE_TTL` is the age of a list in seconds; default: a day.
   */
  constructor(engine: EngineHandle | EngineConfig = {}, options: EngineOptions & ServicePorts = {}) {
    const { marketplace, catalog, ...rest } = options;
    this.#ports = { marketplace, catalog };
    this.#isOwner = !isEngine(engine);
    this.#open = async () => {
      if (isEngine(engine)) return coreOf(engine);
      const { EngineCore } = await import('../engine/engine-core.ts');
      const env = rest.env ?? process.env;
      const ttl = env.ANYGPT_CACHE_TTL ?? env.CCOS_MCP_CACHE_TTL;
      return new EngineCore(
        withDefaultTtl(engine),
        { ...rest, env: { ...env, ANYGPT_CACHE_TTL: ttl } },
        env.CCOS_MCP_CACHE_DIR || 'memory',
      );
    };
  }

  /** The tools of one server that the rules permit. Throws `DiscoveryError` with a `stage`. */
  async discoverTools(server: ServerChoice, options: DiscoveryOptions = {}): Promise<readonly DiscoveredTool[]> {
    checkOptions(options);
    return this.#discover(await this.#source(server), options);
  }

  /** The resources, resource templates and prompts of one server that the rules permit; `options` as for tools. */
  async discoverResources(server: ServerChoice, options: DiscoveryOptions = {}): Promise<ServerItems> {
    checkOptions(options);
    const source = await this.#source(server);
    const [{ readList }, { usableItems }] = await Promise.all([
      import('./discover-server.ts'),
      import('../catalog/server-items.ts'),
    ]);
    const { items } = await readList(source, options, (await this.#engine()).runtime.downstreams);
    return usableItems(items, (kind, id) => source.permits(id, kind));
  }

  /**
   * Finds servers in the registries of the configuration and discovers the tools of those that can be reached without a
   * person. No program of a registry is started, and no credential is sent. What went wrong is in `error`, by server.
   */
  async discoverFromRegistry(query: string, options: DiscoveryOptions = {}): Promise<readonly ServerDiscovery[]> {
    if (options.authHeaders !== undefined)
      throw new ValidationError('authHeaders are for one server: discover it with discoverTools.');
    const found = await (await this.#registries()).entries(query, options.useCache);
    return this.#discoverAll(found, options);
  }

  /** Servers of the registries that have a capability, best first. Answers are kept for an hour. */
  async searchRegistryForCapability(query: string, useCache = true): Promise<readonly ServerMatch[]> {
    const results = await (await this.#registries()).search(query, useCache);
    return results.map(({ name: server, relevance, summary }) => ({
      server,
      source: 'registry',
      relevance,
      summary,
      tools: [],
    }));
  }

  /** Servers that have a capability: local ones; those of the registries only if nothing local fits. */
  async findServersForCapability(name: string, { useCache }: DiscoveryOptions = {}): Promise<readonly ServerMatch[]> {
    const core = await this.#engine();
    const hits = (await core.searchTools(name)).filter(({ relevance }) => relevance >= WEAK);
    const local = new Map<string, ServerMatch>();
    for (const { server, tool, relevance, summary } of hits) {
      const { tools = [], ...first } = local.get(server) ?? { server, source: 'local', relevance, summary };
      local.set(server, { ...first, tools: [...tools, tool] });
    }
    if (local.size > 0) return [...local.values()];
    return this.searchRegistryForCapability(name, useCache);
  }

  /** Makes a tool of a discovered or configured server findable and callable, for as long as the engine lives. */
  async registerCapability(manifest: CapabilityManifest): Promise<void> {
    await registerCapabilities([manifest], this.#ports, (await this.#engine()).runtime);
  }

  /**
   * Infers the output schema of a tool by one call, if the tool is known to be read-only: by the tag `read-only` of a
   * rule, or by the hint of a server with `trusted: true`. The tool must be registered or configured. Throws why it was
   * not called, or what went wrong.
   */
  async inferOutputSchema(tool: CapabilityManifest): Promise<CapabilityManifest> {
    if (tool.outputSchema !== undefined) return tool;
    const source = await this.#source(tool.provider.server);
    const { schemaByCall } = await import('./observe/safe-call.ts');
    return { ...tool, outputSchema: await schemaByCall(tool, source, await this.#engine()), outputInferred: true };
  }

  /** One tool as a capability, with inferred domains and categories. */
  toolToManifest(
    tool: ManifestTool,
    server: string | Pick<ServerDefinition, 'name' | 'connection'>,
  ): CapabilityManifest {
    return toolToManifest(tool, typeof server === 'string' ? { name: server } : server);
  }

  /**
   * Reads the lists of servers in advance and closes the connections. Lists that are fresh are not read again, unless
   * `useCache` is false. A server that fails does not keep the others from being read.
   */
  async warmCacheForServers(servers: readonly ServerChoice[], options: DiscoveryOptions = {}): Promise<WarmCacheStats> {
    const found = await this.#discoverAll(
      servers.map((choice) => [nameOf(choice), () => choice]),
      { useCache: true, ...options },
    );
    const failed = found.flatMap(({ server, error }) => (error === undefined ? [] : [[server, error] as const]));
    return {
      successful: found.length - failed.length,
      failed: failed.length,
      cachedTools: found.reduce((sum, { tools }) => sum + tools.length, 0),
      errors: new Map(failed),
    };
  }

  /** The same for all servers of the configuration that are switched on. */
  async warmCacheForAllConfiguredServers(options: DiscoveryOptions = {}): Promise<WarmCacheStats> {
    return this.warmCacheForServers(await (await this.#engine()).serverNames(), options);
  }

  /** Clears the cached list of one server, configured or discovered, or those of all. They are read again when needed. */
  async clearCache(server?: string): Promise<void> {
    const core = await this.#engine();
    const { guests } = core.runtime;
    await guests.forget(server);
    if (server !== undefined && guests.state(server) !== undefined) return;
    const cleared = await core.forget(server);
    if (!cleared.success) throw new DiscoveryError(cleared.error.code, cleared.error.message, cleared.error);
  }

  /** Writes capabilities as files. Returns their paths below the folder. */
  async export(
    manifests: readonly CapabilityManifest[],
    { format = 'rtfs', directory }: { readonly format?: ExportFormat; readonly directory?: string | undefined } = {},
  ): Promise<readonly string[]> {
    const [{ exportFiles }, { exportFolder }, { writeFiles }] = await Promise.all([
      import('./export/export-files.ts'),
      import('./export/export-formats.ts'),
      import('./export/write-files.ts'),
    ]);
    const { files } = exportFiles(manifests.map(manifestOf), format);
    await writeFiles(directory ?? exportFolder(format), files);
    return files.map(({ path }) => path);
  }

  /**
   * The tools of one server as a provider, for a `ToolRegistry`, a `UnifiedToolRegistry` or another engine. With
   * `authHeaders` the server must be given as an entry; its calls have these headers, too.
   */
  provider(choice: ServerChoice, { authHeaders, ...options }: DiscoveryOptions = {}): ToolProvider {
    const server = authHeaders === undefined ? choice : withHeaders(choice, authHeaders);
    const name = nameOf(server);
    return serverProvider(
      name,
      () => this.#engine(),
      async () => {
        checkOptions(options);
        const found = await this.#source(server);
        return this.#discover(found, { useCache: true, registerInMarketplace: true, ...options }, true);
      },
    );
  }

  /** Closes the engine that the service has made for itself. An engine that it was made from stays open. */
  async close(): Promise<void> {
    if (this.#isOwner) await (await this.#core)?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #engine(): Promise<EngineCore> {
    this.#core ??= this.#open();
    return this.#core;
  }

  async #registries(): Promise<ServiceRegistries> {
    this.#opened ??= new ServiceRegistries((await this.#engine()).runtime);
    return this.#opened;
  }

  /** Discovers several servers, some at a time. One that fails does not keep the others from being discovered. */
  async #discoverAll(
    servers: readonly (readonly [name: string, choice: () => ServerChoice | Promise<ServerChoice>])[],
    options: DiscoveryOptions,
  ): Promise<readonly ServerDiscovery[]> {
    const turns = new Semaphore(parallelOf(options));
    const attempt = async (
      name: string,
      choose: () => ServerChoice | Promise<ServerChoice>,
    ): Promise<ServerDiscovery> => {
      let server = name;
      try {
        const choice = await choose();
        server = nameOf(choice);
        return { server, tools: await this.discoverTools(choice, options) };
      } catch (error) {
        if (!(error instanceof DiscoveryError)) throw error;
        return { server, tools: [], error: error.toInfo() };
      }
    };
    return Promise.all(servers.map(([name, choose]) => turns.run(() => attempt(name, choose))));
  }

  async #discover(
    source: DiscoverySource,
    options: DiscoveryOptions,
    isStanding = false,
  ): Promise<readonly DiscoveredTool[]> {
    const { discoverServer } = await import('./discover-server.ts');
    const { runtime } = await this.#engine();
    return discoverServer(source, options, {
      downstreams: runtime.downstreams,
      register: (tools) => registerCapabilities(tools, this.#ports, runtime, isStanding),
      introspect: async (tools) => {
        const complete: DiscoveredTool[] = [];
        for (const tool of tools) complete.push(await this.#introspected(tool, source));
        return complete;
      },
      export: (tools, directory) => this.export(tools, { directory }),
    });
  }

  /** A tool with its output schema, or with the reason why that was not found out. */
  async #introspected(tool: DiscoveredTool, source: DiscoverySource): Promise<DiscoveredTool> {
    if (tool.outputSchema !== undefined) return tool;
    const [{ schemaByCall }, { withOutput }] = await Promise.all([
      import('./observe/safe-call.ts'),
      import('./discover-server.ts'),
    ]);
    try {
      return withOutput(tool, await schemaByCall(tool, source, await this.#engine()));
    } catch (error) {
      if (!(error instanceof DiscoveryError)) throw error;
      return { ...tool, problems: [...tool.problems, error.toInfo()] };
    }
  }

  /** Finds a server by its name, or takes in one that is not configured. */
  async #source(choice: ServerChoice): Promise<DiscoverySource> {
    const { runtime } = await this.#engine();
    const { state: base } = await runtime.ready();
    const name = typeof choice === 'string' ? choice : choice?.name;
    if (typeof name !== 'string')
      throw new ValidationError('A server is named by a text, or given as an entry with a name.');
    if (base.offReason !== undefined) throw new DiscoveryError('SERVER_NOT_FOUND', base.offReason, { server: name });
    const guest =
      typeof choice === 'string' ? runtime.guests.state(name) : await runtime.admit(await this.#resolved(choice));
    if (guest !== undefined) return sourceIn(guest, name, guest.rules.permitted);
    const known = requireServer(base, name);
    if (!known.success) throw new DiscoveryError(known.error.code, known.error.message, known.error);
    return sourceIn(base, name, base.rules);
  }

  /** A server that the program names gets the token of `<SERVER>_MCP_TOKEN` or `MCP_AUTH_TOKEN`, unless it has one. */
  async #resolved(entry: ServerConfig): Promise<ServerDefinition> {
    const { runtime } = await this.#engine();
    const { connection } = entry;
    if (connection === undefined) throw new ValidationError(`The server "${entry.name}" has no connection.`);
    // A registry must not get a token by choosing a name.
    const hasToken =
      isLocal(connection) ||
      entry.registry !== undefined ||
      Object.keys(connection.headers ?? {}).some((name) => /^authorization$/i.test(name));
    return runtime.world.resolveServer(hasToken ? entry : { ...entry, connection: { auth: 'env', ...connection } });
  }
}

const sourceIn = (state: DiscoverySource['state'], name: string, rules: RuleSet): DiscoverySource => ({
  state,
  // The caller has looked it up.
  definition: state.servers.get(name)?.definition as DiscoverySource['definition'],
  permits: (one, kind, tool) =>
    rules.decide(name, one, kind, tool && { ...tool, inputSchema: tool.inputSchema ?? {} }).enabled,
});

function withHeaders(server: ServerChoice, headers: Readonly<Record<string, string>>): ServerConfig {
  const connection = typeof server === 'string' ? undefined : server.connection;
  if (typeof server === 'string' || connection === undefined || isLocal(connection))
    throw new ValidationError('authHeaders of a provider are for the entry of a remote server.');
  return { ...server, connection: { ...connection, headers: { ...connection.headers, ...headers } } };
}

const nameOf = (choice: ServerChoice): string => (typeof choice === 'string' ? choice : choice.name);

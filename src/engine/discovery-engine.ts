/**
 * Offers programs one engine: own tools and MCP servers behind one catalogue, one search and one way to call.
 * @module
 */

import type { DefinitionsOf, ToolFormat } from '../agent/formats/definition-types.ts';
import type { ToolResultsOf } from '../agent/formats/result-types.ts';
import type { AnyToolCall, FormatOf } from '../agent/formats/tool-call.ts';
import { checkProvider } from '../agent/registry/check-provider.ts';
import type { ListChanges } from '../agent/registry/list-changes.ts';
import type { AttachableServer } from '../agent/registry/sdk-server.ts';
import { ToolRegistry } from '../agent/registry/tool-registry.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { DiscoveryError, type ErrorInfo, ToolNotFoundError, ValidationError } from '../core/errors.ts';
import { isReservedTool } from '../core/own-server.ts';
import type { ToolContext, ToolProvider, ToolSummary } from '../core/tool-provider.ts';
import type { CallToolResult, SearchResult, ServerMetadata, ToolDefinition, ToolMetadata } from '../core/types.ts';
import type { ExecuteOptions, ExecutionEvents } from '../execution/tool-executor.ts';
import { isObject } from '../json/plain-object.ts';
import { DiscoveryService } from '../service/discovery-service.ts';
import type { ServicePorts } from '../service/register-capabilities.ts';
import { AgentTools, type HandleOptions, type ToolsOptions } from './agent-tools.ts';
import { attachEngine, changesOf, type EngineAttachOptions } from './attach-engine.ts';
import { EngineCore, type ExecutionResult } from './engine-core.ts';
import { CORE, type EngineHandle } from './engine-handle.ts';
import type { EngineConfig, EngineOptions } from './engine-world.ts';
import type { FindOptions } from './find-tools.ts';
import type { PendingTool } from './pending-tools.ts';

/**
 * Offers own tools and the tools of servers to one agent loop.
 * @example
 * const engine = new DiscoveryEngine({ servers, providers: [registry] });
 * const tools = engine.tools({ format: 'anthropic', mode: 'search' });
 * const answer = await engine.handle(call); // own tool, server's tool or meta-tool alike
 */
export class DiscoveryEngine implements ToolProvider, EngineHandle, AsyncDisposable {
  readonly #core: EngineCore;
  readonly #tools: AgentTools;
  #changes: ListChanges | undefined;
  #service: DiscoveryService | undefined;

  /**
   * Takes a configuration (as written by hand, as `ConfigurationLoader.load()` returns it, or `configFile()`), with the
   * program's own `providers` beside it. Reads the configuration on first use. Throws `ValidationError` for an invalid
   * provider.
   */
  constructor(config: EngineConfig, options: EngineOptions = {}) {
    const { providers = [] } = isObject(config) ? (config as EngineConfig) : {};
    providers.forEach(checkOwnTools);
    this.#core = new EngineCore(config, options, 'memory');
    this.#tools = new AgentTools(this.#core);
  }

  /**
   * The tools for a model, in the format of its API. Own tools are always current if their provider lists them
   * synchronously, as a `ToolRegistry` does. Asks no server; call `ready()` first to read all lists. After the first list
   * of all tools, errors from `handle()` no longer mention meta-tools: a call does not tell which list its model got.
   */
  tools<F extends ToolFormat = 'anthropic'>(options?: ToolsOptions<F>): DefinitionsOf[F] {
    return this.#tools.tools(options);
  }

  /**
   * Answers a model's call in the shape of its API, whichever tool it names. A tool's failure is an answer, never a
   * rejection. Throws `ValidationError` if `call` is not a tool call.
   */
  handle<C extends AnyToolCall, F extends ToolFormat = FormatOf<C>>(
    call: C,
    options?: HandleOptions<F>,
  ): Promise<ToolResultsOf[F]> {
    return this.#tools.handle(call, options);
  }

  /**
   * Reads the lists of all sources, with a timeout, and builds the index, so that the first search does not wait.
   * Resolves with the errors, by source.
   */
  ready(options: { readonly waitMs?: number | undefined } = {}): Promise<ReadonlyMap<string, ErrorInfo>> {
    return this.#core.ready(options);
  }

  /**
   * Offers the engine's tools on a server of the MCP SDK, version 1 or 2, beside the server's own tools: the
   * meta-tools, or every tool with `mode: 'all'`. Attach before the server is connected.
   */
  attach(server: AttachableServer, options: EngineAttachOptions = {}): void {
    this.#changes ??= changesOf(this.#core);
    attachEngine(server, options, { core: this.#core, tools: this.#tools, changes: this.#changes });
  }

  /** All servers and providers with their state. Connects to none. */
  listServers(): Promise<ServerMetadata[]> {
    return this.#core.listServers();
  }

  /** The best tools for a query, best first. Empty for an unknown server. */
  searchTools(query: string, options?: FindOptions): Promise<SearchResult[]> {
    return this.#core.searchTools(query, options);
  }

  /** One server's tools, by name. Empty for a server that is unknown or cannot be reached. */
  listTools(server: string, includeDisabled?: boolean): Promise<ToolMetadata[]> {
    return this.#core.listTools(server, includeDisabled);
  }

  /** One tool with its parameters and examples. Null for a tool that is unknown or may not be used. */
  getToolDetails(server: string, tool: string): Promise<ToolMetadata | null> {
    return this.#core.getToolDetails(server, tool);
  }

  /** Calls a tool through the whole pipeline. Never throws. */
  executeTool(server: string, tool: string, args?: unknown, options?: ExecuteOptions): Promise<ExecutionResult> {
    return this.#core.executeTool(server, tool, args, options);
  }

  /** Like `executeTool`, as events: progress, then exactly one result. Leaving the loop cancels the call. */
  executeStream(server: string, tool: string, args?: unknown, options?: ExecuteOptions): ExecutionEvents {
    return this.#core.executeStream(server, tool, args, options);
  }

  /**
   * The tools that wait for approval, with the definition that was approved before and what the scanner finds. Servers
   * of other clients, registries and projects need approvals; those written in the configuration do not, unless
   * `approval` says so.
   */
  pendingTools(): Promise<readonly PendingTool[]> {
    return this.#core.approvals.pending();
  }

  /**
   * Approves definitions of a server exactly as they are handed in, and makes their tools usable. Resolves with the names
   * of those that are too large to be approved. Without a `state` folder, approvals last as long as the engine.
   * @example
   * for (const { server, definition, findings } of await engine.pendingTools())
   *   if (findings.length === 0) await engine.approveTools(server, [definition]);
   */
  async approveTools(server: string, definitions: readonly ToolDefinition[]): Promise<readonly string[]> {
    const refused = await this.#core.approvals.approve(server, definitions);
    await this.#core.reload({ ifChanged: true });
    return refused;
  }

  /**
   * Loads the configuration again and replaces the current one. On an error the current one stays and the error is
   * thrown.
   */
  async reload(): Promise<void> {
    await this.#core.reload();
  }

  /** The configuration in force. Secrets in it are still references. */
  getConfig(): Promise<ResolvedConfig> {
    return this.#core.getConfig();
  }

  /** As a provider: changes whenever a list changes. */
  get revision(): string {
    return this.#core.states
      .map(({ catalog, providers }) =>
        [catalog.version, ...providers.map(({ provider }) => provider.revision)].join(' '),
      )
      .join(' ');
  }

  /**
   * As a provider: every tool that may be used. Own tools have their own names, tools of servers are named
   * `server__tool`.
   */
  async listToolMetadata(): Promise<readonly ToolSummary[]> {
    await this.#core.ready();
    const { described, nameOf } = this.#tools.known();
    return described.map((tool) => {
      const { server = '', name, title, description, inputSchema } = tool;
      const { annotations, outputSchema } = this.#tools.wholeDefinitionOf(tool) ?? {};
      return {
        name: nameOf({ server, tool: name }),
        title,
        description,
        inputSchema: inputSchema as ToolSummary['inputSchema'],
        outputSchema,
        annotations,
      };
    });
  }

  /** As a provider: one tool by its listed name. */
  async getTool(name: string): Promise<ToolDefinition | undefined> {
    const ref = await this.#tools.find(name);
    const found = ref && (await this.#core.describe(ref.server, ref.tool));
    if (!found?.success) return undefined;
    const { title, description, inputSchema = { type: 'object' }, outputSchema, annotations } = found.data;
    return { name, title, description, inputSchema, outputSchema, annotations };
  }

  /** As a provider: calls a tool by its listed name. Throws `ToolNotFoundError`, or the error of the call. */
  async callTool(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    context: Partial<ToolContext> = {},
  ): Promise<CallToolResult> {
    const ref = await this.#tools.find(name);
    if (!ref) throw new ToolNotFoundError(name);
    const result = await this.#core.call({ ...ref, arguments: args, ...context });
    if (result.success) return result.data;
    throw new DiscoveryError(result.error.code, result.error.message, { ...result.error, tool: name });
  }

  /** The discovery service of this engine: finds, describes and registers servers that are not configured, too. */
  service(ports?: ServicePorts): DiscoveryService {
    this.#service ??= new DiscoveryService(this);
    return ports === undefined ? this.#service : new DiscoveryService(this, ports);
  }

  /** Closes connections and processes and saves state. Running calls get a grace period. */
  close(): Promise<void> {
    return this.#core.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get [CORE](): EngineCore {
    return this.#core;
  }
}

/** Throws for an invalid provider, and for a registry whose tool has the name of a meta-tool. */
function checkOwnTools(provider: ToolProvider): void {
  checkProvider(provider);
  // Only a registry: a method of that name may do anything in another provider.
  const listed = provider instanceof ToolRegistry ? provider.listTools() : [];
  const taken = listed.find(({ name }) => isReservedTool(name));
  if (taken)
    throw new ValidationError(`"${taken.name}" is the name of a meta-tool. Register this tool under another name.`);
}

/**
 * Gives an agent loop one registry over a program's own tools and the tools of MCP servers. It is a view of the engine,
 * with the names, error codes and log events of specification 002, "Tool Discovery & Registration".
 *
 * An own tool wins over an MCP tool of the same name. Servers are connected on first use. Lists stay fresh for five minutes;
 * a list that cannot be refreshed stays. Failures are results; only programming errors throw.
 * @module
 */
import { type ErrorInfo, ValidationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { ok, toFailure } from '../../core/result.ts';
import type { ToolProvider } from '../../core/tool-provider.ts';
import type { CallToolResult, JsonSchema, ToolDefinition } from '../../core/types.ts';
import { shorten } from '../../text/plain-text.ts';
import type { AiSdkOptions, DefinitionSet, DefinitionsOf, ToolFormat } from '../formats/definition-types.ts';
import type { ToolResultsOf } from '../formats/result-types.ts';
import { SeenNames } from '../formats/shown-names.ts';
import { type AnyToolCall, type FormatOf, readToolCall, type ToolCallOptions } from '../formats/tool-call.ts';
import { type ResultOptionsOf, toToolResult } from '../formats/tool-result.ts';
import { checkProvider } from '../registry/check-provider.ts';
import type { ToJsonSchema } from '../registry/schema-export.ts';
import type { StandardSchema } from '../registry/standard-schema.ts';
import type { ArgumentsOf, ToolSchema } from '../registry/tool-registration.ts';
import { ToolRegistry } from '../registry/tool-registry.ts';
import { type ClaudeTool, type DefinitionOptions, Definitions } from './definitions.ts';
import { type Discovered, EngineTools } from './engine-tools.ts';
import { createTell, type Tell } from './registry-log.ts';
import { resolveOptions, type UnifiedToolRegistryOptions } from './registry-options.ts';
import { unsetFor } from './servers-from-env.ts';
import {
  type AnthropicFields,
  registerStatic,
  type StandardArguments,
  type StaticToolDefinition,
  type StaticToolHandler,
} from './static-tool.ts';
import { callTool, type ModelCall, type RegistryCallOptions, type ToolCallerParts } from './tool-caller.ts';
import {
  type RegistryResult,
  refuse,
  toDiscoveryError,
  toModelResult,
  toRegistryFailure,
  withoutStop,
} from './tool-error.ts';
import { type DiscoverySummary, type FoundTool, ToolTable } from './tool-table.ts';
import { formatToolName, type ParsedToolName, parseToolName } from './unified-name.ts';

/** One tool of a registry. */
export interface RegisteredTool {
  /** In Anthropic's format, under the name that models see. */
  readonly claudeTool: ClaudeTool;
  /** Null for one of the program's own tools. */
  readonly serverName: string | null;
  /** The tool's name at its source, without a prefix. */
  readonly originalName: string;
}

/** Options of `handle`. */
interface HandleCallOptions<F extends ToolFormat = ToolFormat>
  extends Omit<RegistryCallOptions, 'format'>,
    ToolCallOptions<F> {
  /** Set to false if the model reads only text: images and files are then named, not sent. Default true. */
  readonly media?: boolean | undefined;
}

const CLOSED = 'The registry is closed.';

/**
 * One registry for an agent loop.
 * @example
 * await using registry = new UnifiedToolRegistry({ servers: serversFromEnv(['rube']), logger });
 * registry.registerStaticTool('get_time', () => new Date().toISOString(), { description: 'Tells the time' });
 * await registry.discoverAllTools(traceId);
 * const message = await anthropic.messages.create({ ...request, tools: registry.getToolDefinitions() });
 * const result = await registry.callTool(block.name, block.input, { traceId });
 */
export class UnifiedToolRegistry {
  /** The static tools. */
  readonly #own: ToolRegistry;
  readonly #anthropic = new Map<string, AnthropicFields>();
  readonly #table: ToolTable;
  readonly #engine: EngineTools;
  readonly #definitions: Definitions;
  readonly #seen = new SeenNames();
  readonly #tell: Tell;
  readonly #parts: ToolCallerParts;
  readonly #unset: readonly string[];
  readonly #toJsonSchema: ToJsonSchema | undefined;
  #saidUnset = false;
  #closed = false;

  constructor(options: UnifiedToolRegistryOptions = {}) {
    const { servers, ttlMs, providerMs, callMs, now, env, toJsonSchema, logger } = resolveOptions(options);
    this.#unset = unsetFor(servers);
    this.#toJsonSchema = toJsonSchema;
    this.#tell = createTell(logger);
    this.#own = new ToolRegistry({ name: 'own', toJsonSchema });
    const given = { servers, ttlMs, providerMs, callMs, now, env };
    const tell = this.#tell;
    this.#engine = new EngineTools({ ...given, own: this.#own, anthropic: this.#anthropic, tell });
    this.#table = new ToolTable(this.#engine);
    this.#definitions = new Definitions(this.#table);
    this.#parts = { table: this.#table, tell, engine: this.#engine, seen: this.#seen };
  }

  /**
   * Adds one of the program's own tools. Its schema is JSON Schema, or a schema of zod, valibot or arktype; each gives the
   * handler's arguments their types. Throws `ValidationError` for a name that is taken or invalid.
   * @example
   * const input_schema = z.object({ city: z.string() });
   * registry.registerStaticTool('weather', ({ city }) => forecast(city), { description: 'Tell the weather', input_schema });
   */
  registerStaticTool<Schema extends StandardSchema>(
    name: string,
    handler: StaticToolHandler<StandardArguments<Schema>>,
    toolDefinition: StaticToolDefinition<Schema> &
      ({ readonly input_schema: Schema } | { readonly inputSchema: Schema }),
  ): void;
  registerStaticTool<const Schema extends JsonSchema>(
    name: string,
    handler: StaticToolHandler<Extract<ArgumentsOf<Schema>, object>>,
    toolDefinition: StaticToolDefinition<Schema> &
      ({ readonly input_schema: Schema } | { readonly inputSchema: Schema }),
  ): void;
  registerStaticTool<Args extends object = Readonly<Record<string, unknown>>>(
    name: string,
    handler: StaticToolHandler<Args>,
    toolDefinition: StaticToolDefinition,
  ): void;
  registerStaticTool(
    name: string,
    handler: StaticToolHandler<never>,
    toolDefinition: StaticToolDefinition<ToolSchema>,
  ): void {
    if (this.#anthropic.has(name)) throw new ValidationError(`There is already a tool "${name}" in this registry.`);
    this.#anthropic.set(name, registerStatic(this.#own, name, handler, toolDefinition, this.#toJsonSchema));
  }

  /**
   * Adds all tools of a provider, such as a `ToolRegistry`, as the program's own. They appear with the next discovery. Of two
   * tools with one name, the first one wins.
   */
  addProvider(provider: ToolProvider): void {
    checkProvider(provider);
    this.#engine.addProvider(provider);
  }

  /** Removes a provider and its tools. Returns false if it was not added. */
  removeProvider(provider: ToolProvider): boolean {
    return this.#engine.removeProvider(provider);
  }

  /** Replaces the tools of one server with a list in the format of `tools/list`. The list counts as read now. */
  registerMcpTools(serverName: string, tools: readonly ToolDefinition[]): RegistryResult<DiscoverySummary> {
    if (typeof serverName !== 'string' || serverName === '')
      return refuse('VALIDATION_ERROR', 'The name of a server must be a non-empty string.');
    if (!Array.isArray(tools)) return refuse('VALIDATION_ERROR', `The tools of ${serverName} must be a list.`);
    this.#engine.register(serverName, tools);
    this.#table.told(this.#tell, undefined);
    return ok(this.#summary(serverName));
  }

  /** Removes the tools of one server until the next discovery. */
  removeServerTools(serverName: string): RegistryResult<{ readonly removed: number }> {
    const removed = this.#engine.removeServer(serverName);
    if (removed > 0) this.#table.told(this.#tell, undefined);
    return ok({ removed });
  }

  /** All known tools in Anthropic's format, sorted by name. Connects to nothing. */
  getToolsForClaude(): ClaudeTool[] {
    return this.getToolDefinitions();
  }

  /**
   * All known tools in the format of an API, sorted by name. Connects to nothing. Default: Anthropic's format.
   * @example
   * const tools = registry.getToolDefinitions({ format: 'openai-responses', strict: true });
   */
  getToolDefinitions(options?: Partial<DefinitionOptions<'anthropic'>>): ClaudeTool[];
  getToolDefinitions<F extends ToolFormat>(options: DefinitionOptions<F>): DefinitionsOf[F];
  getToolDefinitions<F extends ToolFormat>(options: Partial<DefinitionOptions<F>> = {}): DefinitionsOf[F] {
    return this.getDefinitionSet({ format: 'anthropic', ...options } as DefinitionOptions<F>).definitions;
  }

  /** `getToolDefinitions` with the problems: tools that are not strict or were simplified, and why. */
  getDefinitionSet<F extends ToolFormat>(options: DefinitionOptions<F>): DefinitionSet<F> {
    // The AI SDK calls tools itself, with this function unless the program gives its own.
    const execute: AiSdkOptions['execute'] = async ({ server, tool, arguments: args }, { abortSignal: signal }) => {
      const name = server === '' ? tool : formatToolName({ server, tool });
      return toModelResult(await this.#call({ name, ref: { server, tool }, arguments: args }, { signal }));
    };
    const set = this.#definitions.set(options.format === 'ai-sdk' ? { execute, ...options } : options);
    this.#seen.handOut(this.#table.view.shown);
    return set;
  }

  /** A server's tool by the name that models see; undefined for the program's own tools and for unknown names. */
  getMcpTool(toolName: string): RegisteredTool | undefined {
    const entry = this.#table.find(toolName);
    return entry && entry.server !== null ? this.#registered(entry) : undefined;
  }

  /** All tools with their sources, sorted by name. */
  listTools(): RegisteredTool[] {
    return this.#table.view.entries.map((entry) => this.#registered(entry));
  }

  /** Whether a server's list was never read, or is older than the TTL. */
  isDiscoveryStale(serverName: string): boolean {
    return this.#engine.isStale(serverName);
  }

  /** The server and tool of a name. Looks the name up first, and splits it at the first `__` if no tool has it. */
  parseToolName(name: string): RegistryResult<ParsedToolName> {
    const known = this.#table.find(name);
    if (known === undefined) return parseToolName(name);
    if (known.server !== null) return ok({ serverName: known.server, toolName: known.definition.name });
    return refuse('VALIDATION_ERROR', `"${name}" is one of the program's own tools, not a server's.`, { tool: name });
  }

  /**
   * Reads the due lists of all enabled servers, and removes the tools of other servers. Never throws. If a server fails, the
   * result is a failure with one of `failures` per server. The server's old tools stay, and `discovered` counts the
   * available tools.
   */
  async discoverAllTools(traceId?: string): Promise<RegistryResult<DiscoverySummary>> {
    if (this.#closed) return refuse('SHUTTING_DOWN', CLOSED);
    const { changed, failures } = await this.#engine.discover(traceId).catch(asDiscovered);
    const isNews = this.#unset.length > 0 && !this.#saidUnset;
    if (isNews || changed) this.#table.told(this.#tell, traceId, this.#unset);
    this.#saidUnset = true;
    const [first] = failures;
    if (first === undefined) return ok(this.#summary());
    const message = `Not all tools could be read: ${reasonsOf(failures)}. What was known before stays.`;
    const retryable = failures.some((failure) => failure.retryable);
    const discovered = this.#summary();
    return { success: false, error: { ...toDiscoveryError(first), message, retryable, failures, discovered } };
  }

  /**
   * Calls a tool by the name that models see, or by server and tool. Never throws. If the tool reports a failure, the code is
   * TOOL_EXECUTION_FAILED, and `error.result` has the tool's answer.
   */
  callTool(name: string, args?: unknown, options: RegistryCallOptions = {}): Promise<RegistryResult<CallToolResult>> {
    return this.#call({ name, arguments: args, format: options.format }, options);
  }

  /**
   * Answers a call in the format of its API. Never rejects because of a tool. Throws `ValidationError` if `call` is not a
   * tool call.
   * @example
   * const calls = message.content.filter((block) => block.type === 'tool_use');
   * const results = await Promise.all(calls.map((call) => registry.handle(call, { traceId })));
   * messages.push({ role: 'user', content: results });
   */
  async handle<C extends AnyToolCall, F extends ToolFormat = FormatOf<C>>(
    toolCall: C,
    options: HandleCallOptions<F> = {},
  ): Promise<ToolResultsOf[F]> {
    const call = readToolCall(toolCall, options);
    const { format, id, name } = call;
    const result = toModelResult(await this.#call(call, options));
    return toToolResult(result, {
      format,
      id,
      name,
      media: options.media,
    } as ResultOptionsOf<ToolFormat>) as ToolResultsOf[F];
  }

  /** Closes what this registry opened; an engine that was passed in stays open. Later calls fail. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#engine.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #call(call: ModelCall, options: RegistryCallOptions): Promise<RegistryResult<CallToolResult>> {
    if (this.#closed) return refuse('SHUTTING_DOWN', CLOSED, { tool: call.name });
    try {
      return await callTool(this.#parts, call, options);
    } catch (error) {
      return toRegistryFailure(error, { tool: call.name });
    }
  }

  #registered(entry: FoundTool): RegisteredTool {
    const { server, definition } = entry;
    return { claudeTool: this.#definitions.claudeTool(entry), serverName: server, originalName: definition.name };
  }

  #summary(server?: string): DiscoverySummary {
    const excluded = [...this.#table.excluded(server)];
    const unset = server === undefined && this.#unset.length > 0 ? { unset: this.#unset } : {};
    return { registered: this.#table.mcpCount(server), ...(excluded.length > 0 && { excluded }), ...unset };
  }
}

function reasonsOf(failures: readonly ErrorInfo[]): string {
  const reasons = failures.slice(0, LIMITS.shown.named).map(({ server, message }) => {
    const reason = withoutStop(shorten(message, 300));
    return server === undefined ? reason : `${server} (${reason})`;
  });
  if (failures.length > LIMITS.shown.named) reasons.push(`and ${failures.length - LIMITS.shown.named} more`);
  return reasons.join('; ');
}

function asDiscovered(thrown: unknown): Discovered {
  const failure = toFailure(thrown, { outcome: 'not_sent' });
  return { changed: false, failures: failure.success ? [] : [failure.error] };
}

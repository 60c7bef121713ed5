/**
 * Offers a program's own tools and those of providers behind one search and one way to call.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import type { ToolContext, ToolProvider, ToolRequest, ToolSummary } from '../../core/tool-provider.ts';
import type { JsonSchema, ToolDefinition } from '../../core/types.ts';
import { SchemaValidators } from '../../execution/validation/schema-validators.ts';
import { isObject } from '../../json/plain-object.ts';
import { type AttachOptions, attachTo } from './attach.ts';
import { checkOptions, isUnreadable, shown, withoutNulls } from './check-options.ts';
import { isNotFound, OWN_TOOLS } from './check-provider.ts';
import {
  discoveryTools,
  EXECUTE_TOOL,
  runExecuteTool,
  runTool,
  runToolSearch,
  TOOL_SEARCH,
} from './discovery-tools.ts';
import { type ListChange, ListChanges } from './list-changes.ts';
import { type ProviderLimits, toProviderLimits } from './provider-limits.ts';
import { Providers } from './providers.ts';
import { prepareTool } from './registered-tool.ts';
import { RegisteredTools } from './registered-tools.ts';
import { requestProviders } from './request-scope.ts';
import type { ToJsonSchema } from './schema-export.ts';
import type { AttachableServer } from './sdk-server.ts';
import { type ToolCallResult, toToolCallResult } from './tool-call-result.ts';
import { RegisteredHandle, type Registration } from './tool-handle.ts';
import { ToolIndex } from './tool-index.ts';
import type { ToolHandle, ToolHandler, ToolOptions, ToolRegistration, ToolSchema } from './tool-registration.ts';
import type { ToolSearchOptions, ToolSearchResult } from './tool-search.ts';
import { ToolView } from './tool-view.ts';

/** Options of a registry; all have defaults. */
export interface ToolRegistryOptions {
  /** The registry's name in messages of another registry that uses it as a provider. */
  readonly name?: string | undefined;
  /**
   * Converts schemas to JSON Schema for libraries that cannot do so themselves: for valibot, from
   * `@valibot/to-json-schema`.
   */
  readonly toJsonSchema?: ToJsonSchema | undefined;
  /** Timeouts, cache times and size limits of providers, and whether arguments are checked. */
  readonly providers?: Partial<ProviderLimits> | undefined;
  /** Milliseconds that never run backwards. */
  readonly now?: (() => number) | undefined;
}

type Arguments = Readonly<Record<string, unknown>>;
/** A context with optional parts. */
type CallContext = Partial<ToolContext>;

/**
 * Holds tools that a client finds by searching rather than in a list.
 * @example
 * const registry = new ToolRegistry();
 * registry.registerTool(
 *   'send_email',
 *   {
 *     description: 'Send an email to a recipient',
 *     inputSchema: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
 *     keywords: ['communication', 'smtp'],
 *   },
 *   ({ to }) => `Email sent to ${to}`,
 * );
 * registry.attach(server);
 */
export class ToolRegistry implements ToolProvider, AsyncDisposable {
  readonly name: string | undefined;
  readonly #validators = new SchemaValidators();
  readonly #index = new ToolIndex();
  readonly #changes = new ListChanges();
  readonly #registered = new RegisteredTools(this.#index);
  readonly #handles = new Map<string, RegisteredHandle>();
  readonly #registration: Registration;
  readonly #limits: ProviderLimits;
  readonly #providers: Providers;

  /** Throws `ValidationError` for unknown options and invalid limits. */
  constructor(options: ToolRegistryOptions = {}) {
    checkOptions(options, { name: 'text', toJsonSchema: 'function', providers: 'object', now: 'function' });
    const { name, toJsonSchema, providers, now = () => performance.now() } = options;
    this.name = name;
    this.#registration = {
      tools: this.#registered,
      handles: this.#handles,
      changes: this.#changes,
      prepare: (tool, given, handler) => {
        if (tool === TOOL_SEARCH || tool === EXECUTE_TOOL)
          throw new ValidationError(`"${tool}" is the name of a tool that attach() adds; choose another name`);
        return prepareTool(tool, given, handler, this.#validators, toJsonSchema);
      },
    };
    this.#limits = toProviderLimits(providers);
    const parts = { index: this.#index, changes: this.#changes, validators: this.#validators };
    this.#providers = new Providers({ ...parts, limits: this.#limits, now });
  }

  /**
   * Adds a tool and returns a handle that updates, disables or removes it. The schema comes from zod, valibot or
   * arktype, or is raw JSON Schema; each gives the handler's arguments their types. Throws `ValidationError` if the
   * name is taken.
   * @example
   * const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
   * const tool = registry.registerTool('weather', { description: 'Tell the weather', inputSchema: schema }, forecast);
   * tool.update({ description: 'Tell the weather of a city' });
   */
  registerTool<const Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema>(
    name: string,
    options: ToolOptions<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): ToolHandle<Input, Output>;
  /** Like the other form, with the name in the definition and `keywords` last. */
  registerTool<const Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema>(
    definition: ToolRegistration<Input, Output>,
    handler: ToolHandler<Input, Output>,
    ...keywords: readonly string[]
  ): ToolHandle<Input, Output>;
  registerTool(first: unknown, second: unknown, ...rest: readonly unknown[]): RegisteredHandle {
    if (typeof first === 'string') return this.#register(first, second, rest[0]);
    if (!isObject(first)) throw new ValidationError('registerTool takes a name, options and a handler');
    const { name, ...options } = first;
    const keywords = rest.length === 0 ? options.keywords : [...toList(options.keywords), ...rest];
    return this.#register(name, { ...options, keywords }, second);
  }

  #register(name: unknown, options: unknown, handler: unknown): RegisteredHandle {
    return new RegisteredHandle(this.#registration, name as string, options as object as never, handler as never);
  }

  /** Removes a registered tool. Returns false if there is none of that name. */
  unregisterTool(name: string): boolean {
    const handle = this.#handles.get(name);
    handle?.remove();
    return handle !== undefined;
  }

  /** The registered tools, visible or not, sorted by name. `listToolMetadata` includes those of providers. */
  listTools(): ToolDefinition[] {
    return [...this.#registered.values()].map(({ definition }) => definition).sort(byName);
  }

  /** Adds a source of tools for all requests. It is asked on first use and then cached: see `ProviderLimits`. */
  addProvider(provider: ToolProvider): void {
    if (provider instanceof ToolRegistry && provider.#reaches(this)) {
      throw new ValidationError('A registry cannot be a provider of itself');
    }
    this.#providers.add(provider);
  }

  /** Removes a source of tools. Returns false if it was not added. */
  removeProvider(provider: ToolProvider): boolean {
    return this.#providers.delete(provider);
  }

  /** Marks the list of one provider, or of all, to be read again on next use. */
  invalidate(provider?: ToolProvider): void {
    this.#providers.invalidate(provider);
  }

  /** Finds tools by free text: registered ones, those of providers, and those of the current request. */
  async search(query: string, options: ToolSearchOptions = {}): Promise<ToolSearchResult> {
    if (typeof query !== 'string') throw new ValidationError(`search: the query must be a string, not ${shown(query)}`);
    const given = withoutNulls(options);
    checkOptions(given, { maxResults: 'number', compact: 'flag' });
    return this.#view().search(query, given);
  }

  /** Every tool for the current request, sorted by name. */
  async listToolMetadata(): Promise<readonly ToolSummary[]> {
    return this.#view().list();
  }

  /**
   * The definition of a tool; undefined if there is none of that name, as far as providers answer. Rejects with
   * `SERVER_UNAVAILABLE` if a provider lists the tool but cannot describe it.
   */
  getTool(name: string): Promise<ToolDefinition | undefined> {
    return this.#view().get(name);
  }

  /**
   * Runs a tool. Throws `ToolNotFoundError` for an unknown name, with the nearest ones in its `suggestions`, and
   * `ValidationError` if the name is no string or the arguments are no object. All other failures are results.
   */
  async callTool(name: string, given: Arguments = {}, context: CallContext = {}): Promise<ToolCallResult> {
    // Models write null for no arguments.
    const args = given ?? {};
    if (typeof name !== 'string') throw new ValidationError(`callTool: the name must be a string, not ${shown(name)}`);
    if (isUnreadable(args) || !isObject(args))
      throw new ValidationError(`callTool: the arguments must be an object, not ${shown(args)}`);
    const view = this.#view();
    try {
      return toToolCallResult(await view.call(name, args, complete(context)));
    } catch (thrown) {
      throw isNotFound(thrown, name) ? view.notFound(name) : thrown;
    }
  }

  /**
   * Adds `tool_search` and `execute_tool` to a server of the MCP SDK, version 1 or 2, beside the server's own tools.
   */
  attach(server: AttachableServer, options: AttachOptions = {}): void {
    checkOptions(options, { mode: 'any', providersFor: 'function', compact: 'flag', about: 'text' });
    const { mode = 'hidden', providersFor, compact = false, about } = options;
    if (typeof mode !== 'function' && mode !== 'hidden' && mode !== 'show-all')
      throw new ValidationError(`mode must be 'hidden', 'show-all' or a function, not ${shown(mode)}`);
    const finders = discoveryTools(about);
    const showsAll =
      typeof mode === 'function' ? (request: ToolRequest) => mode(request) === 'show-all' : mode !== 'hidden';
    attachTo(
      server,
      { showsAll, providersFor },
      {
        changes: this.#changes,
        waitMs: this.#limits.waitMs,
        reserved: finders.map(({ name }) => name),
        list: async (all) => [...(await this.#view().definitions(all)), ...(all ? [] : finders)],
        has: (name) => this.#view().has(name),
        run: (name, args, context, isListed) => {
          const view = this.#view();
          if (name === TOOL_SEARCH) return runToolSearch(view, args, compact);
          if (name === EXECUTE_TOOL) return runExecuteTool(view, args, context, isListed);
          return runTool(view, name, args, context, isListed);
        },
      },
    );
  }

  /**
   * Calls back when tools change: `visible` ones, or only `hidden` ones, which are listed where all are shown. Returns
   * a function that unsubscribes. Use it to notify clients if servers are made for each request.
   * @example
   * const handler = createMcpHandler(() => withRegistry(new McpServer(info)));
   * registry.onToolsChanged((change) => change === 'visible' && handler.notify.toolsChanged());
   */
  onToolsChanged(listener: (change: ListChange) => void): () => void {
    return this.#changes.listen(listener);
  }

  /** Changes whenever the tools change. */
  get revision(): string {
    return `${this.#changes.count} ${this.#providers.revision}`;
  }

  /** Ends the thread that checks unsafe schemas, if there is one. */
  close(): Promise<void> {
    return this.#validators.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** This registry as a provider of another one: without the tools of the request, which the outer one adds itself. */
  get [OWN_TOOLS](): ToolProvider {
    const view = () => this.#view([]);
    const revision = () => this.revision;
    return {
      get revision() {
        return revision();
      },
      listToolMetadata: () => view().list(),
      getTool: (name) => view().get(name),
      callTool: (name, args, context) => view().call(name, args, context, true),
    };
  }

  #view(ofRequest: readonly ToolProvider[] = requestProviders()): ToolView {
    const others = ofRequest.length === 0 ? ofRequest : ofRequest.filter((provider) => provider !== this);
    return new ToolView(this.#registered, this.#index, this.#providers.seenBy(others));
  }

  #reaches(registry: ToolRegistry): boolean {
    if (this === registry) return true;
    return [...this.#providers.sources()].some((source) => source instanceof ToolRegistry && source.#reaches(registry));
  }
}

const complete = (context: CallContext): ToolContext => ({
  ...context,
  signal: context.signal ?? new AbortController().signal,
});

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value == null ? [] : [value]);

const byName = (a: ToolDefinition, b: ToolDefinition): number => (a.name < b.name ? -1 : 1);

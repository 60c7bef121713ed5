/**
 * Defines the one port for sources of tools: a server's connection, functions of a program, a registry, the tools of
 * one request, and an engine.
 * @module
 */
import type {
  CallToolResult,
  JsonSchema,
  Progress,
  ServerDefinition,
  ToolAnnotations,
  ToolDefinition,
  ToolRequest,
} from './types.ts';

export type { ToolRequest } from './types.ts';

/** The context of every request to a provider and every call of a handler. */
export interface ToolContext {
  /** Aborts when the caller cancels or a timeout passes. */
  readonly signal: AbortSignal;
  /**
   * Absent if a program calls, and for lists and definitions, which are shared by all requests that see the provider.
   */
  readonly request?: ToolRequest | undefined;
  /** Names the call in logs and in the audit log. */
  readonly traceId?: string | undefined;
  /** Tells the caller how far a call has come; absent if the caller did not ask for it. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** A tool as a provider lists it: enough for search. */
export interface ToolSummary {
  readonly name: string;
  /** A name for people, shown instead of the tool's name. */
  readonly title?: string | undefined;
  /** What the tool does. Search finds the tool by this text. */
  readonly description?: string | undefined;
  /** More words to find the tool by. */
  readonly keywords?: readonly string[] | undefined;
  /** True: the tool is in `tools/list`. Default: only search finds it. */
  readonly visible?: boolean | undefined;
  /** Give the definition here if it is at hand: search then knows the parameters, and `getTool` is not called. */
  readonly inputSchema?: JsonSchema | undefined;
  readonly outputSchema?: JsonSchema | undefined;
  /** Hints for clients: whether the tool only reads, destroys, or may be repeated. */
  readonly annotations?: ToolAnnotations | undefined;
}

/**
 * A source of tools: a database, a folder of scripts, another API. Its list is cached and shared by all requests that
 * see this object, so the tools of one user belong in a provider of their own.
 * @example
 * class Scripts implements ToolProvider {
 *   listToolMetadata() {
 *     return [...scripts.values()].map(({ name, description, tags }) => ({ name, description, keywords: tags }));
 *   }
 *   getTool(name: string) {
 *     return scripts.get(name)?.definition;
 *   }
 *   async callTool(name: string, args: Record<string, unknown>) {
 *     const script = scripts.get(name);
 *     if (!script) throw new ToolNotFoundError(name);
 *     return { content: [{ type: 'text', text: await script.run(args) }] };
 *   }
 * }
 */
export interface ToolProvider<Context = ToolContext> {
  /** The provider's name in messages. */
  readonly name?: string | undefined;
  /**
   * Any value that changes with the list; the list is then read again. Without a revision, a list stays fresh for five
   * minutes.
   */
  readonly revision?: string | number | undefined;
  /** All tools. Rejects if the source fails. */
  listToolMetadata(context: Context): Promise<readonly ToolSummary[]> | readonly ToolSummary[];
  /** The full definition of one tool; undefined if this provider does not have it. */
  getTool(
    name: string,
    context: Context,
  ): Promise<ToolDefinition | null | undefined> | ToolDefinition | null | undefined;
  /**
   * Runs a tool that it lists or describes. Throws `ToolNotFoundError` if it does not have the tool after all; anything
   * else it throws becomes an error result.
   */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: Context,
  ): Promise<CallToolResult> | CallToolResult;
}

/**
 * What the catalogue, the rules and the pipeline know about a source of tools: its name, and the limits of calls to it.
 */
type NamedSource = Pick<
  ServerDefinition,
  'name' | 'description' | 'tools' | 'timeouts' | 'rateLimit' | 'concurrency' | 'trusted' | 'idempotent'
>;

/** A provider under the name that the engine gave it. */
export interface ProviderDefinition extends NamedSource {
  /** Its name before it was named apart from other sources. Rules that deny this name deny the provider too. */
  readonly wantedName: string;
  readonly provider: ToolProvider;
  /** How long its list stays fresh, in milliseconds. */
  readonly ttlMs: number;
}

/** A named source of tools: a configured server, or a provider of the program. */
export type SourceDefinition = ServerDefinition | ProviderDefinition;

/** Tells whether a source is a provider rather than a server to connect to. */
export const isProvider = (source: SourceDefinition): source is ProviderDefinition => 'provider' in source;

/** The schema of a tool that its provider has listed but not described yet. */
export const UNDESCRIBED: JsonSchema = Object.freeze({ type: 'object' });

/**
 * Defines the port behind which every source of tools stands: a server's connection, functions of a program, a registry,
 * the tools of one request, and an engine.
 * @module
 */
import type {
  CallToolResult,
  ConfiguredTool,
  JsonSchema,
  Progress,
  RateLimit,
  ServerDefinition,
  ToolAnnotations,
  ToolDefinition,
  ToolRequest,
} from './types.ts';

export type { ToolRequest } from './types.ts';

/** What goes along with every question to a provider and every call of a handler. */
export interface ToolContext {
  /** Aborts when the caller gave up or time is over. */
  readonly signal: AbortSignal;
  /** Absent where a program calls, and for lists and definitions: those are kept for all requests that see the provider. */
  readonly request?: ToolRequest | undefined;
  /** Names the call in logs and in the audit log. */
  readonly traceId?: string | undefined;
  /** Tells the caller how far a call has come; absent when nobody asked. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** A tool as a provider lists it: enough to be found by. */
export interface ToolSummary {
  readonly name: string;
  /** What clients show people in place of the name. */
  readonly title?: string | undefined;
  /** What it does: search finds the tool by this. */
  readonly description?: string | undefined;
  /** Further words that search finds it by. */
  readonly keywords?: readonly string[] | undefined;
  /** Whether it stands in `tools/list`. Default: only search finds it. */
  readonly visible?: boolean | undefined;
  /** Where the definition is at hand anyway, it can go along: search knows the parameters then, and `getTool` need not be asked. */
  readonly inputSchema?: JsonSchema | undefined;
  readonly outputSchema?: JsonSchema | undefined;
  /** Hints for clients: whether it only reads, whether it destroys, whether it may be repeated. */
  readonly annotations?: ToolAnnotations | undefined;
}

/**
 * A source of tools: a database, a folder of scripts, another API. What it lists is kept and shared by all requests that
 * see this object, so tools of one user belong in a provider of their own.
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
  /** What messages call it. */
  readonly name?: string | undefined;
  /** Anything that changes when the list does: it is asked for anew then. Without one, a list is good for five minutes. */
  readonly revision?: string | number | undefined;
  /** All tools. Rejects when the source cannot be asked. */
  listToolMetadata(context: Context): Promise<readonly ToolSummary[]> | readonly ToolSummary[];
  /** The full definition of one tool, or undefined when it is not this provider's. */
  getTool(
    name: string,
    context: Context,
  ): Promise<ToolDefinition | null | undefined> | ToolDefinition | null | undefined;
  /**
   * Runs a tool that it lists or describes. Throws `ToolNotFoundError` for what is not its own after all; whatever else it
   * throws becomes an error result.
   */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: Context,
  ): Promise<CallToolResult> | CallToolResult;
}

/** What the catalogue, the rules and the pipeline know of a source of tools: its name, and how calls to it are limited. */
interface NamedSource {
  readonly name: string;
  readonly description: string | undefined;
  /** Tools known before the source was ever asked. Keywords and examples outlive discovery. */
  readonly tools: readonly ConfiguredTool[];
  readonly timeouts: { readonly connect: number | undefined; readonly call: number | undefined };
  readonly rateLimit: RateLimit | undefined;
  readonly concurrency: number | undefined;
  /** Whether the source's own hints (readOnlyHint, idempotentHint) count. */
  readonly trusted: boolean;
  /** Globs of tool names that may be repeated. */
  readonly idempotent: readonly string[];
}

/** A provider under the name that the engine gave it. */
export interface ProviderDefinition extends NamedSource {
  readonly provider: ToolProvider;
  /** How long its list holds, in milliseconds. */
  readonly ttlMs: number;
}

/** A named source of tools: a server of the configuration, or a provider that the program handed in. */
export type SourceDefinition = ServerDefinition | ProviderDefinition;

/** Whether a source is a provider, and not a server to connect to. */
export const isProvider = (source: SourceDefinition): source is ProviderDefinition => 'provider' in source;

/** Stands for the schema of a tool that its provider has listed but not described yet. */
export const UNDESCRIBED: JsonSchema = Object.freeze({ type: 'object' });

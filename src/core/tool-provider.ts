/**
 * The ports behind which sources of tools stand: what a library user implements, and what a downstream server looks like
 * to the pipeline.
 * @module
 */
import type { CallToolResult, JsonSchema, Progress, ToolAnnotations, ToolCall, ToolDefinition } from './types.ts';

/** The MCP request that a list, a search or a call belongs to, whichever SDK it came through. */
export interface ToolRequest {
  /** The value of an HTTP header, by any spelling of its name; undefined on stdio. */
  header(name: string): string | undefined;
  /** What the SDK's authorization found out (`AuthInfo`), when there was any. */
  readonly authInfo?: unknown;
  readonly sessionId?: string | undefined;
  /** The SDK's own object: `extra` of version 1, `ctx` of version 2. */
  readonly sdk: unknown;
}

/** What goes along with every question to a provider and every call of a handler. */
export interface ToolContext {
  /** Aborts when the caller gave up or time is over. */
  readonly signal: AbortSignal;
  /** Absent where a program calls, and for lists and definitions: those are kept for all requests that see the provider. */
  readonly request?: ToolRequest | undefined;
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
export interface ToolProvider {
  /** What messages call it. */
  readonly name?: string | undefined;
  /** Anything that changes when the list does: it is asked for anew then. Without one, a list is good for five minutes. */
  readonly revision?: string | number | undefined;
  /** All tools. Rejects when the source cannot be asked. */
  listToolMetadata(context: ToolContext): Promise<readonly ToolSummary[]> | readonly ToolSummary[];
  /** The full definition of one tool, or undefined when it is not this provider's. */
  getTool(
    name: string,
    context: ToolContext,
  ): Promise<ToolDefinition | null | undefined> | ToolDefinition | null | undefined;
  /**
   * Runs a tool that it lists or describes. Throws `ToolNotFoundError` for what is not its own after all; whatever else it
   * throws becomes an error result.
   */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ): Promise<CallToolResult> | CallToolResult;
}

/**
 * A downstream server as the pipeline calls it. Not a `ToolProvider`: a call on its way through the steps carries more
 * than name and arguments (who asks, what they can be asked, trace, deadline, answers to earlier questions).
 */
export interface DownstreamTools {
  /** All tools, bounded and checked one by one. Rejects when the server cannot be asked; never returns a partial list. */
  listToolMetadata(options?: { signal?: AbortSignal }): Promise<readonly ToolDefinition[]>;
  /** One tool, or undefined when the server has none of that name. */
  getTool(name: string): Promise<ToolDefinition | undefined>;
  /** Runs the tool. Throws `ToolNotFoundError` for what is not its own; other failures are `DiscoveryError`s. */
  callTool(call: ToolCall): Promise<CallToolResult>;
}

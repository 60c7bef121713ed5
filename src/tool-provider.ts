/**
 * The port behind which every source of tools stands: downstream servers, local functions, request-scoped sources.
 * @module
 */
import type { CallToolResult, ToolCall, ToolDefinition } from './types.ts';

export interface ToolProvider {
  /** All tools, bounded and checked one by one. Rejects when the source cannot be asked; never returns a partial list. */
  listToolMetadata(options?: { signal?: AbortSignal }): Promise<readonly ToolDefinition[]>;
  /** One tool, or undefined when it is not this provider's. */
  getTool(name: string): Promise<ToolDefinition | undefined>;
  /** Runs the tool. Throws `ToolNotFoundError` for what is not its own; other failures are `DiscoveryError`s. */
  callTool(call: ToolCall): Promise<CallToolResult>;
}

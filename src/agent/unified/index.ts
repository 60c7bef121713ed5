/**
 * One registry for an agent loop: a program's own tools and those of MCP servers, merged. Nothing here loads a transport
 * before a server is first needed.
 * @module
 */
export type { ClaudeTool, DefinitionOptions } from './definitions.ts';
export type { RegistryEvents, RegistryLogger } from './registry-log.ts';
export type { UnifiedToolRegistryOptions } from './registry-options.ts';
export { type ServerEntry, serversFromEnv } from './servers-from-env.ts';
export type { StandardArguments, StaticToolDefinition, StaticToolHandler } from './static-tool.ts';
export type { RegistryCallOptions } from './tool-caller.ts';
export {
  isRetryable,
  type RegistryResult,
  TOOL_ERROR_CODES,
  type ToolError,
  type ToolErrorCode,
  toModelResult,
  toToolErrorCode,
} from './tool-error.ts';
export type { ServerCall, ToolServers } from './tool-servers.ts';
export type { DiscoverySummary, ExcludedTool, OwnToolContext } from './tool-table.ts';
export { formatToolName, type ParsedToolName, parseToolName } from './unified-name.ts';
export {
  type HandleCallOptions,
  type RegisteredTool,
  UnifiedToolRegistry,
} from './unified-tool-registry.ts';

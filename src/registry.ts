/**
 * The public surface of `@anygpt/discovery/registry`: a registry of own tools behind a search, one registry over own tools
 * and MCP servers, and tools in the words of every LLM API. Loads no transports.
 * @module
 */
/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />

export {
  type AnyToolCall,
  anthropicToolSearch,
  type DefinitionSet,
  type DefinitionsOf,
  type DescribedTool,
  openAiToolSearch,
  readToolCall,
  TOOL_FORMATS,
  type ToolFormat,
  type ToolResultsOf,
  toAiSdkOutput,
  toDefinitions,
  toToolReferences,
  toToolResult,
} from './agent/formats/index.ts';
export {
  type AttachableServer,
  type AttachOptions,
  type ListChange,
  type ProviderLimits,
  type RequestProviders,
  type StandardSchema,
  type ToJsonSchema,
  type ToolCallResult,
  type ToolHandler,
  type ToolRegistration,
  ToolRegistry,
  type ToolRegistryOptions,
  type ToolSearchHit,
  type ToolSearchOptions,
  type ToolSearchResult,
  withRequestProviders,
} from './agent/registry/index.ts';
export {
  type DiscoverySummary,
  isRetryable,
  type RegisteredTool,
  type RegistryResult,
  type ServerEntry,
  type StaticToolDefinition,
  type StaticToolHandler,
  serversFromEnv,
  TOOL_ERROR_CODES,
  type ToolError,
  type ToolErrorCode,
  toModelResult,
  UnifiedToolRegistry,
  type UnifiedToolRegistryOptions,
} from './agent/unified/index.ts';
export { DiscoveryError, type ErrorCode, type ErrorInfo, ToolNotFoundError, ValidationError } from './core/errors.ts';
export type { ToolContext, ToolProvider, ToolSummary } from './core/tool-provider.ts';
export type {
  CallToolResult,
  ContentBlock,
  JsonSchema,
  Logger,
  Progress,
  ToolDefinition,
  ToolRequest,
} from './core/types.ts';

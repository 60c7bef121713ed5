/**
 * Exports the public API of `@anygpt/discovery/registry`: a searchable registry of own tools, a registry over own tools
 * and MCP servers, and converters for the tool formats of LLM APIs. Loads no transports.
 * @module
 */
/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />

export {
  type DescribedTool,
  TOOL_FORMATS,
  type ToolFormat,
} from './agent/formats/definition-types.ts';
export { anthropicToolSearch, openAiToolSearch, toToolReferences } from './agent/formats/hosted-search.ts';
export { toDefinitions } from './agent/formats/to-definitions.ts';
export { type AnyToolCall, readToolCall } from './agent/formats/tool-call.ts';
export { toAiSdkOutput, toToolResult } from './agent/formats/tool-result.ts';
export type { ProviderLimits } from './agent/registry/provider-limits.ts';
export { withRequestProviders } from './agent/registry/request-scope.ts';
export type { StandardSchema } from './agent/registry/standard-schema.ts';
export type { ToolCallResult } from './agent/registry/tool-call-result.ts';
export type { ToolHandle, ToolHandler, ToolOptions, ToolRegistration } from './agent/registry/tool-registration.ts';
export { ToolRegistry, type ToolRegistryOptions } from './agent/registry/tool-registry.ts';
export type { ToolSearchHit, ToolSearchResult } from './agent/registry/tool-search.ts';
export type { UnifiedToolRegistryOptions } from './agent/unified/registry-options.ts';
export { serversFromEnv } from './agent/unified/servers-from-env.ts';
export type { StaticToolDefinition, StaticToolHandler } from './agent/unified/static-tool.ts';
export {
  isRetryable,
  type RegistryResult,
  TOOL_ERROR_CODES,
  type ToolError,
  type ToolErrorCode,
  toModelResult,
} from './agent/unified/tool-error.ts';
export { formatToolName, parseToolName } from './agent/unified/unified-name.ts';
export { type RegisteredTool, UnifiedToolRegistry } from './agent/unified/unified-tool-registry.ts';
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

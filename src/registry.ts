/**
 * `@anygpt/discovery/registry`: for those who write a server or an agent loop. A registry of one's own tools behind a
 * search, one registry over own tools and MCP servers, and tools in the words of every LLM API. Loads no transports.
 * @module
 */
/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />

export {
  type AiSdkCallOptions,
  type AiSdkOptions,
  type AiSdkTool,
  type AnthropicOptions,
  type AnthropicTool,
  type CommonOptions,
  type DefinitionSet,
  type DefinitionsOf,
  type DescribedTool,
  type FormatProblem,
  type GeminiFunction,
  type GeminiOptions,
  type GeminiTool,
  type LangChainTool,
  type NamedCall,
  type ObjectSchema,
  type OpenAiChatOptions,
  type OpenAiChatTool,
  type OpenAiFunction,
  type OpenAiNamespace,
  type OpenAiResponsesOptions,
  type OptionsOf,
  type ReadCall,
  TOOL_FORMATS,
  type ToolChoice,
  type ToolFormat,
} from './agent/formats/definition-types.ts';
export {
  type AnthropicToolReference,
  type AnthropicToolSearch,
  anthropicToolSearch,
  type OpenAiToolSearch,
  openAiToolSearch,
  toToolReferences,
} from './agent/formats/hosted-search.ts';
export { createMetaToolHandler, type HandleOptions, type MetaToolHandler } from './agent/formats/meta-tool-handler.ts';
export {
  COMMON_NAME_RULE,
  createNameTable,
  type NamedTool,
  type NameRule,
  type NameTable,
} from './agent/formats/names.ts';
export type { GeminiSchema } from './agent/formats/open-api-schema.ts';
export type * from './agent/formats/result-types.ts';
export { toDefinitions } from './agent/formats/to-definitions.ts';
export {
  type AiSdkToolCall,
  type AnthropicToolUse,
  type AnyToolCall,
  argumentsOf,
  type FormatOf,
  type GeminiFunctionCall,
  type GeminiFunctionCallPart,
  type LangChainToolCall,
  type OpenAiFunctionCall,
  type OpenAiToolCall,
  readToolCall,
  type ToolCallOptions,
  type ToolCallParts,
} from './agent/formats/tool-call.ts';
export { type ResultOptions, type ResultOptionsOf, toAiSdkOutput, toToolResult } from './agent/formats/tool-result.ts';
export type { AttachableServer, AttachOptions, ListMode, RequestProviders } from './agent/registry/attach.ts';
export type { ListLimits } from './agent/registry/check-list.ts';
export type { ListChange } from './agent/registry/list-changes.ts';
export { LEVEL } from './agent/registry/match-level.ts';
export type { ProviderLimits } from './agent/registry/provider-limits.ts';
export { withRequestProviders } from './agent/registry/request-scope.ts';
export type { SchemaSide, ToJsonSchema } from './agent/registry/schema-export.ts';
export type {
  StandardIssue,
  StandardJsonSchema,
  StandardResult,
  StandardSchema,
} from './agent/registry/standard-schema.ts';
export type {
  AudioContent,
  EmbeddedResource,
  ImageContent,
  KnownContent,
  ResourceLink,
  TextContent,
  ToolCallResult,
} from './agent/registry/tool-call-result.ts';
export type {
  ArgumentsOf,
  HandlerResult,
  ToolChanges,
  ToolHandle,
  ToolHandler,
  ToolOptions,
  ToolRegistration,
  ToolSchema,
} from './agent/registry/tool-registration.ts';
export { type CallContext, ToolRegistry, type ToolRegistryOptions } from './agent/registry/tool-registry.ts';
export type { ToolSearchHit, ToolSearchOptions, ToolSearchResult } from './agent/registry/tool-search.ts';
export type { ClaudeTool, DefinitionOptions } from './agent/unified/definitions.ts';
export type { RegistryEvents, RegistryLogger } from './agent/unified/registry-log.ts';
export type { UnifiedToolRegistryOptions } from './agent/unified/registry-options.ts';
export { type ServerEntry, serversFromEnv } from './agent/unified/servers-from-env.ts';
export type {
  StandardArguments,
  StaticToolAnswer,
  StaticToolDefinition,
  StaticToolHandler,
} from './agent/unified/static-tool.ts';
export type { RegistryCallOptions } from './agent/unified/tool-caller.ts';
export {
  isRetryable,
  type RegistryResult,
  TOOL_ERROR_CODES,
  type ToolError,
  type ToolErrorCode,
  toModelResult,
  toToolErrorCode,
} from './agent/unified/tool-error.ts';
export type { ServerCall, ToolServers } from './agent/unified/tool-servers.ts';
export type { DiscoverySummary, ExcludedTool, OwnToolContext } from './agent/unified/tool-table.ts';
export { formatToolName, type ParsedToolName, parseToolName } from './agent/unified/unified-name.ts';
export {
  type HandleCallOptions,
  type RegisteredTool,
  UnifiedToolRegistry,
} from './agent/unified/unified-tool-registry.ts';
export type { ErrorDetails, ErrorInfo, Outcome } from './core/errors.ts';
export { DiscoveryError, type ErrorCode, ToolNotFoundError, ValidationError } from './core/errors.ts';
export type { ToolResult } from './core/result.ts';
export type { ToolContext, ToolProvider, ToolRequest, ToolSummary } from './core/tool-provider.ts';
export type {
  Caller,
  CallToolResult,
  ContentBlock,
  JsonSchema,
  Logger,
  Progress,
  ServerRequest,
  ToolAnnotations,
  ToolDefinition,
  ToolExample,
  ToolMetadata,
  ToolParameter,
  ToolRef,
} from './core/types.ts';

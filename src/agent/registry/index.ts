/**
 * `@anygpt/discovery/registry`: tools of one's own behind a search, for MCP servers and agent loops. Loads no transports.
 * @module
 */
/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export { DiscoveryError, type ErrorCode, ToolNotFoundError, ValidationError } from '../../core/errors.ts';
export type { ToolContext, ToolProvider, ToolRequest, ToolSummary } from '../../core/tool-provider.ts';
export type {
  CallToolResult,
  ContentBlock,
  JsonSchema,
  Progress,
  ToolAnnotations,
  ToolDefinition,
} from '../../core/types.ts';
export type { AttachableServer, AttachOptions, ListMode, RequestProviders } from './attach.ts';
export type { ListLimits } from './check-list.ts';
export type { ListChange } from './list-changes.ts';
export { LEVEL } from './match-level.ts';
export type { ProviderLimits } from './provider-limits.ts';
export { withRequestProviders } from './request-scope.ts';
export type { SchemaSide, ToJsonSchema } from './schema-export.ts';
export type { StandardIssue, StandardJsonSchema, StandardResult, StandardSchema } from './standard-schema.ts';
export type {
  AudioContent,
  EmbeddedResource,
  ImageContent,
  KnownContent,
  ResourceLink,
  TextContent,
  ToolCallResult,
} from './tool-call-result.ts';
export type {
  ArgumentsOf,
  HandlerResult,
  ToolChanges,
  ToolHandle,
  ToolHandler,
  ToolOptions,
  ToolRegistration,
  ToolSchema,
} from './tool-registration.ts';
export { type CallContext, ToolRegistry, type ToolRegistryOptions } from './tool-registry.ts';
export type { ToolSearchHit, ToolSearchOptions, ToolSearchResult } from './tool-search.ts';

/**
 * Exports the public API of `@anygpt/discovery`: an engine over MCP servers and a program's own tools, and its parts.
 * @module
 */
/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />

export { withRequestProviders } from './agent/registry/request-scope.ts';
export { ToolRegistry, type ToolRegistryOptions } from './agent/registry/tool-registry.ts';
export { CachingLayer } from './cache/caching-layer.ts';
export { ToolMetadataManager } from './catalog/tool-metadata-manager.ts';
export { ConfigurationLoader } from './config/configuration-loader.ts';
export {
  type AnyGptConfig,
  config,
  type DiscoveryConfig,
  defineConfig,
  type RemoteConfig,
  type ServerConfig,
  type StdioConfig,
} from './config/define-config.ts';
export type { ResolvedConfig } from './config/resolved-config.ts';
export {
  ConfigurationError,
  DiscoveryError,
  ERROR_CODES,
  type ErrorCode,
  type ErrorInfo,
  ServerConnectionError,
  ToolExecutionError,
  ToolNotFoundError,
  ValidationError,
} from './core/errors.ts';
export { createLogger } from './core/log.ts';
export type { ToolResult } from './core/result.ts';
export type { ToolContext, ToolProvider, ToolSummary } from './core/tool-provider.ts';
export type {
  Caller,
  CallToolResult,
  ContentBlock,
  Embedder,
  JsonSchema,
  Logger,
  Progress,
  SearchOptions,
  SearchResult,
  ServerDefinition,
  ServerMetadata,
  ToolDefinition,
  ToolExample,
  ToolMetadata,
  ToolParameter,
  ToolRequest,
  ToolRule,
} from './core/types.ts';
export { VERSION } from './core/version.ts';
export { DiscoveryEngine } from './engine/discovery-engine.ts';
export type { ExecutionResult } from './engine/engine-core.ts';
export { configFile, type EngineConfig, type EngineOptions } from './engine/engine-world.ts';
export type { PendingTool } from './engine/pending-tools.ts';
export { ToolExecutionProxy } from './engine/tool-execution-proxy.ts';
export { watchConfig } from './engine/watch-config.ts';
export type { ExecutionEvent } from './execution/tool-executor.ts';
export { PatternMatcher } from './rules/pattern-matcher.ts';
export { SearchEngine } from './search/search-engine.ts';
export * from './service/index.ts';

/**
 * The public surface of `@anygpt/discovery`: the engine and its parts. Adding a name here is a promise.
 * @module
 */
export { AuditLog } from './audit/audit-log.ts';
export { CachingLayer } from './cache/caching-layer.ts';
export { ToolMetadataManager } from './catalog/tool-metadata-manager.ts';
export { formatToolName } from './catalog/tool-name.ts';
export { ConfigurationLoader } from './config/configuration-loader.ts';
export { config, type DiscoveryConfig, defineConfig } from './config/define-config.ts';
export type { ResolvedConfig } from './config/resolved-config.ts';
export {
  type CallRequest,
  DiscoveryEngine,
  type ExecutionResult,
  type FindOptions,
  type FindResult,
} from './discovery-engine.ts';
export { configFile, type EngineOptions } from './engine-world.ts';
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
} from './errors.ts';
export { type ExecutionEvent, ToolExecutionProxy } from './execution/tool-execution-proxy.ts';
export { createLogger, silentLogger } from './log.ts';
export { fail, ok, type ToolResult } from './result.ts';
export { PatternMatcher } from './rules/pattern-matcher.ts';
export { SearchEngine } from './search/search-engine.ts';
export type { ToolProvider } from './tool-provider.ts';
export type * from './types.ts';
export { VERSION } from './version.ts';
export { watchConfig } from './watch-config.ts';

/**
 * The public surface of `@anygpt/discovery`: the engine and its parts. Adding a name here is a promise.
 * @module
 */
/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export type { AuditEntry, AuditOutcome, AuditSink } from './audit/audit-entry.ts';
export { AuditLog, type AuditLogOptions, type AuditStats } from './audit/audit-log.ts';
export { JsonlSink, type JsonlSinkOptions } from './audit/jsonl-sink.ts';
export { MemorySink } from './audit/memory-sink.ts';
export { CachingLayer } from './cache/caching-layer.ts';
export { ToolMetadataManager } from './catalog/tool-metadata-manager.ts';
export { formatToolName } from './catalog/tool-name.ts';
export { ConfigurationLoader } from './config/configuration-loader.ts';
export { type AnyGptConfig, config, type DiscoveryConfig, defineConfig } from './config/define-config.ts';
export type { ResolvedConfig } from './config/resolved-config.ts';
export {
  type CallRequest,
  DiscoveryEngine,
  type ExecutionResult,
  type FindOptions,
  type FindResult,
} from './discovery-engine.ts';
export { configFile, type EngineConfig, type EngineOptions } from './engine-world.ts';
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
export type { BreakerOptions } from './execution/circuit-breaker.ts';
export type { Clock, Timer } from './execution/clock.ts';
export type { Handler } from './execution/pipeline.ts';
export type { AuditRecorder } from './execution/steps/audit.ts';
export type { Decide, PolicyDecision } from './execution/steps/policy.ts';
export type { Lookup } from './execution/steps/resolve.ts';
export type { RetryOptions } from './execution/steps/retry.ts';
export type { OutputMode } from './execution/steps/validate.ts';
export {
  type CallSettings,
  type ConnectionPort,
  type ExecuteOptions,
  type ExecutionEvent,
  type ExecutionLimits,
  ToolExecutionProxy,
  type ToolExecutionProxyOptions,
} from './execution/tool-execution-proxy.ts';
export { createLogger, silentLogger } from './log.ts';
export { fail, ok, type ToolResult } from './result.ts';
export { PatternMatcher } from './rules/pattern-matcher.ts';
export { SearchEngine } from './search/search-engine.ts';
export type { ToolContext, ToolProvider, ToolRequest, ToolSummary } from './tool-provider.ts';
export type * from './types.ts';
export { VERSION } from './version.ts';
export { watchConfig } from './watch-config.ts';

/**
 * The public surface of `@anygpt/discovery`: the engine and its parts. Adding a name here is a promise.
 * @module
 */
/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />

export type { CallSignal } from './async/cancellation.ts';
export type { AuditEntry, AuditOutcome, AuditSink } from './audit/audit-entry.ts';
export { AuditLog, type AuditLogOptions, type AuditStats } from './audit/audit-log.ts';
export { JsonlSink, type JsonlSinkOptions } from './audit/jsonl-sink.ts';
export { MemorySink } from './audit/memory-sink.ts';
export { type CacheStats, CachingLayer, type CachingLayerOptions } from './cache/caching-layer.ts';
export type { Description } from './catalog/description.ts';
export { ToolMetadataManager } from './catalog/tool-metadata-manager.ts';
export { formatToolName } from './catalog/tool-name.ts';
export { ConfigurationLoader, type LoaderOptions, type ProjectFile } from './config/configuration-loader.ts';
export {
  type AnyGptConfig,
  config,
  type DiscoveryConfig,
  defineConfig,
  type RemoteConfig,
  type ServerConfig,
  type StdioConfig,
} from './config/define-config.ts';
export type { ResolvedConfig, ResolvedSource, ValidationResult } from './config/resolved-config.ts';
export type { Settings } from './config/settings-schema.ts';
export {
  ConfigurationError,
  DiscoveryError,
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  type ErrorInfo,
  type Outcome,
  ServerConnectionError,
  ToolExecutionError,
  ToolNotFoundError,
  ValidationError,
} from './core/errors.ts';
export { createLogger, type LogLevel, silentLogger } from './core/log.ts';
export { fail, ok, type ToolResult } from './core/result.ts';
export type { ToolContext, ToolProvider, ToolRequest, ToolSummary } from './core/tool-provider.ts';
export type * from './core/types.ts';
export { VERSION } from './core/version.ts';
export {
  type CallRequest,
  DiscoveryEngine,
  type ExecutionResult,
  type FindOptions,
  type FindResult,
} from './engine/discovery-engine.ts';
export { type ConfigFile, configFile, type EngineConfig, type EngineOptions } from './engine/engine-world.ts';
export type { ServerProbe } from './engine/probe-server.ts';
export type { ReadListsOptions } from './engine/read-lists.ts';
export { type WatchOptions, watchConfig } from './engine/watch-config.ts';
export type { BreakerOptions } from './execution/circuit-breaker.ts';
export type { Handler } from './execution/pipeline.ts';
export type { AuditRecorder } from './execution/steps/audit.ts';
export type { ConcurrencyOptions } from './execution/steps/concurrency.ts';
export type { Decide, PolicyDecision } from './execution/steps/policy.ts';
export type { Lookup } from './execution/steps/resolve.ts';
export type { RetryOptions } from './execution/steps/retry.ts';
export type { OutputMode } from './execution/steps/validate.ts';
export type { Clock, Timer } from './execution/timers.ts';
export {
  type CallSettings,
  type ConnectionPort,
  type ExecuteOptions,
  type ExecutionEvent,
  type ExecutionLimits,
  type OwnTool,
  type RefusedCall,
  ToolExecutionProxy,
  type ToolExecutionProxyOptions,
} from './execution/tool-execution-proxy.ts';
export type { RegexCompiler } from './rules/pattern.ts';
export { PatternMatcher } from './rules/pattern-matcher.ts';
export type { RuleWarning } from './rules/report.ts';
export type { ExplainedLikeness, ExplainedWord, Explanation, ScoreParts } from './search/explanation.ts';
export { SearchEngine, type SearchOutcome } from './search/search-engine.ts';
export type { SearchEngineOptions } from './search/settings.ts';

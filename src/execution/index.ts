/**
 * Exports what the rest of the program uses of execution.
 * @module
 */
export { CallGates } from './call-gates.ts';
export type { BreakerOptions } from './circuit-breaker.ts';
export { CircuitBreaker } from './circuit-breaker.ts';
export { CONTENT_TYPES, contentTypesOf, fitContent } from './content.ts';
export { type Handler, pipeline, type Step } from './pipeline.ts';
export { joinPages } from './result-pager.ts';
export { READ_RESULT, ResultPages, type ResultPagesOptions } from './result-pages.ts';
export type { AuditRecorder } from './steps/audit.ts';
export type { Decide, PolicyDecision } from './steps/policy.ts';
export type { Lookup } from './steps/resolve.ts';
export type { RetryOptions } from './steps/retry.ts';
export type { OutputMode } from './steps/validate.ts';
export type { Clock, Timer } from './timers.ts';
export { systemClock } from './timers.ts';
export { TokenBucket } from './token-bucket.ts';
export * from './tool-executor.ts';
export { repairArguments } from './validation/repair-arguments.ts';
export { SchemaValidators, type Verdict } from './validation/schema-validators.ts';

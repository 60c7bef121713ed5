/**
 * A call is a pipeline you can read: steps around an invocation. Call in, result out; nothing in it throws.
 * @module
 */
import type { ToolResult } from '../core/result.ts';
import type { CallToolResult, ToolCall } from '../core/types.ts';

/** Answers one call. Never rejects once it stands in a pipeline built by the proxy. */
export type Handler = (call: ToolCall) => Promise<ToolResult<CallToolResult>>;

/** Wraps a handler: may refuse the call, change it, repeat it or look at the answer. */
export type Step = (next: Handler) => Handler;

/** Puts the steps around `invoke`; the first one listed sees the call first and the result last. */
export const pipeline = (steps: readonly Step[], invoke: Handler): Handler =>
  steps.reduceRight((next, step) => step(next), invoke);

/**
 * Composes steps around an invocation. No step throws.
 * @module
 */
import type { ToolResult } from '../core/result.ts';
import type { CallToolResult, ToolCall, ToolRef } from '../core/types.ts';

/** Answers one call. Never rejects inside a pipeline built by `ToolExecutor`. */
export type Handler = (call: ToolCall) => Promise<ToolResult<CallToolResult>>;

/** Wraps a handler: may refuse, change or repeat the call, or inspect the result. */
export type Step = (next: Handler) => Handler;

/** Composes the steps around `invoke`; the first one listed sees the call first and the result last. */
export const pipeline = (steps: readonly Step[], invoke: Handler): Handler =>
  steps.reduceRight((next, step) => step(next), invoke);

/** A tool in a message: `server:tool`, or its name alone where its source has none. */
export const nameOf = ({ server, tool }: ToolRef): string => (server === '' ? tool : `${server}:${tool}`);

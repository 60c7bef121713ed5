/**
 * Provides calls and handlers for tests of steps.
 * @module
 */
import type { ErrorCode, ErrorDetails } from '../core/errors.ts';
import { fail, ok, type ToolResult } from '../core/result.ts';
import type { CallToolResult, ToolCall } from '../core/types.ts';
import type { Handler } from './pipeline.ts';

export const DONE = ok<CallToolResult>({ content: [{ type: 'text', text: 'done' }] });

/** A handler that never answers. */
export const never: Handler = () => new Promise(() => undefined);

/** A handler that answers at once. */
export const done: Handler = async () => DONE;

/** A handler that fails in a given way. */
export const failing =
  (code: ErrorCode, details?: ErrorDetails): Handler =>
  async () =>
    fail(code, 'no', details);

/** A call to `s:t`, with changes. */
export const aCall = (more: Partial<ToolCall> = {}): ToolCall => ({
  notes: {},
  server: 's',
  tool: 't',
  arguments: {},
  traceId: 'trace',
  caller: {},
  signal: new AbortController().signal,
  ...more,
});

/** A handler whose calls end on demand, in order. */
export function held(): {
  readonly handler: Handler;
  readonly calls: ToolCall[];
  readonly end: (result?: ToolResult<CallToolResult>) => void;
} {
  const calls: ToolCall[] = [];
  const ends: ((result: ToolResult<CallToolResult>) => void)[] = [];
  const handler: Handler = (call) => {
    calls.push(call);
    return new Promise((end) => ends.push(end));
  };
  return { handler, calls, end: (result = DONE) => ends.shift()?.(result) };
}

/** The code of a failure, or `ok`. */
export const codeOf = (result: ToolResult<unknown>): string => (result.success ? 'ok' : result.error.code);

/**
 * Defines how a tool is run by name for a caller: by the meta-tools, and by a server that is shown unchanged.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';
import type { Caller, CallToolResult, Progress, ToolCall, ToolRequest } from '../core/types.ts';

/** What a call of one of our tools needs to know about its caller. */
export interface CallContext {
  readonly caller: Caller;
  /** The id of the request, for traces. */
  readonly id?: string | number | undefined;
  readonly signal: CallSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onNotification?: ToolCall['onNotification'];
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
  readonly requestState?: string | undefined;
  /** The MCP request, where the tool is the program's own. */
  readonly request?: ToolRequest | undefined;
}

/** Runs a tool. Errors are in the result, unless the request itself is invalid. */
export type RunTool = (name: string, args: unknown, context: CallContext) => Promise<CallToolResult>;

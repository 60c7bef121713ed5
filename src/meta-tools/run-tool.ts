/**
 * Running a tool by name for somebody who called it: what the meta-tools do, and what a server shown as it is does.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';
import type { Caller, CallToolResult, Progress, ToolCall, ToolRequest } from '../core/types.ts';

/** What a call of one of our tools needs to know about its caller. */
export interface CallContext {
  readonly caller: Caller;
  readonly signal: CallSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onNotification?: ToolCall['onNotification'];
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
  readonly requestState?: string | undefined;
  /** The MCP request, where the tool is the program's own. */
  readonly request?: ToolRequest | undefined;
}

/** Runs a tool. What goes wrong is in the result, unless it is the request itself that is wrong. */
export type RunTool = (name: string, args: unknown, context: CallContext) => Promise<CallToolResult>;

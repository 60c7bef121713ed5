/**
 * Refuses calls that the rules do not allow, and calls of tools that are not approved.
 * @module
 */
import type { ErrorCode } from '../../core/errors.ts';
import { fail } from '../../core/result.ts';
import type { Caller, ItemRef, ToolDefinition } from '../../core/types.ts';
import type { Step } from '../pipeline.ts';

/** The decision of the rules, or of the approvals, about one tool. */
export interface PolicyDecision {
  readonly enabled: boolean;
  readonly reason?: string | undefined;
  /** The error code of a refusal. Default TOOL_DISABLED. */
  readonly code?:
    | Extract<ErrorCode, 'TOOL_DISABLED' | 'TOOL_NOT_APPROVED' | 'TOOL_NOT_FOUND' | 'STORAGE_ERROR'>
    | undefined;
}

/** Decides about one definition; with `item`, about the resource or prompt. Throwing refuses the call. */
export type Decide = (server: string, definition: ToolDefinition, item?: ItemRef, caller?: Caller) => PolicyDecision;

/** Refuses what the rules do not allow, and what is not approved. */
export const policy =
  (decide: Decide): Step =>
  (next) =>
  (call) => {
    const { server, tool, definition = { name: tool, inputSchema: {} } } = call;
    let decision: PolicyDecision;
    try {
      decision = decide(server, definition, call.item, call.caller);
    } catch (cause) {
      const message = `${server}:${tool} was refused because the rules could not be evaluated.`;
      return Promise.resolve(fail('TOOL_DISABLED', message, { server, tool, outcome: 'not_sent', cause }));
    }
    if (decision.enabled) return next(call);
    const why = decision.reason === undefined ? 'A tool rule disables it.' : decision.reason;
    const { code = 'TOOL_DISABLED' } = decision;
    const message = code === 'TOOL_NOT_APPROVED' ? why : `${server}:${tool} may not be called. ${why}`;
    return Promise.resolve(fail(code, message, { server, tool, outcome: 'not_sent' }));
  };

/**
 * Asks the one function that decides whether a tool may be called. Call in, call on or refusal out.
 * @module
 */
import type { ErrorCode } from '../../core/errors.ts';
import { fail } from '../../core/result.ts';
import type { Step } from '../pipeline.ts';

/** The answer of the rules, or of the approvals, about one tool. */
export interface PolicyDecision {
  readonly enabled: boolean;
  readonly reason?: string | undefined;
  /** What to refuse with; TOOL_DISABLED unless told. */
  readonly code?:
    | Extract<ErrorCode, 'TOOL_DISABLED' | 'TOOL_NOT_APPROVED' | 'TOOL_NOT_FOUND' | 'STORAGE_ERROR'>
    | undefined;
}

/** Decides about one tool. A decision that cannot be made, because it throws, refuses. */
export type Decide = (server: string, tool: string) => PolicyDecision;

/** Refuses what the rules do not allow. */
export const policy =
  (decide: Decide): Step =>
  (next) =>
  (call) => {
    const { server, tool } = call;
    let decision: PolicyDecision;
    try {
      decision = decide(server, tool);
    } catch (cause) {
      const message = `${server}:${tool} is refused because the rules could not be read.`;
      return Promise.resolve(fail('TOOL_DISABLED', message, { server, tool, outcome: 'not_sent', cause }));
    }
    if (decision.enabled) return next(call);
    const why = decision.reason === undefined ? 'It is switched off by a tool rule.' : decision.reason;
    const message = `${server}:${tool} may not be called. ${why}`;
    return Promise.resolve(fail(decision.code ?? 'TOOL_DISABLED', message, { server, tool, outcome: 'not_sent' }));
  };

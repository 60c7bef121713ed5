/**
 * Defines results for agents. What an agent asks for returns a result and never throws; only programmers get errors.
 * @module
 */

import { messageOf, thrownAs } from '../text/thrown-message.ts';
import { DiscoveryError, type ErrorCode, type ErrorDetails, type ErrorInfo } from './errors.ts';

/** The data an agent asked for, or an error. `E` is our error, unless a view of the engine has its own. */
export type ToolResult<T, E = ErrorInfo> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly error: E };

export const ok = <T>(data: T): ToolResult<T, never> => ({ success: true, data });

/** Returns a failure with one of our codes. Whether a retry may help follows from the code, unless `details` says. */
export const fail = (code: ErrorCode, message: string, details: ErrorDetails = {}): ToolResult<never> => ({
  success: false,
  error: new DiscoveryError(code, message, details).toInfo(),
});

/**
 * Marks a failure after which a sent call may be sent again: the server refuses every request, so it hardly looked at
 * this one. This is not proof; if the call is not sent again, its outcome is unknown.
 */
export class UnheededError extends Error {
  override readonly name = 'UnheededError';
}

const causes = new WeakMap<ErrorInfo, unknown>();

/** Returns the thrown error, or its cause, for callers that need more than the message. */
export const causeOf = (error: ErrorInfo): unknown => causes.get(error);

/** Turns any thrown value into a failure. Never throws. */
export function toFailure(thrown: unknown, details: ErrorDetails = {}): ToolResult<never> {
  const ours = thrownAs(DiscoveryError, thrown);
  if (ours !== undefined) {
    const { server = details.server, tool = details.tool } = ours.details;
    const error = new DiscoveryError(ours.code, ours.message, { ...ours.details, server, tool }).toInfo();
    causes.set(error, ours.cause ?? ours);
    return { success: false, error };
  }
  return fail('TOOL_EXECUTION_ERROR', messageOf(thrown), { outcome: 'unknown', ...details });
}

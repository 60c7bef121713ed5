/**
 * Agents get results, programmers get errors: what an agent asks for never throws.
 * @module
 */

import { messageOf, thrownAs } from '../text/thrown-message.ts';
import { DiscoveryError, type ErrorCode, type ErrorDetails, type ErrorInfo } from './errors.ts';

/** What an agent asked for, or why it did not get it. `E` is the error: ours, unless a view of the engine has its own. */
export type ToolResult<T, E = ErrorInfo> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly error: E };

/** A success with its data. */
export const ok = <T>(data: T): ToolResult<T, never> => ({ success: true, data });

/** A failure with one of our codes; whether it is worth trying again follows from the code unless `details` says. */
export const fail = (code: ErrorCode, message: string, details: ErrorDetails = {}): ToolResult<never> => ({
  success: false,
  error: new DiscoveryError(code, message, details).toInfo(),
});

/**
 * Why a call that has left may be sent once more: the server refuses everything, so it has hardly looked at the call. It is
 * no proof, and where the call is not sent again nobody knows what became of it.
 */
export class UnheededError extends Error {
  override readonly name = 'UnheededError';
}

const causes = new WeakMap<ErrorInfo, unknown>();

/** What was thrown, or what was below that, for those who can do more with it than read its message. */
export const causeOf = (error: ErrorInfo): unknown => causes.get(error);

/** The one place where an unknown thrown value becomes a failure. Never throws, whatever it was. */
export function toFailure(thrown: unknown, details: ErrorDetails = {}): ToolResult<never> {
  const ours = thrownAs(DiscoveryError, thrown);
  if (ours !== undefined) {
    const { server, tool } = details;
    const error = {
      ...(server !== undefined && { server }),
      ...(tool !== undefined && { tool }),
      ...ours.toInfo(),
    };
    causes.set(error, ours.cause ?? ours);
    return { success: false, error };
  }
  return fail('TOOL_EXECUTION_ERROR', messageOf(thrown), { outcome: 'unknown', ...details });
}

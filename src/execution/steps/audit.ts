/**
 * Records every call, including refused and cancelled ones. Outermost step; the result is unchanged.
 * @module
 */

import { wallNow } from '../../async/clock.ts';
import type { AuditEntry, AuditIntent, AuditOutcome } from '../../audit/audit-entry.ts';
import type { ErrorInfo } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { fail, toFailure } from '../../core/result.ts';
import { jsonBytes } from '../json-bytes.ts';
import type { Handler, Step } from '../pipeline.ts';
import { type Clock, systemClock } from '../timers.ts';

/** Takes records, as `AuditLog` does. `record` must not throw; if it does, the call fails. */
export interface AuditRecorder {
  record(entry: AuditEntry): void;
  /** Records a call before it is sent. Resolves with whether that is written. */
  announce?(intent: AuditIntent): Promise<boolean>;
}

/** Records each call before it is sent, and refuses it if that cannot be written: the process may die before the answer. */
export const announce =
  (recorder: AuditRecorder, wallClock: () => number = wallNow): Step =>
  (next) =>
  async (call) => {
    const { server, tool, traceId, caller, arguments: given } = call;
    const { principal, profile, session } = caller;
    const time = new Date(wallClock());
    const intent = { time, traceId, principal, profile, session, server, tool, arguments: given };
    if ((await recorder.announce?.(intent)) !== false) return next(call);
    const message = `${server}:${tool} may not be called. The audit log cannot be written, and audit.failClosed refuses calls that are not recorded.`;
    return fail('STORAGE_ERROR', message, { server, tool, outcome: 'not_sent' });
  };

/** Records every call and every refusal. Turns whatever a step below may throw into a failure. */
export function audit(recorder: AuditRecorder, clock: Clock = systemClock, wallClock: () => number = wallNow): Step {
  return (next: Handler): Handler =>
    async (call) => {
      const { server, tool, traceId, caller } = call;
      const time = wallClock();
      const started = clock.now();
      let result: Awaited<ReturnType<Handler>>;
      let bytesIn: number | undefined;
      try {
        const answer = next(call);
        // Counted while the server works, so that it adds no delay.
        bytesIn = sizeOf(call.arguments);
        result = await answer;
      } catch (thrown) {
        result = toFailure(thrown, { server, tool });
      }
      const notes = result.success ? call.notes : undefined;
      try {
        recorder.record({
          time: new Date(time),
          traceId,
          principal: caller.principal,
          profile: caller.profile,
          session: caller.session,
          server,
          tool,
          arguments: call.arguments,
          outcome: outcomeOf(result),
          sent: result.success || !isUnsent(result.error),
          code: result.success ? undefined : result.error.code,
          message: result.success ? undefined : result.error.message,
          durationMs: clock.now() - started,
          connectMs: call.notes?.connectMs,
          bytesIn: bytesIn ?? sizeOf(call.arguments),
          bytesOut: notes?.bytes,
          flags: notes?.flags,
        });
      } catch (thrown) {
        return toFailure(thrown, { server, tool });
      }
      return result;
    };
}

function outcomeOf(result: Awaited<ReturnType<Handler>>): AuditOutcome {
  if (result.success) return result.data.isError === true ? 'tool_error' : 'success';
  if (result.error.code === 'CANCELLED') return 'cancelled';
  const { outcome } = result.error;
  return outcome === undefined || outcome === 'not_sent' ? 'refused' : outcome;
}

const isUnsent = ({ outcome }: ErrorInfo): boolean => outcome === undefined || outcome === 'not_sent';

function sizeOf(args: Readonly<Record<string, unknown>>): number | undefined {
  try {
    return jsonBytes(args, LIMITS.wire.message);
  } catch {
    // A getter or toJSON of a caller in the same process threw: record the call anyway.
    return undefined;
  }
}

/**
 * Outermost step: one record per call, refusals and cancellations included. Call in, the same result out.
 * @module
 */
import type { ErrorCode } from '../../errors.ts';
import { toFailure } from '../../result.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Handler, Step } from '../pipeline.ts';
import { notesOf } from '../result-notes.ts';

/** What became of a call, as the log tells it. */
export type AuditOutcome = 'success' | 'tool_error' | 'refused' | 'failed' | 'unknown' | 'cancelled';

/** One call, for the log. `arguments` are the caller's own; the log hashes or redacts them. */
export interface AuditEntry {
  readonly time: Date;
  readonly traceId: string;
  readonly principal?: string | undefined;
  readonly session?: string | undefined;
  readonly server: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly outcome: AuditOutcome;
  readonly code?: ErrorCode | undefined;
  readonly message?: string | undefined;
  readonly durationMs: number;
  readonly bytesOut?: number | undefined;
  /** `invalid_schema`, `invalid_output`, `cut`: what was let through but should be seen. */
  readonly flags?: readonly string[] | undefined;
}

/** Where records go. `record` must not throw; one that does fails the call it could not record. */
export interface AuditSink {
  record(entry: AuditEntry): void;
}

/** Records every call and every refusal. Turns whatever a step below may throw into a failure. */
export function audit(sink: AuditSink, clock: Clock = systemClock, wallClock: () => number = Date.now): Step {
  return (next: Handler): Handler =>
    async (call) => {
      const { server, tool, traceId, caller } = call;
      const time = new Date(wallClock());
      const started = clock.now();
      let result: Awaited<ReturnType<Handler>>;
      try {
        result = await next(call);
      } catch (thrown) {
        result = toFailure(thrown, { server, tool });
      }
      const notes = result.success ? notesOf(result.data) : undefined;
      try {
        sink.record({
          time,
          traceId,
          principal: caller.principal,
          session: caller.session,
          server,
          tool,
          arguments: call.arguments,
          outcome: outcomeOf(result),
          code: result.success ? undefined : result.error.code,
          message: result.success ? undefined : result.error.message,
          durationMs: clock.now() - started,
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
  const { code, outcome } = result.error;
  if (code === 'CANCELLED') return 'cancelled';
  if (outcome === undefined || outcome === 'not_sent') return 'refused';
  return outcome;
}

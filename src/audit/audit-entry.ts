/**
 * What the audit log is told about a call, and the port behind which lines are kept.
 * @module
 */
import type { ErrorCode } from '../core/errors.ts';

/** What became of a call, as the log tells it. */
export type AuditOutcome = 'success' | 'tool_error' | 'refused' | 'failed' | 'unknown' | 'cancelled';

/** One call, as the execution pipeline saw it. `arguments` are the caller's own; the log hashes or redacts them. */
export interface AuditEntry {
  readonly time: Date;
  readonly traceId: string;
  readonly principal?: string | undefined;
  readonly session?: string | undefined;
  readonly server: string;
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly outcome: AuditOutcome;
  /** False where the call never left: refused, or cancelled before. */
  readonly sent?: boolean | undefined;
  readonly code?: ErrorCode | undefined;
  /** May quote arguments, so it is written only where values are. */
  readonly message?: string | undefined;
  /** The whole call, the wait for a connection included. */
  readonly durationMs: number;
  /** How long it waited for a connection, where none was open. */
  readonly connectMs?: number | undefined;
  /** Size of the arguments as JSON. */
  readonly bytesIn?: number | undefined;
  readonly bytesOut?: number | undefined;
  /** What was let through but should be seen: `invalid_schema`, `invalid_output`, `cut`. */
  readonly flags?: readonly string[] | undefined;
  /** How many calls the record stands for, where it is not one: refusals that were repeated. */
  readonly count?: number | undefined;
  /** When the first of these was made. */
  readonly since?: Date | undefined;
}

/** Where lines go. */
export interface AuditSink {
  /**
   * Keeps one or more whole lines, each ended by a newline. Rejects when it cannot; the very same text is then offered
   * again later, and a sink that did keep part of it leaves that part out.
   */
  write(lines: string): Promise<void> | void;
  /** Lets go of what it holds open. Nothing is written afterwards. */
  close(): Promise<void> | void;
}

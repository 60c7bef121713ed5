/**
 * Defines an audit record, and the port for audit lines.
 * @module
 */
import type { ErrorCode } from '../core/errors.ts';

/** The outcome of a call in the log. */
export type AuditOutcome = 'success' | 'tool_error' | 'refused' | 'failed' | 'unknown' | 'cancelled';

/** A call that is about to be sent. Its record follows, unless the process dies first. */
export type AuditIntent = Omit<AuditEntry, 'outcome' | 'durationMs'>;

/** One call as the execution pipeline saw it. `arguments` are the caller's own; the log hashes or redacts them. */
export interface AuditEntry {
  readonly time: Date;
  readonly traceId: string;
  readonly principal?: string | undefined;
  /** The profile that was selected for the caller. */
  readonly profile?: string | undefined;
  readonly session?: string | undefined;
  readonly server: string;
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly outcome: AuditOutcome;
  /** False if the call was never sent: refused, or cancelled before. */
  readonly sent?: boolean | undefined;
  readonly code?: ErrorCode | undefined;
  /** May quote arguments, so it is written only if values are. */
  readonly message?: string | undefined;
  /** The whole call, the wait for a connection included. */
  readonly durationMs: number;
  /** How long it waited for a connection, where none was open. */
  readonly connectMs?: number | undefined;
  /** Size of the arguments as JSON. */
  readonly bytesIn?: number | undefined;
  readonly bytesOut?: number | undefined;
  /** Things that were let through but should be seen: `invalid_schema`, `invalid_output`, `cut`, `sent_again`. */
  readonly flags?: readonly string[] | undefined;
  /** How many repeated refusals the record stands for, if not one. */
  readonly count?: number | undefined;
  /** When the first of these was made. */
  readonly since?: Date | undefined;
}

/** Stores audit lines. */
export interface AuditSink {
  /**
   * Stores one or more whole lines, each ending with a newline. Rejects on failure; the same text is then offered again
   * later, and a sink that already stored a part of it skips that part.
   */
  write(lines: string): Promise<void> | void;
  /** Releases resources. Nothing is written afterwards. */
  close(): Promise<void> | void;
}

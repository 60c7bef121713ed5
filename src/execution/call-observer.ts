/**
 * Defines what may watch the calls of an engine: metrics and traces.
 * @module
 */

import type { Handler } from './pipeline.ts';
import type { AuditRecorder } from './steps/audit.ts';

/** Watches calls. Must not throw. */
export interface CallObserver extends Partial<AuditRecorder> {
  /** Wraps what sends a call to its server, once for each attempt. */
  sending?(send: Handler): Handler;
  /** Told that a connection to a server was opened. Returns what to call when it is closed. */
  connected?(server: string): () => void;
}

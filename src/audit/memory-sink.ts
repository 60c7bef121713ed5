/**
 * Keeps the newest audit lines in memory, for tests and for a dashboard of recent calls.
 * @module
 */
import { DEFAULTS } from '../core/limits.ts';
import type { AuditSink } from './audit-entry.ts';

/** Keeps the last lines, oldest first. */
export class MemorySink implements AuditSink {
  readonly #maxLines: number;
  #lines: string[] = [];

  /** Keeps `maxLines` lines; default 1,000. */
  constructor(maxLines = DEFAULTS.auditQueue.lines) {
    this.#maxLines = maxLines;
  }

  /** The lines, without their newlines. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The lines, parsed. */
  get records(): readonly Record<string, unknown>[] {
    return this.#lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  write(lines: string): void {
    const added = lines.split('\n').filter((line) => line !== '');
    this.#lines = [...this.#lines, ...added].slice(-this.#maxLines);
  }

  close(): void {}
}

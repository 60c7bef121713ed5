/**
 * Defines a finding of the doctor: its subject, its status and what to do.
 * @module
 */

/** Fine, a warning, or broken. */
export type CheckStatus = 'ok' | 'warn' | 'fail';

/** What a finding is about. */
export type CheckKind = 'machine' | 'configuration' | 'source' | 'server';

/** One finding. */
export interface Check {
  readonly kind: CheckKind;
  /** The name of the server, or the file. */
  readonly subject: string;
  /** What was checked: `node`, `variables`, `command`, `connect`, … */
  readonly check: string;
  readonly status: CheckStatus;
  readonly detail: string;
  /** The one thing to do next. */
  readonly fix?: string | undefined;
  /** How long it took. */
  readonly ms?: number | undefined;
}

/** The worst status among findings. */
export const worstOf = (checks: readonly Check[]): CheckStatus => {
  const statuses = new Set(checks.map(({ status }) => status));
  return statuses.has('fail') ? 'fail' : statuses.has('warn') ? 'warn' : 'ok';
};

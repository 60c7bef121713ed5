/**
 * What the doctor says: one finding about one subject, and the one thing to do about it.
 * @module
 */

/** Fine, worth knowing, or broken. */
export type CheckStatus = 'ok' | 'warn' | 'fail';

/** What a finding is about. */
export type CheckKind = 'machine' | 'configuration' | 'source' | 'server';

/** One finding. */
export interface Check {
  readonly kind: CheckKind;
  /** Which of its kind: a server's name, a file. */
  readonly subject: string;
  /** What was looked at: `node`, `variables`, `command`, `connect`, … */
  readonly check: string;
  readonly status: CheckStatus;
  readonly detail: string;
  /** The one thing to do next. */
  readonly fix?: string | undefined;
  /** How long it took. */
  readonly ms?: number | undefined;
}

/** The worst of some findings. */
export const worstOf = (checks: readonly Check[]): CheckStatus => {
  const statuses = new Set(checks.map(({ status }) => status));
  return statuses.has('fail') ? 'fail' : statuses.has('warn') ? 'warn' : 'ok';
};

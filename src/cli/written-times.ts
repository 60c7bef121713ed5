/**
 * Parses times as people type them: a duration such as `2m`, a time in the past or in the future such as `7d`, a date.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { UsageError } from './usage-error.ts';

const DAY = 24 * 3600_000;
const LENGTHS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3600_000,
  d: DAY,
  w: 7 * DAY,
  y: 365 * DAY,
};
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_AND_TIME = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]{1,12}(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** Returns milliseconds. `500ms` and `2m` have a unit; a number without one is seconds. */
export function toMilliseconds(text: string, option: string): number {
  const ms = Math.round(lengthOf(text.trim(), /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)?$/) ?? Number.NaN);
  if (ms >= 1 && ms <= LIMITS.time.timer) return ms;
  throw new UsageError(`${option} takes a time such as 30 (seconds), 500ms or 2m, not "${text}"`);
}

/** Returns milliseconds since 1970. `90m`, `24h`, `7d` and `2w` count back from now; a date is in UTC. */
export function toPointInTime(text: string, option: string, now: number): number {
  const written = text.trim();
  const ago = lengthOf(written, /^(\d{1,6})([mhdw])$/);
  const at = ago === undefined ? dateOf(written, DATE_AND_TIME) : Math.max(0, now - ago);
  if (!Number.isNaN(at)) return at;
  throw new UsageError(`${option} takes a time such as 24h, 7d or 2026-01-31, not "${text.slice(0, 100)}"`);
}

/** Returns milliseconds since 1970. `12h`, `30d`, `6w` and `1y` count from now; a date is the start of that day (UTC). */
export function toFutureTime(text: string, option: string, now: number): number {
  const written = text.trim();
  const ahead = lengthOf(written, /^(\d{1,5})([hdwy])$/);
  const at = ahead === undefined ? dateOf(written, DATE) : now + ahead;
  if (at > now && at <= now + LIMITS.age.staticTokenMost) return at;
  throw new UsageError(
    `${option} takes a time from now, such as 12h, 30d or 1y, or a date such as 2027-01-31, at most ten years ahead; not "${text.slice(0, 100)}"`,
  );
}

/** The milliseconds of a number and a unit; undefined if the text does not have this form. */
function lengthOf(written: string, form: RegExp): number | undefined {
  const [, number, unit = 's'] = form.exec(written) ?? [];
  return number === undefined ? undefined : Number(number) * (LENGTHS[unit] ?? Number.NaN);
}

const dateOf = (written: string, form: RegExp): number => (form.test(written) ? Date.parse(written) : Number.NaN);

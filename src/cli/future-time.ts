/**
 * Parses a time in the future, such as `30d` or a date, into milliseconds since 1970.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { UsageError } from './usage-error.ts';

const HOUR = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { h: HOUR, d: 24 * HOUR, w: 7 * 24 * HOUR, y: 365 * 24 * HOUR };

/** `12h`, `30d`, `6w` and `1y` count from now; `2027-01-31` is the start of that day (UTC). */
export function toFutureTime(text: string, option: string, now: number): number {
  const written = text.trim();
  const [, number, unit = ''] = /^(\d{1,5})([hdwy])$/.exec(written) ?? [];
  const at =
    number === undefined
      ? /^\d{4}-\d{2}-\d{2}$/.test(written)
        ? Date.parse(written)
        : Number.NaN
      : now + Number(number) * (UNITS[unit] ?? Number.NaN);
  if (at > now && at <= now + LIMITS.age.staticTokenMost) return at;
  throw new UsageError(
    `${option} takes a time from now, such as 12h, 30d or 1y, or a date such as 2027-01-31, at most ten years ahead; not "${text.slice(0, 100)}"`,
  );
}

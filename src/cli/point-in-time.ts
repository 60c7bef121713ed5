/**
 * Parses a time in the past, such as `7d` or a date, into milliseconds since 1970.
 * @module
 */
import { UsageError } from './usage-error.ts';

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3600_000, d: 24 * 3600_000, w: 7 * 24 * 3600_000 };

/** `90m`, `24h`, `7d` and `2w` count back from now; `2026-01-31`, with or without a time, is a date (UTC). */
export function toPointInTime(text: string, option: string, now: number): number {
  const written = text.trim();
  const [, number, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(written) ?? [];
  if (number !== undefined) return Math.max(0, now - Number(number) * (UNITS[unit] ?? 0));
  const at = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]{1,12}(?:Z|[+-]\d{2}:\d{2})?)?$/.test(written)
    ? Date.parse(written)
    : Number.NaN;
  if (Number.isNaN(at))
    throw new UsageError(`${option} takes a time such as 24h, 7d or 2026-01-31, not "${text.slice(0, 100)}"`);
  return at;
}

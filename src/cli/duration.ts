/**
 * Parses a duration such as `30`, `500ms` or `2m` into milliseconds.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { UsageError } from './usage-error.ts';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** A number without a unit is seconds. */
export function toMilliseconds(text: string, option: string): number {
  const [, number = '', unit = 's'] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(text.trim()) ?? [];
  const ms = Math.round(Number(number) * (UNITS[unit] ?? Number.NaN));
  if (number === '' || !(ms >= 1 && ms <= LIMITS.time.timer))
    throw new UsageError(`${option} takes a time such as 30 (seconds), 500ms or 2m, not "${text}"`);
  return ms;
}

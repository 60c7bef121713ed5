/**
 * A time as people write it in, milliseconds out.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { UsageError } from './usage-error.ts';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** `30` and `30s` are seconds, `500ms` and `2m` say what they are. */
export function toMilliseconds(text: string, option: string): number {
  const [, number = '', unit = 's'] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(text.trim()) ?? [];
  const ms = Math.round(Number(number) * (UNITS[unit] ?? Number.NaN));
  if (number === '' || !(ms >= 1 && ms <= LIMITS.time.timer))
    throw new UsageError(`${option} takes a time such as 30 (seconds), 500ms or 2m, not "${text}"`);
  return ms;
}

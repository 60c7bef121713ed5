/**
 * Writes how long ago a moment was.
 * @module
 */
import { wallNow } from '../async/clock.ts';

const STEPS: readonly (readonly [number, string])[] = [
  [24 * 3600_000, 'd'],
  [3600_000, 'h'],
  [60_000, 'min'],
];

/** `3 h ago`; `just now` below a minute, or for a time in the future after a clock was set back. */
export function ageOf(at: number, now = wallNow()): string {
  for (const [ms, unit] of STEPS) if (now - at >= ms) return `${Math.floor((now - at) / ms)} ${unit} ago`;
  return 'just now';
}

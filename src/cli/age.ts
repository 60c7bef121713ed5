/**
 * A moment in, how long ago that was out, as people say it.
 * @module
 */
import { wallNow } from '../async/clock.ts';

const STEPS: readonly (readonly [number, string])[] = [
  [24 * 3600_000, 'd'],
  [3600_000, 'h'],
  [60_000, 'min'],
];

/** `3 h ago`; what is less than a minute old, or lies ahead of a clock that was put back, is `just now`. */
export function ageOf(at: number, now = wallNow()): string {
  for (const [ms, unit] of STEPS) if (now - at >= ms) return `${Math.floor((now - at) / ms)} ${unit} ago`;
  return 'just now';
}

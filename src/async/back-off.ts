/**
 * Computes the pause after attempts that failed in a row.
 * @module
 */

/** How pauses grow: from `initial` milliseconds by `factor` up to `max`, varied by ± `jitter` of their length. */
export interface BackOff {
  readonly initial: number;
  readonly max: number;
  /** Default 2. */
  readonly factor?: number | undefined;
  /** Default 0. */
  readonly jitter?: number | undefined;
}

/** Milliseconds to wait after `failures` failures in a row. */
export const pauseAfter = (
  failures: number,
  { initial, max, factor = 2, jitter = 0 }: BackOff,
  random: () => number = Math.random,
): number => Math.min(initial * factor ** (failures - 1), max) * (1 + jitter * (2 * random() - 1));

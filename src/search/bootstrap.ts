/**
 * Estimates an average and its interval from samples. The seed is fixed: the same samples always give the same interval.
 * @module
 */

/** An average and the interval that holds it in 95 of 100 cases. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** How the samples are drawn again. */
export interface BootstrapOptions {
  readonly resamples?: number | undefined;
  readonly seed?: number | undefined;
}

/**
 * The average of the averages of several sets, each drawn again from itself. One set gives its plain average; the
 * differences of two rankers, query by query, give the paired interval of their difference.
 */
export function estimate(
  sets: readonly (readonly number[])[],
  { resamples = 1000, seed = 1 }: BootstrapOptions = {},
): Estimate {
  const filled = sets.filter((samples) => samples.length > 0);
  if (filled.length === 0) return { value: 0, low: 0, high: 0 };
  const random = randomOf(seed);
  const over = (averageOf: (samples: readonly number[]) => number): number =>
    filled.reduce((sum, samples) => sum + averageOf(samples), 0) / filled.length;
  const averages = Float64Array.from({ length: resamples }, () =>
    over((samples) => {
      let sum = 0;
      for (let drawn = 0; drawn < samples.length; drawn++) sum += samples[random(samples.length)] as number;
      return sum / samples.length;
    }),
  ).sort();
  const value = over((samples) => samples.reduce((sum, sample) => sum + sample, 0) / samples.length);
  const at = (share: number): number => averages[Math.floor(share * (averages.length - 1))] ?? value;
  return { value, low: at(0.025), high: at(0.975) };
}

/** Whole numbers below a bound, the same ones for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

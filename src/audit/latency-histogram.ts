/**
 * Counts durations and returns quantiles, in little memory: buckets are two per cent wide.
 * @module
 */

const WIDTH = Math.log(1.02);
/** Shorter durations count as this, in milliseconds. */
const SHORTEST = 0.001;
/** Longer durations count as this: a week. */
const LONGEST = 7 * 24 * 3600_000;

/** Counts durations. Quantiles are accurate to one per cent. */
export class LatencyHistogram {
  readonly #buckets = new Map<number, number>();
  #count = 0;

  add(ms: number): void {
    const bounded = Math.min(Math.max(ms, SHORTEST), LONGEST);
    const bucket = Math.round(Math.log(bounded / SHORTEST) / WIDTH);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
    this.#count++;
  }

  /** Returns the duration that the share `q` of all calls did not exceed; undefined without calls. */
  quantile(q: number): number | undefined {
    let rank = Math.max(1, Math.ceil(q * this.#count));
    for (const bucket of [...this.#buckets.keys()].sort((a, b) => a - b)) {
      rank -= this.#buckets.get(bucket) ?? 0;
      if (rank <= 0) return SHORTEST * Math.exp(bucket * WIDTH);
    }
    return undefined;
  }
}

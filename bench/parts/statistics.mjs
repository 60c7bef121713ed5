// Computes percentiles and times.

/** The value below which `share` of the samples lie. */
export const percentile = (samples, share) => {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
};

export const median = (samples) => percentile(samples, 0.5);

/** Milliseconds that `act` takes, which may be asynchronous. */
export const timed = async (act) => {
  const start = performance.now();
  await act();
  return performance.now() - start;
};

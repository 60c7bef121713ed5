// Measures the time and memory of something that indexes and searches.
import { usedMegabytes } from './in-child.mjs';
import { median, percentile } from './statistics.mjs';

/**
 * Measures `open(lists)`, which returns a search function. Runs in its own process: see in-child.mjs. Every query runs
 * `passes` times. `p99` counts all of them; `p99Best` only the best time of each query, which excludes other work on
 * the machine.
 */
export const measureIndex = (lists, queries, open, passes = 1) => {
  const before = usedMegabytes();
  const start = performance.now();
  const search = open(lists);
  search(queries[0]);
  const indexed = performance.now() - start;
  const megabytes = usedMegabytes() - before;
  for (const query of queries.slice(0, 200)) search(query);
  const times = queries.map(() => []);
  for (let pass = 0; pass < passes; pass++) {
    for (const [at, query] of queries.entries()) {
      const from = performance.now();
      search(query);
      times[at].push(performance.now() - from);
    }
  }
  const all = times.flat();
  const best = times.map((own) => Math.min(...own));
  // Read after measuring, so that the collector cannot free the input and hide what the index holds.
  const tools = lists.reduce((sum, { metadata }) => sum + metadata.length, 0);
  return {
    p50: median(all),
    p99: percentile(all, 0.99),
    ...(passes > 1 && { p99Best: percentile(best, 0.99) }),
    megabytes,
    indexed,
    tools,
    servers: lists.length,
  };
};

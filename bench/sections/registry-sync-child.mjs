// Does one step of registry-sync.mjs and prints what it took: `sync FOLDER URL` or `search FOLDER URL ENTRIES`.
import { McpRegistries } from '../../dist/mcp-registry/mcp-registries.js';
import { registryEntries, registryQueries } from '../parts/registry-entries.mjs';
import { median, percentile, timed } from '../parts/statistics.mjs';

const [step, folder, url, count] = process.argv.slice(2);
const registries = new McpRegistries({ registries: [{ url }], folder });
const cpuNow = () => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;
const rss = () => process.resourceUsage().maxRSS / 1024;

const sync = async () => {
  const before = cpuNow();
  let result;
  const ms = await timed(async () => {
    result = await registries.sync();
  });
  const [failure] = result.failures;
  if (failure) throw failure;
  const { total, changed } = result.reports[0];
  return { ms, cpu: cpuNow() - before, rss: rss(), total, changed };
};

const search = async () => {
  const first = await timed(() => registries.search('read records of a database', { offline: true }));
  const own = rss();
  const queries = registryQueries(registryEntries(Number(count)), 1_000);
  // The compiler warms up first.
  for (const query of queries.slice(0, 200)) await registries.search(query, { offline: true });
  const before = cpuNow();
  const times = [];
  const cpus = [];
  for (const query of queries) {
    const start = cpuNow();
    times.push(await timed(() => registries.search(query, { offline: true })));
    cpus.push(cpuNow() - start);
  }
  return {
    first,
    p50: median(times),
    p99: percentile(times, 0.99),
    cpu99: percentile(cpus, 0.99),
    cpu: (cpuNow() - before) / queries.length,
    rss: own,
  };
};

process.stdout.write(JSON.stringify(await (step === 'sync' ? sync() : search())));

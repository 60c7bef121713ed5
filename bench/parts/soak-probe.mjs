// Loaded into the gateway with --import: collects garbage and reports memory and handles each time it is asked (SIGUSR2),
// as one line on stderr. Nothing of it ships.
const LINE = 'soak-probe ';
const DESCRIBED = 1_000;

process.on('SIGUSR2', () => {
  for (let at = 0; at < 3; at++) globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  const kinds = {};
  for (const kind of process.getActiveResourcesInfo()) kinds[kind] = (kinds[kind] ?? 0) + 1;
  process.stderr.write(`${LINE}${JSON.stringify({ heap: heapUsed + external, rss, kinds })}\n`);
});
process.on('warning', ({ name, message }) => {
  process.stderr.write(`${LINE}${JSON.stringify({ warning: `${name}: ${message}`.slice(0, DESCRIBED) })}\n`);
});

// Loaded into the gateway with --import: collects garbage and reports memory and handles each time it is asked (SIGUSR2),
// as one line on stderr. Writes a heap snapshot where SOAK_SNAPSHOT names a file that does not exist. Nothing of it ships.
import { existsSync, readFileSync } from 'node:fs';
import { getHeapCodeStatistics, writeHeapSnapshot } from 'node:v8';

const LINE = 'soak-probe ';
const DESCRIBED = 1_000;

process.on('SIGUSR2', () => {
  for (let at = 0; at < 3; at++) globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  const kinds = {};
  for (const kind of process.getActiveResourcesInfo()) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const { code_and_metadata_size: compiled, bytecode_and_metadata_size: bytecode } = getHeapCodeStatistics();
  const wanted = readFileSync(process.env.SOAK_SNAPSHOT, 'utf8');
  if (wanted !== '' && !existsSync(wanted)) writeHeapSnapshot(wanted);
  process.stderr.write(
    `${LINE}${JSON.stringify({ heap: heapUsed + external, code: compiled + bytecode, rss, kinds })}\n`,
  );
});
process.on('warning', ({ name, message }) => {
  process.stderr.write(`${LINE}${JSON.stringify({ warning: `${name}: ${message}`.slice(0, DESCRIBED) })}\n`);
});

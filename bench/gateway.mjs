// Measures the budgets of the gateway side by side in one run, against the built package.
//
//   npm run bench:gateway -- [--only SECTION]… [--json] [--strict] [--corpus PATH] [--queries PATH]
//
// PATH is a file of JSON lines (.gz too) or a folder of them: tools as {server, name, description, inputSchema},
// queries as {query}. Without, both are made up. The exit code is 0 unless --strict is given and a budget is missed.
import { existsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { toDocument, toTable, verdictOf } from './parts/report.mjs';

const SECTIONS = ['tokens', 'start', 'call', 'search'];

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    corpus: { type: 'string' },
    queries: { type: 'string' },
  },
});
const unknown = values.only?.find((name) => !SECTIONS.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`bench: --only takes one of ${SECTIONS.join(', ')}, not ${unknown}\n`);
  process.exit(1);
}

if (!existsSync(new URL('../dist/.built', import.meta.url))) {
  process.stderr.write('bench: there is no build to measure; run "npm run build" first\n');
  process.exit(1);
}

// Other work on the machine stretches everything here, and processes with helper threads more than `node -e 0`.
const load = () => Number(loadavg()[0].toFixed(1));
const loadBefore = load();
const sections = [];
for (const name of values.only ?? SECTIONS) {
  // Loaded one by one: each imports the build, and only what it needs of it.
  const { title, measure } = await import(`./sections/${name}.mjs`);
  const section = { name, title, lines: await measure(values) };
  sections.push(section);
  if (!values.json) process.stdout.write(`${toTable(section)}\n`);
}
const machine = { cores: availableParallelism(), loadBefore, loadAfter: load() };
const misses = sections.flatMap(({ lines }) => lines).filter((line) => verdictOf(line) === 'MISS');
process.stdout.write(
  values.json
    ? `${JSON.stringify(toDocument(sections, machine), null, 2)}\n`
    : `Missed budgets: ${misses.length}. Load ${loadBefore} before, ${machine.loadAfter} after, on ${machine.cores} cores.\n`,
);
process.exitCode = values.strict && misses.length > 0 ? 1 : 0;

// Measures the budgets of the gateway side by side in one run, against the built package.
//
//   npm run bench:gateway -- [--only SECTION]… [--json] [--strict] [--rounds N] [--corpus PATH] [--queries PATH]
//
// PATH is a file of JSON lines (.gz too) or a folder of them: tools as {server, name, description, inputSchema},
// queries as {query}. Without PATH, both are synthetic. N is how often the call sections start new processes; more
// rounds give steadier figures. The exit code is 0 unless --strict is given and a budget is missed.
import { parseArgs } from 'node:util';
import { requireBuild, runSections } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    bare: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    corpus: { type: 'string' },
    queries: { type: 'string' },
  },
});

requireBuild();
await runSections({
  ...values,
  names: ['tokens', 'start', 'first-calls', 'call', 'search'],
  load: (name) => import(`./sections/${name}.mjs`),
  input: values,
});

// Measures a registry of many entries against the built package: sync, search and an incremental sync, each in a process
// of its own, from a registry on loopback HTTP that speaks the real API.
//
//   npm run bench:registry-sync -- [--entries N] [--json] [--strict]
//
// N is 50000. Budgets: search p99 below 10 ms, an incremental sync of 100 changes below 1 s, a full sync with its index
// below 60 s, and each of them below 250 MB resident. The exit code is 0 unless --strict is given and a budget is
// missed.
import { parseArgs } from 'node:util';
import { requireBuild, runSections } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '50000' },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});

requireBuild();
await runSections({
  ...values,
  names: ['sync'],
  load: (name) => import(`./sections/registry-${name}.mjs`),
  input: { entries: Number(values.entries) },
});

// Measures replicas on one Redis: throughput of 1, 2 and 4 against a bare proxy, what Redis costs per call, and the start
// of further replicas.
//
//   npm run bench:cluster -- [--only cluster|cluster-start]… [--seconds N] [--json] [--strict]
//
// Needs redis-server. All programs share the cores of this machine, so the processor time of a call says more than
// calls per second: it is what scales.
import { parseArgs } from 'node:util';
import { requireBuild, runSections } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seconds: { type: 'string' },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});

requireBuild();
await runSections({
  ...values,
  names: ['cluster', 'cluster-start'],
  load: (name) => import(`./sections/${name}.mjs`),
  input: { ...(values.seconds && { seconds: Number(values.seconds) }) },
});

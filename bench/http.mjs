// Measures the gateway over HTTP beside a bare reverse proxy, and the memory of idle clients, against the built package.
//
//   npm run bench:http -- [--only http|http-memory]… [--seconds N] [--rounds N] [--json] [--strict]
//
// Load generator, proxy, gateway and server share the machine, so ratios within one run say more than calls per second.
import { parseArgs } from 'node:util';
import { requireBuild, runSections } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});

requireBuild();
await runSections({
  ...values,
  names: ['http', 'http-memory'],
  load: (name) => import(`./sections/${name}.mjs`),
  input: {
    ...(values.seconds && { seconds: Number(values.seconds) }),
    ...(values.rounds && { rounds: Number(values.rounds) }),
  },
});

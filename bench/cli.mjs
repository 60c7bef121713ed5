// Measures how long the real command line takes, as multiples of `node -e 0` in the same run, against the built package.
//
//   npm run bench:cli -- [--json] [--strict] [--repeats N]
//
// The exit code is 0 unless --strict is given and a budget is missed.
import { parseArgs } from 'node:util';
import { requireBuild, runSections } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    bare: { type: 'boolean', default: false },
    repeats: { type: 'string', default: '21' },
  },
});

const repeats = Number(values.repeats);
if (!Number.isInteger(repeats) || repeats < 1) {
  process.stderr.write('bench: --repeats takes a number from 1\n');
  process.exit(1);
}

requireBuild();
await runSections({
  json: values.json,
  strict: values.strict,
  names: ['cli'],
  load: (name) => import(`./sections/${name}.mjs`),
  input: { repeats },
});

// Measures what a hostile server or client costs everybody else, in one run, against the built package.
//
//   npm run bench:hostile -- [--only SECTION]… [--scenario TEXT]… [--json] [--strict]
//
// `--scenario` runs only the attacks whose name holds TEXT. Everything stays on this machine and takes under four minutes.
// Another section is a file in bench/sections with `title` and `measure`, and its name in `names` below.
import { parseArgs } from 'node:util';
import { requireBuild, runSections } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    scenario: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});

requireBuild();
await runSections({
  ...values,
  names: ['floods'],
  load: (name) => import(`./sections/${name}.mjs`),
  input: values,
});

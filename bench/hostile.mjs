// Measures what a hostile server or client costs the others, in one run, against the built package.
//
//   npm run bench:hostile -- [--only floods|takeover]… [--scenario TEXT]… [--data DIR] [--kind KIND]… [--size COUNT]…
//                            [--json] [--strict]
//
// Floods: a neighbour's calls with and without the attacker; `--scenario` runs only the attacks whose name contains
// TEXT. Takeover: how far one hostile server gets in search; KIND is a key of parts/attackers.mjs, DIR has real tools
// and requests. Everything stays on this machine. To add a section, add a file with `title` and `measure` to
// bench/sections, and its name to `names` below.
import { parseArgs } from 'node:util';
import { requireBuild, runSections } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    scenario: { type: 'string', multiple: true },
    data: { type: 'string' },
    kind: { type: 'string', multiple: true },
    size: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});

requireBuild();
await runSections({
  ...values,
  names: ['floods', 'takeover'],
  load: (name) => import(`./sections/${name}.mjs`),
  input: {
    ...values,
    ...(values.kind && { kinds: values.kind }),
    ...(values.size && { sizes: values.size.map(Number) }),
  },
});

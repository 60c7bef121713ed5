// Measures how far one hostile server gets in search, against the built package.
//
//   node bench/takeover.mjs [--data DIR] [--kind KIND]… [--size COUNT]… [--json] [--strict]
//
// KIND is a key of parts/attackers.mjs. The exit code is 0 unless --strict is given and a request loses its tool.
import { parseArgs } from 'node:util';
import { requireBuild, runSections } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
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
  names: ['takeover'],
  load: (name) => import(`./sections/${name}.mjs`),
  input: {
    data: values.data,
    ...(values.kind && { kinds: values.kind }),
    ...(values.size && { sizes: values.size.map(Number) }),
  },
});

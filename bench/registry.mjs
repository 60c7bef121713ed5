// Measures ToolRegistry against the built package: its cost per call, search over many tools, and how registering
// scales.
//
//   npm run bench:registry -- [--corpus PATH] [--tools N] [--only SECTION]… [--json] [--strict]
//
// PATH is a file of JSON lines (.gz too), or a folder of such files, with tools {server, name, description,
// inputSchema} or lists {server, tools}. Tools are copied under other names if there are too few. Without PATH, tools
// are synthetic. N is 10000. SECTION is calls, search or growth. The exit code is 0 unless --strict is given and a
// budget is missed.
import { parseArgs } from 'node:util';
import { requireBuild, runSections } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    tools: { type: 'string', default: '10000' },
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});

requireBuild();
await runSections({
  ...values,
  names: ['calls', 'search', 'growth'],
  load: (name) => import(`./sections/registry-${name}.mjs`),
  input: { corpus: values.corpus, tools: Number(values.tools) },
});

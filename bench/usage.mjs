// Measures what learning from use is worth: replays requests of simulated users against the built package and measures
// search with and without what was learnt.
//
//   npm run bench:usage -- --corpus PATH… [--requests FILE] [--users N] [--json] [--strict]
//
// PATH is a file of JSON lines (.gz too) with tools {server, name, description, inputSchema, serverDescription?} or lists
// {server, tools}. FILE has lines {server, tool, requests: [text]} or {query, relevant: [{server, name, group?}]};
// default training/requests.jsonl. Every user has some servers and uses half of their tools: the first half of a tool's
// requests is searched for and, where the tool is in the answer, used; then everything else is measured.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { requireBuild, runSections } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
    corpus: { type: 'string', multiple: true, default: [] },
    requests: { type: 'string', default: fileURLToPath(new URL('../training/requests.jsonl', import.meta.url)) },
    users: { type: 'string', default: '40' },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});

requireBuild();
if (values.corpus.length === 0) {
  process.stderr.write('bench: --corpus PATH is needed: the tools to search\n');
  process.exitCode = 1;
} else {
  await runSections({
    ...values,
    names: ['usage'],
    load: () => import('./sections/usage.mjs'),
    input: { corpora: values.corpus, requests: values.requests, users: Number(values.users) },
  });
}

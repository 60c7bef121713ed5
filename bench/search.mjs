// Measures search side by side in one run, against the built package: our ranker, minisearch with its defaults, a plain
// BM25, and ours in parts.
//
//   npm run bench:search -- [--data DIR] [--tools FILE --queries FILE]… [--corpus PATH] [--only SECTION]… [--json] [--strict]
//
// Files are JSON lines (.gz too): tools {server, name, description, inputSchema, serverDescription?}, queries
// {query, relevant: [{server, name, grade?, group?}], source?}. DIR holds NAME.tools.jsonl and NAME.queries.jsonl, or has
// a folder `dev` that does, and a folder `corpus` that stands for --corpus unless that is given. A set called `scale` is
// averaged over its sources and stays out of the macro average. Without any of them tools and queries are made up: good
// to compare with, not to quote. `ablation` also makes queries of its own, of the sets and of the corpus. SECTION is quality, ablation, reliability, speed, tokens or, if asked for, misses. The exit code is 0 unless --strict is given and a budget is missed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requireBuild, runSections } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    tools: { type: 'string', multiple: true },
    queries: { type: 'string', multiple: true },
    corpus: { type: 'string' },
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});

requireBuild();
const { createEvaluations, readSets, UsageError } = await import('./search/sets.mjs');
try {
  const beside = values.data === undefined ? undefined : join(values.data, 'corpus');
  const corpus = values.corpus ?? (beside !== undefined && existsSync(beside) ? beside : undefined);
  await runSections({
    ...values,
    names: ['quality', 'ablation', 'reliability', 'speed', 'tokens', 'misses'],
    // A long list, for those who want to read it.
    apart: ['misses'],
    load: (name) => import(`./search/${name}.mjs`),
    input: { sets: readSets(values), evaluations: createEvaluations(), corpus },
  });
} catch (error) {
  // A path that was mistyped is no fault of ours.
  if (!(error instanceof UsageError) && error.code !== 'ENOENT') throw error;
  process.stderr.write(`bench: ${error.message}\n`);
  process.exitCode = 1;
}

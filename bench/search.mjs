// Measures search side by side in one run, against the built package: our ranker, minisearch with its defaults, a plain
// BM25, and ours in parts.
//
//   npm run bench:search -- [--data DIR] [--tools FILE --queries FILE]… [--corpus PATH] [--translations FILE] [--only SECTION]… [--json] [--strict]
//
// Files are JSON lines (.gz too): tools {server, name, description, inputSchema, serverDescription?}, queries {query,
// relevant: [{server, name, grade?, group?}], source?}. DIR holds NAME.tools.jsonl and NAME.queries.jsonl, or has a
// folder `dev` that does, and a folder `corpus` that is used unless --corpus is given. A set named `scale` is averaged
// over its sources and excluded from the macro average. Without any of them, tools and queries are synthetic: good for
// comparison, not for quoting. `ablation` also makes its own queries from the sets and the corpus. SECTION is quality,
// ablation, languages, stories, agents, reliability, speed, tokens or, only if asked for, misses. The exit code is 0 unless --strict is given and a
// budget is missed.
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
    translations: { type: 'string' },
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
    names: ['quality', 'ablation', 'languages', 'stories', 'agents', 'reliability', 'speed', 'tokens', 'misses'],
    // A long list, shown only on request.
    apart: ['misses'],
    load: (name) => import(`./search/${name}.mjs`),
    input: { sets: readSets(values), evaluations: createEvaluations(), corpus, translations: values.translations },
  });
} catch (error) {
  // A mistyped path is the user's mistake, not a bug.
  if (!(error instanceof UsageError) && error.code !== 'ENOENT') throw error;
  process.stderr.write(`bench: ${error.message}\n`);
  process.exitCode = 1;
}

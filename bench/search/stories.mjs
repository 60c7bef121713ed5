// Measures long requests with circumstances, written for the sixty tools of test/fixtures/search, with and without the part
// `stories`. What tells was weighed on the first, third, fifth … of them; the others only check it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createJiti } from 'jiti';
import { difference, evaluate, summarize } from '../../dist/search/evaluate.js';
import { points } from './quality.mjs';
import { openEngine } from './rankers.mjs';

export const title = 'Stories with circumstances (nDCG@10 in points)';

const FIXTURES = join(import.meta.dirname, '../../test/fixtures/search');

export const measure = async () => {
  const { CATALOGUE } = await createJiti(import.meta.url).import(join(FIXTURES, 'catalogue.ts'));
  const servers = [...new Set(CATALOGUE.map(({ server }) => server))];
  const lists = servers.map((server) => ({ server, metadata: CATALOGUE.filter((tool) => tool.server === server) }));
  const queries = readFileSync(join(FIXTURES, 'stories.tsv'), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [tool, query] = line.split('\t');
      const [server, name] = tool.split(':');
      return { query, relevant: [{ server, name }] };
    });
  const [own, without] = await Promise.all(
    [{}, { without: ['stories'] }].map((options) => {
      const engine = openEngine(lists, options);
      const rank = (query, limit) =>
        engine.search(query, { limit }).map(({ server, tool }) => ({ server, name: tool }));
      return evaluate({ rank }, queries);
    }),
  );
  const groups = { all: () => true, 'to choose on': (_, at) => at % 2 === 0, 'to check on': (_, at) => at % 2 === 1 };
  const rows = Object.entries(groups).map(([name, belongs]) => {
    const [ours, others] = [own.filter(belongs), without.filter(belongs)];
    const { figures } = summarize([ours]);
    const before = summarize([others]).figures;
    return { name, queries: ours.length, figures, before, worth: difference([ours], [others]) };
  });
  const shown = ({ ndcg10, hit1 }) => `${points(ndcg10.value)} (${points(hit1.value)})`;
  return {
    data: { rows },
    lines: [],
    tables: [
      {
        title: 'nDCG@10 (hit@1)',
        head: ['', 'queries', 'without the part', 'with it', 'worth of the part'],
        rows: rows.map(({ name, queries: count, figures, before, worth }) => [
          name,
          String(count),
          shown(before),
          shown(figures),
          `${points(worth.value)} (${points(worth.low)} to ${points(worth.high)})`,
        ]),
      },
    ],
  };
};

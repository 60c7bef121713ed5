// Measures long requests with circumstances: those written for the sixty tools of test/fixtures/search, and, with a corpus,
// the stories of training/stories.jsonl whose servers the model of asking was not trained on, among all tools of the corpus.
// What tells was weighed on the first, third, fifth … of the former; the others only check it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createJiti } from 'jiti';
import { difference, evaluate, summarize } from '../../dist/search/evaluate.js';
import { corpusOf, jsonLines, toLists } from '../parts/tool-corpus.mjs';
import { points } from './quality.mjs';
import { openEngine } from './rankers.mjs';
import { corpusFiles, toolsOf } from './sets.mjs';

export const title = 'Stories with circumstances (nDCG@10 in points)';

const ROOT = join(import.meta.dirname, '../..');
const FIXTURES = join(ROOT, 'test/fixtures/search');

const written = async () => {
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
  const among = `the ${CATALOGUE.length} tools they were written for`;
  return [
    { name: 'all', among, lists, queries },
    { name: 'to choose on', among, lists, queries: queries.filter((_, at) => at % 2 === 0) },
    { name: 'to check on', among, lists, queries: queries.filter((_, at) => at % 2 === 1) },
  ];
};

/** The stories of held-out servers whose tools are in the corpus. */
const heldOut = (corpus) => {
  if (corpus === undefined) return [];
  const lists = toLists(corpusOf(corpusFiles(corpus).flatMap(jsonLines)));
  const known = new Set(lists.flatMap(({ server, metadata }) => metadata.map(({ name }) => `${server}\n${name}`)));
  const queries = jsonLines(join(ROOT, 'training/stories.jsonl'))
    .filter(({ server, tool, heldOut: isHeldOut }) => isHeldOut && known.has(`${server}\n${tool}`))
    .map(({ server, tool: name, story }) => ({ query: story, relevant: [{ server, name }] }));
  return queries.length === 0
    ? []
    : [{ name: 'of held-out servers', among: `${toolsOf({ lists })} real tools`, lists, queries }];
};

const WITHOUT = [['stories', 'asking'], ['asking'], []];

export const measure = async ({ corpus }) => {
  const rows = [];
  for (const { name, among, lists, queries } of [...(await written()), ...heldOut(corpus)]) {
    const outcomes = [];
    for (const without of WITHOUT) {
      const engine = openEngine(lists, { without });
      const rank = (query, limit) =>
        engine.search(query, { limit }).map(({ server, tool }) => ({ server, name: tool }));
      outcomes.push(await evaluate({ rank }, queries));
    }
    const [none, rule, both] = outcomes;
    rows.push({
      name,
      among,
      queries: queries.length,
      figures: outcomes.map((each) => summarize([each]).figures),
      worth: { rule: difference([rule], [none]), asking: difference([both], [rule]) },
    });
  }
  const shown = ({ ndcg10, hit1 }) => `${points(ndcg10.value)} (${points(hit1.value)})`;
  const range = ({ value, low, high }) => `${points(value)} (${points(low)} to ${points(high)})`;
  return {
    data: { rows },
    lines: [],
    tables: [
      {
        title: 'nDCG@10 (hit@1)',
        head: [
          '',
          'among',
          'queries',
          'without',
          'with the rule',
          'with weights, too',
          'worth of the rule',
          'of weights',
        ],
        rows: rows.map(({ name, among, queries, figures, worth }) => [
          name,
          among,
          String(queries),
          ...figures.map(shown),
          range(worth.rule),
          range(worth.asking),
        ]),
      },
    ],
  };
};

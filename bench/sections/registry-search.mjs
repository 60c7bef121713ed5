// Measures how fast a registry with many tools answers a search, and what registering and changing them costs.
import { ToolRegistry, withRequestProviders } from '../../dist/registry.js';
import { median, percentile, timed } from '../parts/statistics.mjs';
import { readCorpus, resized, syntheticCorpus, syntheticQueries } from '../parts/tool-corpus.mjs';

export const title = 'Search of registered tools';

const QUERIES = 400;
const ROUNDS = 5;
const COMMON = 8;
const COMMON_ROUNDS = 20;

/** The words in the most descriptions, most frequent first, and how many tools have the last of them. */
const commonWords = (tools, count) => {
  const held = new Map();
  for (const { tool } of tools) {
    const words = new Set((tool.description ?? '').toLowerCase().match(/[a-z]{4,}/g));
    for (const word of words) held.set(word, (held.get(word) ?? 0) + 1);
  }
  const most = [...held].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, count);
  return { words: most.map(([word]) => word), share: (most.at(-1)?.[1] ?? 0) / tools.length };
};

/** All times of all queries, and the best of each, which excludes other work on the machine. */
const measureQueries = async (registry, queries, rounds) => {
  const times = queries.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, query] of queries.entries()) times[at].push(await timed(() => registry.search(query)));
  }
  return { all: times.flat(), best: times.map((own) => Math.min(...own)) };
};

const bestOf = (best, rounds) => `of the best of ${rounds} for each query ${percentile(best, 0.99).toFixed(2)} ms`;

export const measure = async ({ corpus: path, tools: wanted }) => {
  const corpus =
    path === undefined ? syntheticCorpus(Math.ceil(wanted / 10), wanted) : resized(readCorpus(path), wanted);
  const tools = [...corpus]
    .flatMap(([server, { tools: own }]) => own.map((tool) => ({ server, tool })))
    .slice(0, wanted);
  const registry = new ToolRegistry();
  const register = await timed(() => {
    for (const [at, { server, tool }] of tools.entries()) {
      const name = `${server}__${tool.name}`.replace(/[^A-Za-z0-9_./-]/g, '_').slice(0, 118);
      const { description = '', inputSchema } = tool;
      registry.registerTool({ name: `${name}_${at}`, description, inputSchema }, () => '', server);
    }
  });
  const first = await timed(() => registry.search('anything'));
  const spoken = syntheticQueries(QUERIES);
  // Single words and pieces of names take the literal path as well.
  const queries = spoken.flatMap((query) => [query, query.split(' ')[0], `${query.split(' ')[0]}_`]);
  for (const query of queries.slice(0, 200)) await registry.search(query);
  const { all, best } = await measureQueries(registry, queries, ROUNDS);
  const { words, share } = commonWords(tools, COMMON);
  const common = await measureQueries(registry, words, COMMON_ROUNDS);
  const pairs = words.slice(1).map((word, at) => `${words[at]} ${word}`);
  const commonPairs = await measureQueries(registry, pairs, COMMON_ROUNDS);
  const ofRequest = new ToolRegistry();
  for (let at = 0; at < 20; at++) ofRequest.registerTool({ name: `mine_${at}`, description: 'My own notes' }, () => '');
  const scoped = [];
  for (const query of spoken) {
    scoped.push(await timed(() => withRequestProviders(ofRequest, () => registry.search(query))));
  }
  const changes = [];
  for (let at = 0; at < 100; at++) {
    registry.registerTool({ name: `late_${at}`, description: 'Registered late' }, () => '');
    changes.push(await timed(() => registry.search('late')));
  }
  await registry.close();
  return [
    {
      what: `search of ${tools.length} tools, 99th percentile`,
      value: percentile(all, 0.99),
      unit: 'ms',
      budget: 5,
      note: bestOf(best, ROUNDS),
    },
    { what: 'median', value: median(all), unit: 'ms', note: `${all.length} searches, input schemas in the answers` },
    {
      what: 'one word that most descriptions have, 99th percentile',
      value: percentile(common.all, 0.99),
      unit: 'ms',
      budget: 5,
      note: `${bestOf(common.best, COMMON_ROUNDS)}; ${words.join(', ')}: at least ${Math.round(share * 100)} % of the tools each`,
    },
    {
      what: 'two such words, 99th percentile',
      value: percentile(commonPairs.all, 0.99),
      unit: 'ms',
      budget: 5,
      note: bestOf(commonPairs.best, COMMON_ROUNDS),
    },
    { what: '20 tools of the request beside them, 99th percentile', value: percentile(scoped, 0.99), unit: 'ms' },
    { what: 'search right after a tool was registered, median', value: median(changes), unit: 'ms' },
    { what: 'register all', value: register, unit: 'ms' },
    { what: 'first search, which indexes all', value: first, unit: 'ms', note: 'in steps, other work goes on' },
  ];
};

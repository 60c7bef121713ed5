// Child of search.mjs: `index TOOLS`, `index CORPUS QUERIES` or `engine`; prints one JSON document.

import { SearchEngine } from '../../dist/index.js';
import { createCachedWorld, openEngine } from '../parts/gateway-world.mjs';
import { median, percentile, timed } from '../parts/statistics.mjs';
import { readCorpus, readQueries, syntheticCorpus, syntheticQueries } from '../parts/tool-corpus.mjs';

/** A listed tool as the index takes it. */
const toMetadata = (server, { name, description, inputSchema }) => ({
  server,
  name,
  summary: (description ?? '').split('. ', 1)[0],
  signature: Object.keys(inputSchema.properties ?? {}).join(', '),
  description,
  inputSchema,
  enabled: true,
  tags: [],
});

/** Heap and buffers that are still in use, in MB. */
const used = () => {
  for (let at = 0; at < 4; at++) globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
};

const measureIndex = async (corpus, queries) => {
  const lists = [...corpus].map(([server, { tools, description }]) => ({
    server,
    description,
    metadata: tools.map((tool) => toMetadata(server, tool)),
  }));
  const before = used();
  const start = performance.now();
  const engine = new SearchEngine();
  for (const { server, metadata, description } of lists) engine.setServer(server, metadata, description);
  engine.search(queries[0]);
  const indexed = performance.now() - start;
  const megabytes = used() - before;
  for (const query of queries.slice(0, 200)) engine.search(query);
  const times = [];
  for (const query of queries) times.push(await timed(() => engine.search(query)));
  // Read after measuring, so that the collector could not take the input away and hide what the index holds.
  const tools = lists.reduce((sum, { metadata }) => sum + metadata.length, 0);
  return { p50: median(times), p99: percentile(times, 0.99), megabytes, indexed, tools, servers: corpus.size };
};

const measureEngine = async () => {
  const corpus = syntheticCorpus(1000, 10_000);
  const names = [...corpus.keys()];
  const [firstTool] = corpus.get(names[0]).tools;
  const world = await createCachedWorld(corpus);
  const before = used();
  const engine = openEngine(world);
  await engine.find('create an issue');
  const ready = used() - before;
  const firstList = await timed(() => engine.toolsOf(names[1]));
  const firstDetails = await timed(() => engine.describe(names[0], firstTool.name));
  for (const name of names) await engine.toolsOf(name);
  const loaded = used() - before;
  const [list, details] = [[], []];
  for (const name of names) {
    list.push(await timed(() => engine.toolsOf(name)));
    details.push(await timed(() => engine.describe(name, corpus.get(name).tools[0].name)));
  }
  await engine.close();
  return {
    ready,
    loaded,
    firstList,
    firstDetails,
    list: percentile(list, 0.99),
    details: percentile(details, 0.99),
    reload: await measureReload(),
  };
};

const measureReload = async () => {
  const engine = openEngine(await createCachedWorld(syntheticCorpus(100, 1000)));
  await engine.find('create an issue');
  const times = [];
  for (let at = 0; at < 9; at++) times.push(await timed(() => engine.reload()));
  await engine.close();
  return median(times);
};

const [task, source, queries] = process.argv.slice(2);
const result =
  task === 'engine'
    ? await measureEngine()
    : queries === undefined
      ? await measureIndex(syntheticCorpus(Number(source) / 10, Number(source)), syntheticQueries(2000))
      : await measureIndex(readCorpus(source), readQueries(queries));
process.stdout.write(JSON.stringify(result));

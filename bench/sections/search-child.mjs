// Measures search in a child of search.mjs: `index TOOLS`, `index CORPUS QUERIES` or `engine`; prints one JSON document.

import { SearchEngine } from '../../dist/index.js';
import { createCachedWorld, openEngine } from '../parts/gateway-world.mjs';
import { usedMegabytes } from '../parts/in-child.mjs';
import { measureIndex } from '../parts/index-speed.mjs';
import { median, percentile, timed } from '../parts/statistics.mjs';
import { readCorpus, readQueries, syntheticCorpus, syntheticQueries, toLists } from '../parts/tool-corpus.mjs';

const measureSearch = (corpus, queries) =>
  measureIndex(toLists(corpus), queries, (lists) => {
    const engine = new SearchEngine();
    for (const { server, metadata, about } of lists) engine.setServer(server, metadata, about);
    return (query) => engine.search(query);
  });

const measureEngine = async () => {
  const corpus = syntheticCorpus(1000, 10_000);
  const names = [...corpus.keys()];
  const [firstTool] = corpus.get(names[0]).tools;
  const world = await createCachedWorld(corpus);
  const before = usedMegabytes();
  const engine = openEngine(world);
  await engine.find('create an issue');
  const ready = usedMegabytes() - before;
  const firstList = await timed(() => engine.toolsOf(names[1]));
  const firstDetails = await timed(() => engine.describe(names[0], firstTool.name));
  for (const name of names) await engine.toolsOf(name);
  const loaded = usedMegabytes() - before;
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
      ? measureSearch(syntheticCorpus(Number(source) / 10, Number(source)), syntheticQueries(2000))
      : measureSearch(readCorpus(source), readQueries(queries));
process.stdout.write(JSON.stringify(result));

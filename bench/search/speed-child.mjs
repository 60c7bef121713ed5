// Measures speed in a child of speed.mjs: `index RANKER TOOLS QUERIES CORPUS`, `life TOOLS SNAPSHOT CORPUS` or
// `restore SNAPSHOT`; prints one JSON document.
import { readFileSync, writeFileSync } from 'node:fs';
import { SearchEngine } from '../../dist/index.js';
import { shippedModel } from '../../dist/search/shipped.js';
import { measureIndex } from '../parts/index-speed.mjs';
import { median } from '../parts/statistics.mjs';
import { readCorpus, resized, syntheticCorpus, toLists } from '../parts/tool-corpus.mjs';
import { openEngine, RANKERS } from './rankers.mjs';

const QUERY = 'create an issue in a repository';
const TURNS = 15;
const PASSES = 3;

const listsOf = (tools, path) =>
  toLists(path ? resized(readCorpus(path), Number(tools)) : syntheticCorpus(Number(tools) / 10, Number(tools)));

const timed = (act) => {
  const start = performance.now();
  act();
  return performance.now() - start;
};

const TASKS = {
  index: (ranker, tools, queries, path) => {
    const open = (lists) => {
      const { rank } = RANKERS[ranker].open(lists);
      return (query) => rank(query, 10);
    };
    const passes = ranker === 'ours' ? PASSES : 1;
    return measureIndex(listsOf(tools, path), JSON.parse(readFileSync(queries, 'utf8')), open, passes);
  },

  life: (tools, snapshot, path) => {
    const lists = listsOf(tools, path);
    shippedModel();
    let engine;
    const built = timed(() => {
      engine = openEngine(lists);
    });
    writeFileSync(snapshot, engine.toSnapshot());
    // A server of usual size.
    const sorted = [...lists].sort((a, b) => a.metadata.length - b.metadata.length);
    const { metadata, about } = sorted[Math.floor(sorted.length / 2)];
    const [added, removed] = [[], []];
    for (let turn = 0; turn < TURNS; turn++) {
      added.push(
        timed(() => {
          engine.setServer('a-new-one', metadata, about);
          engine.search(QUERY);
        }),
      );
      removed.push(
        timed(() => {
          engine.removeServer('a-new-one');
          engine.search(QUERY);
        }),
      );
    }
    return {
      built,
      servers: lists.length,
      add: median(added),
      remove: median(removed),
      own: metadata.length,
      turns: TURNS,
    };
  },

  restore: (snapshot) => {
    const model = timed(shippedModel);
    let bytes;
    const restore = timed(() => {
      bytes = readFileSync(snapshot);
      SearchEngine.fromSnapshot(bytes).search(QUERY);
    });
    return { restore, model, bytes: bytes.length };
  },
};

const [task, ...args] = process.argv.slice(2);
process.stdout.write(JSON.stringify(TASKS[task](...args)));

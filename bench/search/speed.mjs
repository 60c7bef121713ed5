// Measures latency, memory and the life of the index at 1k, 10k and 50k tools. Every measurement has its own process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inChild } from '../parts/in-child.mjs';
import { syntheticQueries } from '../parts/tool-corpus.mjs';
import { RANKERS } from './rankers.mjs';

export const title = 'Speed and memory (one core)';

const CHILD = new URL('./speed-child.mjs', import.meta.url);
const SIZES = [1000, 10_000, 50_000];
/** The others are slow, and have no budget for the 99th percentile. */
const QUERIES = { ours: 2000, others: 150 };
/** Budgets for our p99 by tools, in ms; and for memory, in MB. */
const P99 = { 10000: 5, 50000: 10 };
const MEGABYTES = 100;

export const measure = async ({ sets, corpus = '' }) => {
  const folder = mkdtempSync(join(tmpdir(), 'anygpt-bench-'));
  try {
    const given = sets.filter((set) => set.given).flatMap(({ queries }) => queries.map(({ query }) => query));
    const queries = spread(given.length > 0 ? given : syntheticQueries(QUERIES.ours), QUERIES.ours);
    const files = {};
    for (const [name, count] of Object.entries(QUERIES)) {
      files[name] = join(folder, `${name}.json`);
      writeFileSync(files[name], JSON.stringify(spread(queries, count)));
    }
    const sizes = [];
    for (const tools of SIZES) {
      for (const ranker of Object.keys(RANKERS)) {
        const file = ranker === 'ours' ? files.ours : files.others;
        sizes.push({ ranker, ...inChild(CHILD, 'index', ranker, tools, file, corpus) });
      }
    }
    const snapshot = join(folder, 'snapshot.bin');
    const life = inChild(CHILD, 'life', 10_000, snapshot, corpus);
    const restored = [0, 1, 2].map(() => inChild(CHILD, 'restore', snapshot)).sort((a, b) => a.restore - b.restore)[1];
    const what = corpus === '' ? 'made-up tools' : 'real tools, copied under other server names beyond their number';
    return {
      data: { sizes, life: { ...life, ...restored } },
      tables: [tableOf(sizes, what)],
      lines: linesOf(sizes, life, restored),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** At most `count`, from all over the list. */
const spread = (list, count) => {
  const step = Math.max(1, list.length / count);
  return Array.from({ length: Math.min(count, list.length) }, (_, at) => list[Math.floor(at * step)]);
};

const tableOf = (sizes, what) => ({
  title: `Side by side, ${what}`,
  head: ['', 'tools', 'p50 ms', 'p99 ms', 'heap MB', 'index built ms'],
  rows: sizes.map(({ ranker, tools, p50, p99, megabytes, indexed }) => [
    RANKERS[ranker].title,
    String(tools),
    p50.toFixed(2),
    p99.toFixed(2),
    megabytes.toFixed(1),
    indexed.toFixed(0),
  ]),
});

const linesOf = (sizes, life, restored) => [
  ...sizes
    .filter(({ ranker }) => ranker === 'ours')
    .flatMap(({ tools, p50, p99, p99Best, megabytes }) => [
      {
        what: `${tools / 1000}k tools: search, p99`,
        value: p99,
        unit: 'ms',
        ...(P99[tools] && { budget: P99[tools] }),
        note: `p50 ${p50.toFixed(2)} ms; p99 of the best of three ${p99Best.toFixed(2)} ms`,
      },
      { what: `${tools / 1000}k tools: heap after GC`, value: megabytes, unit: 'MB', budget: MEGABYTES },
    ]),
  {
    what: '10k tools: index built',
    value: life.built,
    unit: 'ms',
    budget: 1000,
    note: `${life.servers} servers, model loaded before`,
  },
  {
    what: '10k tools: restored from disk',
    value: restored.restore,
    unit: 'ms',
    budget: 150,
    note: `fresh process, first search included; ${(restored.bytes / 1024 / 1024).toFixed(1)} MB`,
  },
  { what: 'model loaded', value: restored.model, unit: 'ms', budget: 60, note: 'fresh process' },
  {
    what: '10k tools: one server added',
    value: life.add,
    unit: 'ms',
    budget: 20,
    note: `${life.own} tools, next search included; median of ${life.turns}`,
  },
  { what: '10k tools: one server removed', value: life.remove, unit: 'ms', budget: 20, note: 'next search included' },
];

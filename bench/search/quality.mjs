// Compares every ranker on every set, with 95 % intervals.
import { difference, summarize } from '../../dist/search/evaluate.js';
import { ARMS, RANKERS } from './rankers.mjs';
import { bySource, strataOf, toolsOf } from './sets.mjs';

export const title = 'Quality (nDCG@10 in points, 95 % interval)';

/** For the dev data: macro over its small sets, and `scale` over its sources. */
const BUDGETS = { macro: 84, scale: 60 };

/** Never -0.0. */
export const points = (share) => (share * 100).toFixed(1).replace(/^-(0\.0)$/, '$1');
const shown = ({ value, low, high }) => `${points(value)} (${points(low)}-${points(high)})`;

export const measure = async ({ sets, evaluations }) => {
  const rankers = { ...RANKERS, ...ARMS };
  const small = sets.filter(({ isScale }) => !isScale);
  const results = [];
  for (const [key, ranker] of Object.entries(rankers)) {
    const outcomes = new Map();
    for (const set of sets) outcomes.set(set, await evaluations.of(set, key, ranker));
    const summaries = sets.map((set) => ({
      set: set.name,
      ...summarize(strataOf(set, outcomes.get(set))),
      sources: [...bySource(outcomes.get(set))].map(([source, part]) => ({ source, ...summarize([part]) })),
    }));
    const macro = summarize(small.map((set) => outcomes.get(set)));
    results.push({ key, title: ranker.title, outcomes, sets: summaries, macro });
  }
  const [ours] = results;
  const minisearch = results.find(({ key }) => key === 'minisearch');
  const ahead = sets.map((set) => ({
    set: set.name,
    ...difference(strataOf(set, ours.outcomes.get(set)), strataOf(set, minisearch.outcomes.get(set))),
  }));
  return {
    data: {
      rankers: results.map(({ key, title: of, sets: summaries, macro }) => ({
        ranker: key,
        title: of,
        macro,
        sets: summaries,
      })),
      aheadOfMinisearch: ahead,
    },
    tables: [tableOf(results, sets), figuresOf(results, small.length), ...sourcesOf(results, sets)],
    lines: linesOf(ours, ahead, sets),
  };
};

const tableOf = (results, sets) => ({
  title: 'nDCG@10',
  head: ['', 'macro', ...sets.map(({ name }) => name)],
  rows: [
    ...sizesOf(sets),
    ...results.map(({ title: of, macro, sets: summaries }) => [
      of,
      shown(macro.figures.ndcg10),
      ...summaries.map(({ figures }) => shown(figures.ndcg10)),
    ]),
  ],
});

const sizesOf = (sets) => [
  ['tools', '', ...sets.map((set) => String(toolsOf(set)))],
  ['queries', '', ...sets.map(({ queries }) => String(queries.length))],
];

const figuresOf = (results, count) => ({
  title: `All figures, macro over ${count} set${count === 1 ? '' : 's'} (scale is apart)`,
  head: [
    '',
    'nDCG@10',
    'MRR@10',
    'hit@1',
    'hit@5',
    'recall@1',
    'recall@5',
    'recall@10',
    'in the answer',
    'p50 ms',
    'p99 ms',
  ],
  rows: results.map(({ title: of, macro: { figures, shown: inAnswer, latency } }) => [
    of,
    ...['ndcg10', 'mrr10', 'hit1', 'hit5', 'recall1', 'recall5', 'recall10'].map((name) => points(figures[name].value)),
    inAnswer ? points(inAnswer.value) : '',
    latency.medianMs.toFixed(2),
    latency.p99Ms.toFixed(2),
  ]),
});

const sourcesOf = (results, sets) =>
  sets.flatMap((set, at) => {
    const names = results[0].sets[at].sources.map(({ source }) => source);
    if (names.length < 2) return [];
    return [
      {
        title: `${set.name} by source, nDCG@10`,
        head: ['', ...names],
        rows: results.map(({ title: of, sets: summaries }) => [
          of,
          ...summaries[at].sources.map(({ figures }) => shown(figures.ndcg10)),
        ]),
      },
    ];
  });

const linesOf = (ours, ahead, sets) => {
  // The budgets are for the dev data; other collections have other figures.
  const isDev = sets.length === 5 && sets.some(({ isScale }) => isScale);
  const scale = ours.sets.find((_, at) => sets[at].isScale);
  const line = (what, value, budget) => ({ what, value, unit: 'points', ...(isDev && { budget, atLeast: true }) });
  return [
    line('ours, macro nDCG@10', ours.macro.figures.ndcg10.value * 100, BUDGETS.macro),
    ...(scale ? [line('ours, scale nDCG@10', scale.figures.ndcg10.value * 100, BUDGETS.scale)] : []),
    ...ahead.map(({ set, value, low, high }) => ({
      what: `ahead of minisearch on ${set}`,
      value: value * 100,
      unit: 'points',
      ...(isDev && { budget: 0.1, atLeast: true }),
      note: `${points(low)} to ${points(high)}`,
    })),
  ];
};

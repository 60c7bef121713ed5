// Measures what each part of search is worth: the full ranker minus the ranker without the part, query by query, with
// 95 % intervals; on the original queries, and on queries made for that part.
import { difference, summarize } from '../../dist/search/evaluate.js';
import { points } from './quality.mjs';
import { RANKERS, WITHOUT } from './rankers.mjs';
import { strataOf } from './sets.mjs';
import { createVariations, VARIATIONS } from './varied-sets.mjs';

export const title = 'Ablation (nDCG@10 in points, paired 95 % interval)';

export const measure = async ({ sets, evaluations, corpus }) => {
  const variationsOf = createVariations({ sets, corpus });
  const parts = [];
  for (const [key, ranker] of Object.entries(WITHOUT)) {
    const { part, asks, than = 'ours' } = ranker;
    const rankers = [
      [than, WITHOUT[than] ?? RANKERS.ours],
      [key, ranker],
    ];
    const variations = asks.map((name) => ({ name, sets: variationsOf(name) }));
    const all = [...sets, ...variations.flatMap((variation) => variation.sets)];
    // Sets with the same tools in a row, because they share an index.
    const inARow = [...new Set(all.map(({ lists }) => lists))].flatMap((lists) =>
      all.filter((set) => set.lists === lists),
    );
    const outcomes = new Map();
    for (const [name, one] of rankers)
      for (const set of inARow)
        outcomes.set(set, [...(outcomes.get(set) ?? []), strataOf(set, await evaluations.of(set, name, one))]);
    parts.push({
      part,
      worth: worthOn(sets, outcomes),
      asked: variations.map((variation) => ({
        asks: VARIATIONS[variation.name].says,
        worth: worthOn(variation.sets, outcomes),
      })),
    });
  }
  const names = ['macro', ...sets.filter(({ isScale }) => isScale).map(({ name }) => name)];
  return {
    data: { parts },
    lines: [],
    tables: [
      {
        title: 'What a part is worth, on the queries as they are and on those that ask for it',
        head: ['', ...names, 'asked for by', 'queries', ...names],
        left: [0, names.length + 1],
        rows: parts.flatMap(({ part, worth, asked }) =>
          (asked.length > 0 ? asked : [undefined]).map((variation, at) => [
            at === 0 ? part : '',
            ...(at === 0 ? shown(worth, names) : names.map(() => '')),
            variation?.asks ?? '',
            String(variation?.worth.find(({ set }) => set === 'macro')?.queries ?? ''),
            ...shown(variation?.worth ?? [], names),
          ]),
        ),
      },
    ],
  };
};

/** How far the full ranker is ahead, on average over the small sets and on each set. */
const worthOn = (sets, outcomes) => {
  const small = sets.filter(({ isScale }) => !isScale);
  const groups = [{ name: 'macro', sets: small }, ...sets.map((set) => ({ name: set.name, sets: [set] }))];
  return groups
    .filter((group) => group.sets.length > 0)
    .map((group) => {
      const [whole, without] = [0, 1].map((at) => group.sets.flatMap((set) => outcomes.get(set)[at]));
      const { queries, figures } = summarize(whole, { resamples: 1 });
      return { set: group.name, queries, ours: figures.ndcg10.value, ...difference(whole, without) };
    });
};

const signed = (share) => (Number(points(share)) > 0 ? '+' : '') + points(share);

const shown = (worth, names) =>
  names.map((name) => {
    const found = worth.find(({ set }) => set === name);
    return found === undefined ? '' : `${signed(found.value)} (${signed(found.low)} to ${signed(found.high)})`;
  });

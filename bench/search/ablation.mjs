// What each part is worth: ours minus ours without it, query by query, with 95 % intervals.
import { difference } from '../../dist/search/evaluate.js';
import { points } from './quality.mjs';
import { RANKERS, WITHOUT } from './rankers.mjs';
import { strataOf } from './sets.mjs';

export const title = 'Ablation (nDCG@10 in points, paired 95 % interval)';

export const measure = async ({ sets, evaluations }) => {
  const small = sets.filter(({ isScale }) => !isScale);
  const groups = [{ name: 'macro', sets: small }, ...sets.map((set) => ({ name: set.name, sets: [set] }))];
  const parts = [];
  for (const [key, ranker] of Object.entries(WITHOUT)) {
    const worth = [];
    for (const group of groups) {
      const [whole, without] = [[], []];
      for (const set of group.sets) {
        whole.push(...strataOf(set, await evaluations.of(set, 'ours', RANKERS.ours)));
        without.push(...strataOf(set, await evaluations.of(set, key, ranker)));
      }
      worth.push({ set: group.name, ...difference(whole, without) });
    }
    parts.push({ part: ranker.part, worth });
  }
  const signed = (share) => (Number(points(share)) > 0 ? '+' : '') + points(share);
  return {
    data: { parts },
    lines: [],
    tables: [
      {
        title: 'What a part is worth',
        head: ['', ...groups.map(({ name }) => name)],
        rows: parts.map(({ part, worth }) => [
          part,
          ...worth.map(({ value, low, high }) => `${signed(value)} (${signed(low)} to ${signed(high)})`),
        ]),
      },
    ],
  };
};

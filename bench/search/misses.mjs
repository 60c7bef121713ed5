// Lists what our ranker missed on each set, and why.
import { keyOf } from '../../dist/search/metrics.js';
import { MISS_REASONS, missesOf } from '../../dist/search/misses.js';
import { RANKERS } from './rankers.mjs';

export const title = 'Misses of ours';

const LISTED = 40;
const WIDEST = 90;
const nameOf = ({ server, name }) => `${server}:${name}`;
const cut = (text) => (text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text);

export const measure = async ({ sets, evaluations }) => {
  const all = [];
  for (const set of sets) {
    const outcomes = await evaluations.of(set, 'ours', RANKERS.ours);
    const known = new Set(
      set.lists.flatMap(({ server, metadata }) => metadata.map(({ name }) => keyOf({ server, name }))),
    );
    all.push({ set: set.name, misses: missesOf(outcomes, (tool) => (known.has(keyOf(tool)) ? 'enabled' : undefined)) });
  }
  return {
    lines: [],
    data: { misses: all },
    tables: all.map(({ set, misses }) => ({
      title: `${set}: ${MISS_REASONS.map((reason) => `${misses.filter((miss) => miss.reason === reason).length} ${reason}`).join(', ')}`,
      head: ['query', 'needed', 'came', 'instead'],
      left: [0, 1, 3],
      rows: misses
        .slice(0, LISTED)
        .map(({ query, wanted, rank, instead }) => [
          cut(query.query.replace(/\s+/g, ' ')),
          cut(nameOf(wanted[0])),
          String(rank ?? '-'),
          cut(instead.map(nameOf).join(', ')),
        ]),
    })),
  };
};

// What relevance means: how often a first hit of a given relevance is the one that was needed.
import { reliabilityOf } from '../../dist/search/reliability.js';
import { points } from './quality.mjs';
import { RANKERS } from './rankers.mjs';

export const title = 'Relevance of the first hit against how often it is right';

export const measure = async ({ sets, evaluations }) => {
  const groups = [];
  for (const set of sets)
    groups.push({ name: set.name, isScale: set.isScale, outcomes: await evaluations.of(set, 'ours', RANKERS.ours) });
  const small = groups.filter(({ isScale }) => !isScale);
  if (small.length > 1) groups.unshift({ name: 'all but scale', outcomes: small.flatMap(({ outcomes }) => outcomes) });
  const tables = groups.map(({ name, outcomes }) => ({ name, ...reliabilityOf(outcomes) }));
  const sure = tables[0].bins.filter(({ from }) => from >= 0.85);
  return {
    data: { reliability: tables },
    tables: tables.map(({ name, bins, error, without }) => ({
      title: `${name}: calibration error ${points(error)} points${without > 0 ? `, ${without} queries without a hit` : ''}`,
      head: ['relevance', 'queries', 'average', 'right'],
      rows: bins.map(({ from, to, queries, relevance, right }) => [
        `${from.toFixed(1)}-${to.toFixed(1)}`,
        String(queries),
        relevance.toFixed(2),
        `${points(right)} %`,
      ]),
    })),
    lines: sure.map(({ from, queries, relevance, right }) => ({
      what: `${tables[0].name}: right at ${from.toFixed(1)} and above`,
      value: right * 100,
      unit: '%',
      note: `says ${points(relevance)} %, ${queries} queries`,
    })),
  };
};

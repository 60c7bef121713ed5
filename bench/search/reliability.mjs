// Measures what relevance means: how often a first hit of a given relevance is the right one, and how often a first hit
// is as confident although no tool answers, because the right tools and their namesakes, or their servers, were
// removed.
import { createHash } from 'node:crypto';
import { nameKey } from '../../dist/search/tokenizer.js';
import { points } from './quality.mjs';
import { openEngine, RANKERS } from './rankers.mjs';

export const title = 'Relevance of the first hit against how often it is right';

const SURE = [0.9, 0.7, 0.5];

export const measure = async ({ sets, evaluations }) => {
  const groups = [];
  for (const set of sets)
    groups.push({ name: set.name, isScale: set.isScale, outcomes: await evaluations.of(set, 'ours', RANKERS.ours) });
  const small = groups.filter(({ isScale }) => !isScale);
  const tried = new Map();
  // Among very many tools another one answers nearly every query, and there is no judgement which.
  for (const set of sets.filter(({ isScale }) => !isScale))
    for (const [query, gone] of withoutAnswers(set)) tried.set(query, gone);
  if (small.length > 1) {
    const outcomes = small.flatMap((group) => group.outcomes);
    groups.unshift(
      { name: 'all but scale', outcomes },
      { name: 'all but scale, the half that relevance was not fitted on', outcomes: outcomes.filter(isHeldOut) },
    );
  }
  const tables = groups.map(({ name, outcomes }) => ({ name, ...reliabilityOf(outcomes) }));
  const confidences = groups
    .filter(({ isScale }) => !isScale)
    .map(({ name, outcomes }) => ({ name, ...confidenceOf(outcomes, tried) }));
  const [{ name, rows }] = confidences;
  const sure = tables[0].bins.filter(({ from }) => from >= 0.85);
  return {
    data: { reliability: tables, withoutAnswer: confidences },
    tables: [...tables.map(reliabilityTable), ...confidences.map(confidenceTable)],
    lines: [
      ...sure.map(({ from, queries, relevance, right }) => ({
        what: `${name}: right at ${from.toFixed(1)} and above`,
        value: right * 100,
        unit: '%',
        note: `says ${points(relevance)} %, ${queries} queries`,
      })),
      ...rows.map(({ from, toolGone, serverGone }) => ({
        what: `${name}: no tool answers, yet ${from.toFixed(1)} and above`,
        value: toolGone * 100,
        unit: '%',
        note: `${points(serverGone)} % where the servers are gone, too`,
      })),
    ],
  };
};

/**
 * The numbers of relevance.ts were fitted on the other half; queries for one tool are all on the same side. Its shape,
 * and the weight of queries without an answer, were chosen with both halves in view.
 */
const isHeldOut = ({ query: { relevant } }) =>
  createHash('sha256').update(String(relevant[0]?.name)).digest()[0] % 2 === 1;

/**
 * For every query of a set, the relevance of the first hit when the right tools are removed, and when their servers
 * are.
 */
function* withoutAnswers({ lists, queries }) {
  const engine = openEngine(lists);
  const listOf = new Map(lists.map((list) => [list.server, list]));
  const serversOf = new Map();
  for (const { server, metadata } of lists)
    for (const tool of metadata)
      serversOf.set(nameKey(tool.name), [...(serversOf.get(nameKey(tool.name)) ?? []), server]);
  for (const query of queries) {
    const needed = new Set(query.relevant.map((tool) => nameKey(tool.name)));
    const touched = new Set([...needed].flatMap((key) => serversOf.get(key) ?? []));
    const firstWith = (change) => {
      for (const server of touched) change(listOf.get(server));
      return engine.search(query.query)[0]?.relevance ?? 0;
    };
    const toolGone = firstWith(({ server, metadata, about }) =>
      engine.setServer(
        server,
        metadata.filter((tool) => !needed.has(nameKey(tool.name))),
        about,
      ),
    );
    const serverGone = firstWith(({ server }) => engine.removeServer(server));
    for (const server of touched) engine.setServer(server, listOf.get(server).metadata, listOf.get(server).about);
    yield [query, { toolGone, serverGone }];
  }
}

/** How many right first hits each threshold keeps, and how many wrong ones it lets through. */
const confidenceOf = (outcomes, tried) => {
  const right = outcomes.filter(({ figures }) => figures.hit1 === 1);
  const share = (list, passes) => (list.length === 0 ? 0 : list.filter(passes).length / list.length);
  return {
    queries: outcomes.length,
    rows: SURE.map((from) => {
      const isSure = ({ ranking }) => (ranking[0]?.relevance ?? 0) >= from;
      const isFalse =
        (gone) =>
        ({ query }) =>
          tried.get(query)[gone] >= from;
      return {
        from,
        right: share(outcomes.filter(isSure), ({ figures }) => figures.hit1 === 1),
        lost: right.length === 0 ? 0 : 1 - share(right, isSure),
        toolGone: share(outcomes, isFalse('toolGone')),
        serverGone: share(outcomes, isFalse('serverGone')),
      };
    }),
  };
};

const reliabilityTable = ({ name, bins, error, without }) => ({
  title: `${name}: calibration error ${points(error)} points${without > 0 ? `, ${without} queries without a hit` : ''}`,
  head: ['relevance', 'queries', 'average', 'right'],
  rows: bins.map(({ from, to, queries, relevance, right }) => [
    `${from.toFixed(1)}-${to.toFixed(1)}`,
    String(queries),
    relevance.toFixed(2),
    `${points(right)} %`,
  ]),
});

const confidenceTable = ({ name, queries, rows }) => ({
  title: `${name}: first hits that sure, of ${queries} queries`,
  head: ['at least', 'right', 'right ones below it', 'sure, though the tool is gone', 'though its server is gone'],
  rows: rows.map(({ from, ...shares }) => [
    from.toFixed(1),
    ...['right', 'lost', 'toolGone', 'serverGone'].map((share) => `${points(shares[share])} %`),
  ]),
});

/**
 * Sorts first hits by relevance into bins of equal width; 1 falls into the last. Empty bins are left out. `relevance` is
 * the average of a bin and `right` the share of its hits that was needed. `error` is the expected calibration error, and
 * `without` counts queries without a hit, or whose hits say no relevance.
 */
export function reliabilityOf(outcomes, count = 10) {
  const sums = Array.from({ length: count }, () => ({ queries: 0, relevance: 0, right: 0 }));
  let without = 0;
  for (const { ranking, figures } of outcomes) {
    const relevance = ranking[0]?.relevance;
    const bin = relevance === undefined ? undefined : sums[Math.min(count - 1, Math.floor(relevance * count + 1e-9))];
    if (relevance === undefined || bin === undefined) {
      without++;
      continue;
    }
    bin.queries++;
    bin.relevance += relevance;
    bin.right += figures.hit1;
  }
  const bins = sums.flatMap(({ queries, relevance, right }, at) =>
    queries === 0
      ? []
      : [
          {
            from: at / count,
            to: (at + 1) / count,
            queries,
            relevance: relevance / queries,
            right: right / queries,
          },
        ],
  );
  const total = bins.reduce((sum, { queries }) => sum + queries, 0);
  const apart = bins.reduce((sum, bin) => sum + bin.queries * Math.abs(bin.right - bin.relevance), 0);
  return { bins, error: total === 0 ? 0 : apart / total, without };
}

// Measures what learning from use is worth: replays users' requests and compares nDCG@10 with and without what was
// learnt.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../dist/core/log.js';
import { estimate } from '../../dist/search/bootstrap.js';
import { judge } from '../../dist/search/metrics.js';
import { SearchEngine } from '../../dist/search/search-engine.js';
import { UsageLearning } from '../../dist/usage/usage-learning.js';
import { UsageStore } from '../../dist/usage/usage-store.js';
import { median, percentile } from '../parts/statistics.mjs';
import { corpusOf, jsonLines, randomOf, toLists } from '../parts/tool-corpus.mjs';

export const title = 'Learning from use (nDCG@10 in points; difference with a 95 % interval over users)';

/** Servers of one user; of a server's tools every other one is used. */
const SERVERS = 8;
/** Requests for tools of servers that the user does not have. */
const OTHERS = 60;
const NOW = Date.UTC(2026, 0, 1);

export const measure = async ({ corpora, requests, users }) => {
  const lists = toLists(corpusOf(corpora.flatMap(jsonLines)));
  const engine = new SearchEngine();
  for (const { server, metadata, about } of lists) engine.setServer(server, metadata, about);
  const known = new Set(lists.flatMap(({ server, metadata }) => metadata.map(({ name }) => keyOf(server, name))));
  const needs = readNeeds(requests).filter(({ server, tool }) => known.has(keyOf(server, tool)));
  if (needs.length === 0) throw new Error(`${requests} asks for no tool of the corpus`);

  // Never written: the clock is fixed, and uses are gathered for longer than the run takes.
  const now = () => NOW;
  const folder = join(tmpdir(), 'bench-usage-none');
  const store = new UsageStore({ folder, keepQueries: false, logger: silentLogger, now, writeAfterMs: 3_600_000 });
  const learning = new UsageLearning(store, now);

  const figures = new Map(KINDS.map(({ kind }) => [kind, []]));
  const times = [];
  let [replayed, used] = [0, 0];
  for (let user = 0; user < users; user++) {
    const caller = { principal: `user ${user}` };
    const { again, ...parts } = shareOut(needs, randomOf(user + 1));
    for (const { query, need } of again) {
      const learnt = await learning.learntFor(query, caller);
      const shown = engine.search(query, { learnt });
      learning.shown(query, caller, shown);
      const hit = shown.find((result) => need.relevant.some((one) => isSame(one, result)));
      if (hit) learning.settled(hit, caller, { success: true, data: { content: [] } });
      replayed++;
      used += hit ? 1 : 0;
    }
    for (const [kind, asked] of Object.entries({ again, ...parts })) {
      const judged = [];
      for (const { query, need } of asked) {
        const began = performance.now();
        const learnt = await learning.learntFor(query, caller);
        times.push(performance.now() - began);
        const [without, withUse] = [[], learnt].map((raised) =>
          judge(engine.search(query, { limit: 10, learnt: raised }).map(toRanked), { query, relevant: need.relevant }),
        );
        judged.push({ without, withUse });
      }
      if (judged.length > 0) figures.get(kind).push(judged);
    }
  }

  const rows = KINDS.map(({ kind, what, atLeast }) => summary(figures.get(kind), what, atLeast));
  return {
    data: { tools: engine.size, users, replayed, used, kinds: rows.map(({ data }) => data) },
    tables: [
      {
        title: `${engine.size} tools, ${users} users, ${replayed} requests replayed, ${used} of them with the tool in the answer`,
        head: ['', 'requests', 'nDCG without', 'with', 'difference', 'hit@1 without', 'with'],
        rows: rows.map(({ row }) => row),
      },
    ],
    lines: [
      ...rows.map(({ line }) => line),
      { what: 'what was learnt for a query, p50', value: median(times), unit: 'ms' },
      { what: 'what was learnt for a query, p99', value: percentile(times, 0.99), unit: 'ms' },
    ],
  };
};

const KINDS = [
  { kind: 'again', what: 'the same requests again', atLeast: 1 },
  { kind: 'like', what: 'other requests for the same tools', atLeast: 0 },
  { kind: 'neighbours', what: 'unused tools of the same servers', atLeast: -1 },
  { kind: 'others', what: 'tools of other servers', atLeast: -0.1 },
];

const summary = (perUser, what, atLeast) => {
  const average = (pick) => {
    const all = perUser.flat();
    return (100 * all.reduce((sum, one) => sum + pick(one), 0)) / Math.max(1, all.length);
  };
  const differences = perUser.map(
    (judged) =>
      (100 * judged.reduce((sum, { without, withUse }) => sum + withUse.ndcg10 - without.ndcg10, 0)) / judged.length,
  );
  const worth = estimate([differences]);
  const ndcg = [average(({ without }) => without.ndcg10), average(({ withUse }) => withUse.ndcg10)];
  const hit1 = [average(({ without }) => without.hit1), average(({ withUse }) => withUse.hit1)];
  const signed = (value) => (value > 0 ? '+' : '') + value.toFixed(2);
  const requests = perUser.flat().length;
  return {
    data: { what, requests, ndcg, hit1, worth },
    row: [
      what,
      String(requests),
      ndcg[0].toFixed(1),
      ndcg[1].toFixed(1),
      `${signed(worth.value)} (${signed(worth.low)} to ${signed(worth.high)})`,
      hit1[0].toFixed(1),
      hit1[1].toFixed(1),
    ],
    line: { what, value: worth.value, unit: 'points', budget: atLeast, atLeast: true },
  };
};

/** One user: of some servers every other tool is used, with the first half of its requests; the rest is to measure. */
const shareOut = (needs, random) => {
  const servers = new Map();
  for (const need of needs) servers.set(need.server, [...(servers.get(need.server) ?? []), need]);
  const own = new Set(
    draw(
      [...servers.keys()].filter((name) => servers.get(name).length > 1),
      SERVERS,
      random,
    ),
  );
  const parts = { again: [], like: [], neighbours: [], others: [] };
  for (const server of own) {
    for (const [at, need] of draw(servers.get(server), Number.POSITIVE_INFINITY, random).entries()) {
      const half = Math.ceil(need.requests.length / 2);
      for (const [place, query] of need.requests.entries()) {
        const part = at % 2 === 1 ? 'neighbours' : place < half ? 'again' : 'like';
        parts[part].push({ query, need });
      }
    }
  }
  const foreign = needs.filter(({ server }) => !own.has(server));
  parts.others = draw(foreign, OTHERS, random).map((need) => ({ query: need.requests.at(-1), need }));
  return parts;
};

/** Tools with the requests for them; a judged query counts for its first tool if one tool is all it needs. */
const readNeeds = (file) => {
  const needs = new Map();
  for (const line of jsonLines(file)) {
    const relevant = line.relevant ?? [{ server: line.server, name: line.tool }];
    const [first] = relevant;
    if (relevant.length > 1 && !relevant.every(({ group }) => group !== undefined && group === first.group)) continue;
    const key = keyOf(first.server, first.name);
    const need = needs.get(key) ?? { server: first.server, tool: first.name, relevant, requests: [] };
    need.requests.push(...(line.requests ?? [line.query]));
    needs.set(key, need);
  }
  return [...needs.values()];
};

/** Some of the items, none twice. */
const draw = (items, count, random) => {
  const left = [...items];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random(left.length), 1)[0]);
};

const keyOf = (server, tool) => JSON.stringify([server, tool]);
const isSame = ({ server, name }, result) => result.server === server && result.tool === name;
const toRanked = ({ server, tool }) => ({ server, name: tool });

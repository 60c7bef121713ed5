// Measures one hostile server against all others in search: for how many requests the right tool is among the first
// three, without and with the attacker. Goal: no difference, for every kind and size of attacker.
//
// With `data` (a folder as for bench/search.mjs), tools and requests come from its small sets, joined. Without it, from
// the sixty tools of test/fixtures/search, their own descriptions, and the paraphrases written for them.
import { createJiti } from 'jiti';
import { SearchEngine } from '../../dist/index.js';
import { ATTACKERS } from '../parts/attackers.mjs';
import { corpusOf, toLists } from '../parts/tool-corpus.mjs';

export const title = 'One server takes over search: requests whose right tool is among the first three';

const SIZES = [1, 100, 1000, 10_000];
const FIRST = 3;
/** Requests of one set at most: an attacker is measured with all of them. */
const MOST_REQUESTS = 150;
const ATTACKER = 'helper';

export const measure = async ({ data, sizes = SIZES, kinds = Object.keys(ATTACKERS) }) => {
  const { lists, requests } = data === undefined ? await builtIn() : await given(data);
  const engine = new SearchEngine();
  for (const { server, metadata, about } of lists) engine.setServer(server, metadata, about);
  const world = worldOf(lists, requests);
  const before = new Map(requests.map((request) => [request, placesOf(engine, request)]));
  const rows = [];
  const losses = [];
  for (const kind of kinds) {
    for (const size of sizes) {
      const lost = attack(engine, world, { kind, size }, before);
      losses.push(...lost);
      rows.push({ kind, size, lost });
    }
  }
  const kindsOf = [...new Set(requests.map(({ kind }) => kind))];
  const there = (kind) =>
    requests.filter((request) => request.kind === kind && before.get(request).limited < FIRST).length;
  const table = {
    title: `right tool among the first three (${lists.length} servers, ${lists.flatMap(({ metadata }) => metadata).length} tools)`,
    head: ['attacker', 'tools', ...kindsOf.flatMap((kind) => [`${kind}: without`, 'with'])],
    rows: rows.map(({ kind, size, lost }) => [
      ATTACKERS[kind].title,
      size === 1 ? '1 a request' : String(size),
      ...kindsOf.flatMap((of) => [
        `${there(of)} of ${requests.filter((request) => request.kind === of).length}`,
        String(there(of) - lost.filter(({ request }) => request.kind === of).length),
      ]),
    ]),
  };
  return {
    data: { losses: losses.map(({ request, ...rest }) => ({ query: request.query, ...rest })) },
    tables: [table, lossTable(losses)],
    lines: rows.map(({ kind, size, lost }) => ({
      what: `${ATTACKERS[kind].title}, ${size}: lost`,
      value: lost.length,
      unit: 'requests',
      budget: 0,
    })),
  };
};

const lossTable = (losses) => ({
  title: 'every loss: place without and with the attacker',
  head: ['attacker', 'tools', 'request', 'without', 'with', "attacker's of three"],
  rows: losses.map(({ kind, size, request, place, now, how, held }) => [
    ATTACKERS[kind].title,
    String(size),
    request.query.slice(0, 60),
    String(place + 1),
    `${now === Number.POSITIVE_INFINITY ? 'not there' : now + 1}${how}`,
    String(held),
  ]),
  left: [0, 2],
});

/** Where the right tool stands in a default answer and in one of ten hits. */
const placesOf = (engine, { query, right }) => {
  const place = (hits) => {
    const at = hits.findIndex(({ server, tool }) => right.has(`${server}:${tool}`));
    return at < 0 ? Number.POSITIVE_INFINITY : at;
  };
  return { limited: place(engine.search(query, { limit: 10 })), shown: place(engine.search(query)) };
};

/** The requests that lose their tool. An attacker with one tool uses the one that fits each request best. */
const attack = (engine, world, { kind, size }, before) => {
  const lost = [];
  const set = (tools) =>
    engine.setServer(ATTACKER, toLists(corpusOf([{ server: ATTACKER, tools }]))[0].metadata, 'Helper');
  if (size > 1) set(ATTACKERS[kind].make(world, size));
  for (const request of world.requests) {
    const { limited, shown } = before.get(request);
    if (limited >= FIRST) continue;
    if (size === 1) set(ATTACKERS[kind].make(worldOfOne(world, request), 1));
    const now = placesOf(engine, request);
    const held = engine.search(request.query, { limit: FIRST }).filter(({ server }) => server === ATTACKER).length;
    if (now.limited >= FIRST) lost.push({ kind, size, request, place: limited, now: now.limited, how: '', held });
    else if (shown < FIRST && now.shown >= FIRST)
      lost.push({ kind, size, request, place: shown, now: now.shown, how: ' by default', held });
  }
  engine.removeServer(ATTACKER);
  return lost;
};

const worldOf = (lists, requests) => {
  const tools = lists.flatMap(({ metadata }) => metadata);
  const texts = [
    ...requests.map(({ query }) => query),
    ...tools.map(({ name, description }) => `${name} ${description ?? ''}`),
  ];
  const words = [...new Set(texts.flatMap((text) => text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []))];
  return { tools, requests, words };
};

/** What an attacker knows that targets a single request. */
const worldOfOne = ({ tools }, request) => {
  const wanted = tools.filter(({ server, name }) => request.right.has(`${server}:${name}`));
  const words = [...new Set(request.query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? ['tool'])];
  return { tools: wanted, requests: [request], words: words.sort((a, b) => b.length - a.length) };
};

const builtIn = async () => {
  const jiti = createJiti(import.meta.url);
  const { CATALOGUE } = await jiti.import('../../test/fixtures/search/catalogue.ts');
  const { PARAPHRASES } = await jiti.import('../../test/fixtures/search/paraphrases.ts');
  const lists = [...new Set(CATALOGUE.map(({ server }) => server))].map((server) => ({
    server,
    about: '',
    metadata: CATALOGUE.filter((tool) => tool.server === server),
  }));
  const requests = [
    ...CATALOGUE.flatMap(({ server, name, description }) => {
      const right = new Set([`${server}:${name}`]);
      const said = description.replace(/\.$/, '').toLowerCase();
      return [
        { kind: 'plain', query: said, right },
        { kind: 'with names of files', query: `${said}, see \`package.json\` and README.md (read-only)`, right },
      ];
    }),
    ...PARAPHRASES.map(([query, tool]) => ({ kind: 'paraphrase', query, right: new Set([tool]) })),
  ];
  return { lists, requests };
};

/** All small sets in one index. Requests in the tools' own words are plain, the others paraphrases. */
const given = async (data) => {
  const { readSets } = await import('../search/sets.mjs');
  const lists = new Map();
  const requests = [];
  for (const { name, isScale, queries, lists: own } of readSets({ data })) {
    if (isScale) continue;
    for (const list of own) lists.set(list.server, list);
    const step = Math.max(1, Math.floor(queries.length / MOST_REQUESTS));
    for (const { query, relevant } of queries.filter((_, at) => at % step === 0).slice(0, MOST_REQUESTS)) {
      const right = new Set(relevant.map((tool) => `${tool.server}:${tool.name}`));
      requests.push({ kind: /azure|mongodb/.test(name) ? 'plain' : 'paraphrase', query, right });
    }
  }
  return { lists: [...lists.values()], requests };
};

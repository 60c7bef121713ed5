// One call of an echo tool, direct and with something in between.
//
// Every route has a client process of its own, as agents have; one process for all would be warmed by the others' calls.
// The routes take turns of a few calls, so that a busy moment of the machine hits all of them; each then finds it as the
// others have left it. So there are also turns in which a route's calls all follow each other. The order is drawn anew each
// time, and all this is done several times over with new processes, because which code is compiled when, and where it
// lies, differs from one to the next.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHome } from '../parts/gateway-world.mjs';
import { median, percentile } from '../parts/statistics.mjs';

export const title = 'Call (echo tool, one at a time)';

const WARM_UP = 100;
const CALLS = 500;
const SMALL = 'hello';
const LARGE = 'x'.repeat(64 * 1024);
const WAYS = {
  small: { text: SMALL, rounds: 8, callsPerTurn: 25, hasBudgets: true },
  'small, in a row': { text: SMALL, rounds: 8, callsPerTurn: CALLS, hasBudgets: true },
  '64 KiB': { text: LARGE, rounds: 2, callsPerTurn: 25 },
};
const ERAS = ['legacy', 'modern'];

const path = (relative) => new URL(`../${relative}`, import.meta.url).pathname;
const ECHO = path('servers/echo-stdio.mjs');
const node = (...args) => ({ command: process.execPath, args });

const direct = (text) => ({ name: 'echo', arguments: { text } });
const through = (text) => ({ name: 'execute_tool', arguments: { server: 'echo', tool: 'echo', arguments: { text } } });

const gateway = (connection) => {
  const { env } = createHome([{ name: 'echo', connection }]);
  return { ...node(path('../dist/bin/discovery.js')), env, params: through };
};

const stdioRoutes = () => {
  const connection = { type: 'stdio', ...node(ECHO) };
  const between = (server) => node(path(`servers/${server}.mjs`), process.execPath, ECHO);
  return [
    { name: 'direct, legacy client', era: 'legacy', ...node(ECHO) },
    { name: 'direct, modern client', era: 'modern', ...node(ECHO) },
    { name: 'byte pipe', era: 'legacy', ...between('byte-pipe') },
    { name: 'line proxy', era: 'legacy', ...between('line-proxy') },
    { name: 'SDK proxy', era: 'legacy', ...between('sdk-proxy') },
    { name: 'gateway, legacy client', era: 'legacy', ...gateway(connection) },
    { name: 'gateway, modern client', era: 'modern', ...gateway(connection) },
  ];
};

const httpRoutes = (url) =>
  ERAS.flatMap((era) => [
    { name: `direct, ${era} client`, era, url },
    { name: `gateway, ${era} client`, era, ...gateway({ type: 'http', url }) },
  ]);

const openRoute = async ({ params = direct, ...route }, text) => {
  const client = fork(path('parts/route-client.mjs'), { env: { PATH: process.env.PATH } });
  const ended = once(client, 'exit').then(([code]) => Promise.reject(new Error(`${route.name} ended with ${code}`)));
  ended.catch(() => {});
  const heard = async () => (await Promise.race([once(client, 'message'), ended]))[0];
  client.send({ ...route, params: params(text), text });
  await heard();
  return {
    name: route.name,
    call: async (count) => {
      client.send(count);
      return await heard();
    },
    close: async () => {
      client.send(0);
      await ended.catch(() => {});
    },
  };
};

const shuffled = (items) =>
  items
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);

/** Milliseconds of every call, by route, of one set of processes. */
const race = async (definitions, { text, callsPerTurn }) => {
  const routes = [];
  for (const definition of shuffled(definitions)) routes.push(await openRoute(definition, text));
  const samples = new Map(definitions.map(({ name }) => [name, []]));
  for (const { call } of routes) await call(WARM_UP);
  for (let done = 0; done < CALLS; done += callsPerTurn) {
    for (const { name, call } of shuffled(routes)) samples.get(name).push(...(await call(callsPerTurn)));
  }
  for (const { close } of routes) await close();
  return samples;
};

const toLines = (where, rounds) => {
  const times = (name) => rounds.flatMap((samples) => samples.get(name));
  const middle = (name) => median(times(name));
  const lines = [...rounds[0].keys()].map((name) => ({
    what: `${where}: ${name}, median`,
    value: middle(name),
    unit: 'ms',
    note: `p95 ${percentile(times(name), 0.95).toFixed(3)} ms, ${times(name).length} calls`,
  }));
  const compare = (what, above, below, budget) => {
    const each = rounds.map((samples) => median(samples.get(above)) / median(samples.get(below))).sort((a, b) => a - b);
    const p95 = percentile(times(above), 0.95) / percentile(times(below), 0.95);
    return {
      what: `${where}: ${what}`,
      value: middle(above) / middle(below),
      unit: '×',
      budget,
      note: `p95 ${p95.toFixed(2)} ×; by round ${each[0].toFixed(2)}–${each.at(-1).toFixed(2)} ×`,
    };
  };
  for (const era of ERAS) {
    const [own, other] = [`gateway, ${era} client`, `direct, ${era} client`];
    lines.push(compare(`gateway / direct, ${era}`, own, other, 1.75));
    lines.push({
      what: `${where}: added by the gateway, ${era}`,
      value: middle(own) - middle(other),
      unit: 'ms',
      budget: 1,
    });
  }
  if (rounds[0].has('line proxy')) {
    for (const name of ['byte pipe', 'line proxy', 'SDK proxy'])
      lines.push(compare(`${name} / direct, legacy`, name, 'direct, legacy client'));
    lines.push(compare('gateway / line proxy, legacy', 'gateway, legacy client', 'line proxy', 1.25));
  }
  return lines;
};

/** The 64 KiB rows are there to compare: the budgets speak of a plain call. */
const withoutBudgets = (lines) => lines.map(({ budget, ...line }) => line);

export const measure = async () => {
  const lines = [];
  const http = spawn(process.execPath, [path('servers/echo-http.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [address] = await once(http.stdout, 'data');
  const url = String(address).trim();
  for (const [kind, routes] of Object.entries({ stdio: stdioRoutes, http: () => httpRoutes(url) })) {
    for (const [name, way] of Object.entries(WAYS)) {
      const rounds = [];
      for (let round = 0; round < way.rounds; round++) rounds.push(await race(routes(), way));
      const shown = toLines(`${kind}, ${name}`, rounds);
      lines.push(...(way.hasBudgets ? shown : withoutBudgets(shown)));
    }
  }
  http.stdin.end();
  return lines;
};

// One call of an echo tool, direct and with something in between. All routes take turns in one run, a few calls each,
// so that a busy moment of the machine hits all of them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createHome } from '../parts/gateway-world.mjs';
import { median, percentile, timed } from '../parts/statistics.mjs';

export const title = 'Call (echo tool, one at a time)';

const TURNS = 40;
const CALLS_PER_TURN = 25;
const WARM_UP = 200;
const PAYLOADS = { small: 'hello', '64 KiB': 'x'.repeat(64 * 1024) };
const ERAS = { legacy: 'legacy', modern: { pin: '2026-07-28' } };

const path = (relative) => new URL(`../${relative}`, import.meta.url).pathname;
const ECHO = path('servers/echo-stdio.mjs');
const node = (...args) => ({ command: process.execPath, args });

const connect = async (transport, era) => {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: ERAS[era] } });
  await client.connect(transport);
  return client;
};

const direct = (text) => ({ name: 'echo', arguments: { text } });
const through = (text) => ({ name: 'execute_tool', arguments: { server: 'echo', tool: 'echo', arguments: { text } } });

const openRoute = async (name, transport, era, params = direct) => {
  const client = await connect(transport, era);
  const call = async (text) => {
    const { content } = await client.callTool(params(text));
    if (content[0]?.text !== text) throw new Error(`${name} answered ${JSON.stringify(content).slice(0, 300)}`);
  };
  return { name, call, close: () => client.close() };
};

const stdio = (command, env = {}) =>
  new StdioClientTransport({ ...command, env: { PATH: process.env.PATH, ...env }, stderr: 'inherit' });

const gateway = (connection) => {
  const { env } = createHome([{ name: 'echo', connection }]);
  return stdio(node(path('../dist/bin/discovery.js')), env);
};

const stdioRoutes = () => {
  const connection = { type: 'stdio', ...node(ECHO) };
  return Promise.all([
    openRoute('direct, legacy client', stdio(node(ECHO)), 'legacy'),
    openRoute('direct, modern client', stdio(node(ECHO)), 'modern'),
    openRoute('byte pipe', stdio(node(path('servers/byte-pipe.mjs'), process.execPath, ECHO)), 'legacy'),
    openRoute('line proxy', stdio(node(path('servers/line-proxy.mjs'), process.execPath, ECHO)), 'legacy'),
    openRoute('SDK proxy', stdio(node(path('servers/sdk-proxy.mjs'), process.execPath, ECHO)), 'legacy'),
    openRoute('gateway, legacy client', gateway(connection), 'legacy', through),
    openRoute('gateway, modern client', gateway(connection), 'modern', through),
  ]);
};

const httpRoutes = (url) => {
  const connection = { type: 'http', url };
  return Promise.all([
    openRoute('direct, legacy client', new StreamableHTTPClientTransport(new URL(url)), 'legacy'),
    openRoute('direct, modern client', new StreamableHTTPClientTransport(new URL(url)), 'modern'),
    openRoute('gateway, legacy client', gateway(connection), 'legacy', through),
    openRoute('gateway, modern client', gateway(connection), 'modern', through),
  ]);
};

/** Milliseconds of every call, by route. */
const race = async (routes, text) => {
  const samples = new Map(routes.map(({ name }) => [name, []]));
  for (const { call } of routes) for (let at = 0; at < WARM_UP; at++) await call(text);
  for (let turn = 0; turn < TURNS; turn++) {
    for (const { name, call } of routes) {
      for (let at = 0; at < CALLS_PER_TURN; at++) samples.get(name).push(await timed(() => call(text)));
    }
  }
  return samples;
};

const toLines = (where, samples) => {
  const middle = (name) => median(samples.get(name));
  const lines = [...samples].map(([name, times]) => ({
    what: `${where}: ${name}, median`,
    value: median(times),
    unit: 'ms',
    note: `p95 ${percentile(times, 0.95).toFixed(3)} ms, ${times.length} calls`,
  }));
  const compare = (what, above, below, budget) => ({
    what: `${where}: ${what}`,
    value: middle(above) / middle(below),
    unit: '×',
    budget,
    note: `p95 ${(percentile(samples.get(above), 0.95) / percentile(samples.get(below), 0.95)).toFixed(2)} ×`,
  });
  for (const era of Object.keys(ERAS)) {
    const [own, other] = [`gateway, ${era} client`, `direct, ${era} client`];
    lines.push(compare(`gateway / direct, ${era}`, own, other, 1.5));
    lines.push({
      what: `${where}: added by the gateway, ${era}`,
      value: middle(own) - middle(other),
      unit: 'ms',
      budget: 1,
    });
  }
  if (samples.has('line proxy')) {
    for (const name of ['byte pipe', 'line proxy', 'SDK proxy'])
      lines.push(compare(`${name} / direct, legacy`, name, 'direct, legacy client'));
    lines.push(compare('gateway / line proxy, legacy', 'gateway, legacy client', 'line proxy', 2));
  }
  return lines;
};

/** The 64 KiB rows are there to compare: the budgets speak of a plain call. */
const withoutBudgets = (lines) => lines.map(({ budget, ...line }) => line);

export const measure = async () => {
  const lines = [];
  const http = spawn(process.execPath, [path('servers/echo-http.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [address] = await once(http.stdout, 'data');
  for (const [kind, open] of [
    ['stdio', stdioRoutes],
    ['http', () => httpRoutes(String(address).trim())],
  ]) {
    const routes = await open();
    for (const [size, text] of Object.entries(PAYLOADS)) {
      const measured = toLines(`${kind}, ${size}`, await race(routes, text));
      lines.push(...(size === 'small' ? measured : withoutBudgets(measured)));
    }
    await Promise.all(routes.map((route) => route.close()));
  }
  http.stdin.end();
  return lines;
};

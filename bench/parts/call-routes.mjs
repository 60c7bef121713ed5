// Opens the routes that the benchmarks of calls compare: an echo tool called directly, and with something in between.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHome } from './gateway-world.mjs';

export const ERAS = ['legacy', 'modern'];

const path = (relative) => new URL(`../${relative}`, import.meta.url).pathname;
const ECHO = path('servers/echo-stdio.mjs');
const node = (...args) => ({ command: process.execPath, args });

const direct = (text) => ({ name: 'echo', arguments: { text } });
const through = (text) => ({ name: 'execute_tool', arguments: { server: 'echo', tool: 'echo', arguments: { text } } });

const gateway = (connection) => {
  const { env } = createHome([{ name: 'echo', connection }]);
  return { ...node(path('../dist/bin/discovery.js')), env, params: through };
};

/** Routes to an echo server on stdio. Each call makes new home folders, so that no gateway finds another's cache. */
export const stdioRoutes = () => {
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

/** Routes to an echo server on HTTP. The gateway's own client is on stdio. */
export const httpRoutes = (url) =>
  ERAS.flatMap((era) => [
    { name: `direct, ${era} client`, era, url },
    { name: `gateway, ${era} client`, era, ...gateway({ type: 'http', url }) },
  ]);

/** Starts an echo server on HTTP. */
export const startHttp = async () => {
  const server = spawn(process.execPath, [path('servers/echo-http.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [address] = await once(server.stdout, 'data');
  return { url: String(address).trim(), close: () => server.stdin.end() };
};

/**
 * Starts a client process for a route, connects it and makes the first call. `connectMs` and `firstMs` say how long
 * that took; `call(count)` returns `{times, cpuMs}` (see `route-client.mjs`); `cpuMs` is NaN if it is not known.
 */
export const openRoute = async ({ params = direct, ...route }, text) => {
  const client = fork(path('parts/route-client.mjs'), { env: { PATH: process.env.PATH } });
  const ended = once(client, 'exit').then(([code]) => Promise.reject(new Error(`${route.name} ended with ${code}`)));
  ended.catch(() => {});
  const heard = async () => (await Promise.race([once(client, 'message'), ended]))[0];
  client.send({ ...route, params: params(text), text, lists: params !== direct });
  const { connectMs, firstMs } = await heard();
  return {
    name: route.name,
    connectMs,
    firstMs,
    call: async (count) => {
      client.send(count);
      const { times, cpuMs } = await heard();
      // JSON has no NaN.
      return { times, cpuMs: cpuMs ?? Number.NaN };
    },
    close: async () => {
      client.send(0);
      await ended.catch(() => {});
    },
  };
};

/** The same items in a random order. */
export const shuffled = (items) =>
  items
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);

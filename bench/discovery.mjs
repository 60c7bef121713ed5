// Measures how long the discovery service takes for several slow servers: 10 servers of 2 s each, one after the other
// and five at a time, and what one discovery costs beside its server.
//
//   node bench/discovery.mjs [--servers N] [--seconds S]
//
// The servers are one real server under several names; the network holds each list back for S seconds.
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { requireBuild } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: { servers: { type: 'string', default: '10' }, seconds: { type: 'string', default: '2' } },
});
requireBuild();
const { DiscoveryEngine } = await import('../dist/index.js');
const { startTestServer } = await import('../dist/testing/index.js');

const tools = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`list_things_${at}`, { call: () => 'done' }]));
const server = await startTestServer({ tools });
const servers = Array.from({ length: Number(values.servers) }, (_, at) => ({
  name: `server-${at}`,
  connection: server.connection,
}));

let delay = Number(values.seconds) * 1_000;
const slowFetch = async (input, init) => {
  if (String(init?.body).includes('"tools/list"')) await pause(delay);
  return fetch(input, init);
};

const measure = async (options) => {
  const engine = new DiscoveryEngine({ servers }, { fetch: slowFetch });
  const began = performance.now();
  const stats = await engine.service().warmCacheForAllConfiguredServers(options);
  const seconds = (performance.now() - began) / 1_000;
  await engine.close();
  if (stats.failed > 0) throw new Error(`${stats.failed} servers failed`);
  return seconds.toFixed(2);
};

const what = `${values.servers} servers × ${values.seconds} s`;
const slow = delay;
delay = 0;
// The first one loads the modules.
await measure({});
process.stdout.write(`${values.servers} servers that answer at once: ${await measure({})} s\n`);
delay = slow;
process.stdout.write(`${what}, five at a time (default): ${await measure({})} s\n`);
process.stdout.write(`${what}, one at a time: ${await measure({ maxParallelDiscoveries: 1 })} s\n`);
await server.close();

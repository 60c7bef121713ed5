// Compares 1, 2 and 4 replicas behind a round-robin proxy with one gateway without Redis, and with the proxy alone.
import { execFileSync } from 'node:child_process';
import { processorTimeOf, startServer } from '../parts/gateway-process.mjs';
import { MODERN, modernCall, openSession, sessionCall } from '../parts/http-clients.mjs';
import { putLoad } from '../parts/http-load.mjs';
import { startRedis, startReplicas } from '../parts/replica-set.mjs';
import { median } from '../parts/statistics.mjs';

export const title = 'Replicas on one Redis';

const CONNECTIONS = 50;
const COUNTS = [0, 1, 2, 4];

/** How many commands Redis has executed, and the processor time it took. */
const redisCost = ({ port, pid }) => {
  const info = execFileSync('redis-cli', ['-p', String(port), 'info', 'stats']).toString();
  return { commands: Number(/total_commands_processed:(\d+)/.exec(info)?.[1]), ms: processorTimeOf(pid) };
};

export const measure = async ({ seconds = 3 }) => {
  const server = await startServer('plain-echo-http');
  const redis = await startRedis();
  const config = {
    servers: [{ name: 'echo', connection: { type: 'http', url: server.address } }],
    limits: { inFlightPerClient: 512, concurrency: 256, queue: 512 },
    validation: { output: 'off' },
  };
  const rows = [];
  const lines = [];
  try {
    for (const count of COUNTS) {
      const all = await startReplicas({ count: Math.max(count, 1), config, redis: count > 0 ? redis : undefined });
      const session = await openSession(all.address);
      const routes = {
        '2026-07-28': { headers: MODERN, bodyOf: modernCall },
        '2025-11-25': { headers: session, bodyOf: sessionCall },
      };
      for (const [era, route] of Object.entries(routes)) {
        const load = { ...route, address: all.address, connections: CONNECTIONS };
        await putLoad({ ...load, ms: 1_000 });
        const spent = () => all.replicas.reduce((sum, { pid }) => sum + processorTimeOf(pid), 0);
        const before = { own: spent(), redis: redisCost(redis) };
        const { perSecond, latencies, wrong } = await putLoad({
          ...load,
          ms: seconds * 1_000,
          isRight: (text, n) => text.includes(`text ${n}`),
        });
        const after = { own: spent(), redis: redisCost(redis) };
        const calls = latencies.length;
        rows.push([
          count === 0 ? 'one, without Redis' : String(count),
          era,
          perSecond.toFixed(0),
          median(latencies).toFixed(1),
          (((after.own - before.own) * 1_000) / calls).toFixed(0),
          ((after.redis.commands - before.redis.commands) / calls).toFixed(2),
          (((after.redis.ms - before.redis.ms) * 1_000) / calls).toFixed(0),
          String(wrong),
        ]);
        lines.push({ what: `${count} replicas, ${era}: calls that went wrong`, value: wrong, unit: '', budget: 0 });
      }
      await all.close();
    }
    const direct = await putLoad({
      address: server.address,
      connections: CONNECTIONS,
      ms: seconds * 1_000,
      bodyOf: (n) =>
        JSON.stringify({
          jsonrpc: '2.0',
          id: n,
          method: 'tools/call',
          params: { name: 'echo', arguments: { text: `text ${n}` } },
        }),
    });
    rows.push([
      'the server itself',
      '',
      direct.perSecond.toFixed(0),
      median(direct.latencies).toFixed(1),
      '',
      '',
      '',
      '0',
    ]);
    const head = ['replicas', 'protocol', 'calls/s', 'p50 ms', 'processor µs', 'Redis commands', 'Redis µs', 'wrong'];
    return { lines, tables: [{ title: `${CONNECTIONS} connections`, head, rows, left: [0, 1] }] };
  } finally {
    await redis.close();
    await server.close();
  }
};

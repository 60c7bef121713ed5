// Compares the gateway over HTTP with a bare reverse proxy in front of the same server, in alternating rounds.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processorTimeOf, startGateway, startServer } from '../parts/gateway-process.mjs';
import { MODERN, message, modernCall, openSession, sessionCall } from '../parts/http-clients.mjs';
import { putLoad } from '../parts/http-load.mjs';
import { median, percentile } from '../parts/statistics.mjs';

export const title = 'The gateway over HTTP beside a bare reverse proxy';

const ANYGPT = fileURLToPath(new URL('../../dist/bin/anygpt.js', import.meta.url));
const echo = (n) => ({ name: 'echo', arguments: { text: `text ${n}` } });
const isEcho = (text, n) => text.includes(`"text ${n}"`);

export const measure = async ({ seconds = 3, rounds = 3 }) => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-http-'));
  const config = join(folder, 'config.json');
  const homes = { off: join(folder, 'off'), on: join(folder, 'on') };
  const running = [];
  const keep = async (starting) => {
    const started = await starting;
    running.push(started);
    return started;
  };
  try {
    const server = await keep(startServer('plain-echo-http'));
    const servers = [{ name: 'echo', connection: { type: 'http', url: server.address } }];
    const limits = { inFlightPerClient: 512, concurrency: 256, queue: 512 };
    writeFileSync(config, JSON.stringify({ servers, limits, validation: { output: 'off' } }));
    const proxy = await keep(startServer('http-proxy', [server.address]));
    const args = [ANYGPT, 'mcp', 'token', 'create', '--json'];
    const made = execFileSync(process.execPath, args, { env: { ...process.env, ANYGPT_HOME: homes.on } });
    const { token } = JSON.parse(made.toString());
    const open = await keep(startGateway({ config, home: homes.off }));
    const shut = await keep(startGateway({ config, home: homes.on }));
    const bearer = { authorization: `Bearer ${token}` };
    const session = await openSession(shut.address, bearer);
    const routes = {
      proxy: { process: proxy, address: proxy.address, bodyOf: (n) => message(n, 'tools/call', echo(n)) },
      'open door': { process: open, address: open.address, headers: MODERN, bodyOf: modernCall },
      'with a token': { process: shut, address: shut.address, headers: { ...MODERN, ...bearer }, bodyOf: modernCall },
      'with a token, 2025-11-25': {
        process: shut,
        address: shut.address,
        headers: { ...session, ...bearer },
        bodyOf: sessionCall,
      },
    };
    const lines = [];
    const rows = [];
    for (const connections of [1, 50, 200]) {
      const samples = Object.fromEntries(Object.keys(routes).map((name) => [name, []]));
      for (let round = 0; round <= rounds; round++)
        for (const [name, route] of Object.entries(routes)) {
          const ms = round === 0 ? 1_000 : seconds * 1_000;
          const before = processorTimeOf(route.process.pid);
          const measured = await putLoad({ ...route, connections, ms, isRight: isEcho });
          const spent = processorTimeOf(route.process.pid) - before;
          // The first round warms up.
          if (round > 0) samples[name].push({ ...measured, perCall: (spent * 1_000) / measured.latencies.length });
        }
      const of = (name) => ({
        perSecond: median(samples[name].map(({ perSecond }) => perSecond)),
        p50: median(samples[name].map(({ latencies }) => median(latencies))),
        p99: median(samples[name].map(({ latencies }) => percentile(latencies, 0.99))),
        perCall: median(samples[name].map(({ perCall }) => perCall)),
        wrong: samples[name].reduce((sum, { wrong }) => sum + wrong, 0),
      });
      const bare = of('proxy');
      for (const name of Object.keys(routes)) {
        const { perSecond, p50, p99, perCall, wrong } = of(name);
        rows.push([
          String(connections),
          name,
          perSecond.toFixed(0),
          p50.toFixed(2),
          p99.toFixed(1),
          perCall.toFixed(0),
          String(wrong),
        ]);
        if (name === 'proxy') continue;
        const what = `${connections} connections, ${name}`;
        if (connections > 1)
          lines.push(
            {
              what: `${what}: calls per second`,
              value: perSecond / bare.perSecond,
              unit: '×',
              budget: 0.5,
              atLeast: true,
            },
            { what: `${what}: calls that went wrong`, value: wrong, unit: '', budget: 0 },
          );
        else lines.push({ what: `${what}: added to the median`, value: p50 - bare.p50, unit: 'ms', budget: 2 });
      }
    }
    const head = ['connections', 'route', 'calls/s', 'p50 ms', 'p99 ms', 'processor µs', 'wrong'];
    return { lines, tables: [{ title: 'Calls', head, rows, left: [1] }] };
  } finally {
    for (const one of running.reverse()) await one.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

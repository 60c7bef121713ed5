// Measures the memory that an idle client takes in the gateway, by opening many of them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentOf, startGateway, startServer } from '../parts/gateway-process.mjs';

export const title = 'Memory of idle clients over HTTP';

/**
 * Clients of the new protocol: many, because the first hundreds of requests also grow the code of the process. Sessions
 * of the old one are bounded at 256.
 */
const MODERN_CLIENTS = { warm: 200, counted: 600 };
const LEGACY_CLIENTS = { warm: 20, counted: 200 };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
};
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };

/** A client on a connection of its own that stays open. Returns what the gateway has answered so far. */
const client = (address) => {
  const { hostname, port, host } = new URL(address);
  const socket = connect(Number(port), hostname);
  let heard = '';
  socket.on('data', (chunk) => {
    heard += chunk;
  });
  const ask = async (method, headers, body, isDone) => {
    heard = '';
    const text = body === undefined ? '' : JSON.stringify(body);
    const own = { Accept: 'application/json, text/event-stream', ...headers };
    if (body !== undefined) Object.assign(own, { 'Content-Type': 'application/json', 'Content-Length': text.length });
    const head = Object.entries({ Host: host, ...own }).map(([name, value]) => `${name}: ${value}`);
    socket.write(`${method} /mcp HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${text}`);
    while (!isDone(heard)) await sleep(2);
    return heard;
  };
  return { ask, close: () => socket.destroy() };
};

const isAnswered = (text) => text.includes('"jsonrpc"') && /"id":1[,}]/.test(text);

const openModern = async (address) => {
  const one = client(address);
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } };
  await one.ask('POST', MODERN, body, isAnswered);
  return one;
};

const openLegacy = async (address) => {
  const one = client(address);
  const hello = { jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE };
  const [, session] = /mcp-session-id: (\S+)/i.exec(await one.ask('POST', {}, hello, isAnswered));
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  await one.ask('POST', headers, { jsonrpc: '2.0', method: 'notifications/initialized' }, (text) =>
    text.includes('202'),
  );
  await one.ask('POST', headers, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, isAnswered);
  await one.ask('GET', headers, undefined, (text) => text.includes('200 OK'));
  return one;
};

/** Kilobytes per client, after a garbage collection, which the gateway runs when it is told to. */
const perClient = async (gateway, open, { warm, counted }) => {
  const many = async (count) => {
    const clients = [];
    for (let at = 0; at < count; at++) clients.push(await open(gateway.address));
    return clients;
  };
  const settled = async () => {
    let least = Number.POSITIVE_INFINITY;
    for (let look = 0; look < 5; look++) {
      process.kill(gateway.pid, 'SIGUSR2');
      await sleep(400);
      least = Math.min(least, residentOf(gateway.pid));
    }
    return least;
  };
  const first = await many(warm);
  const before = await settled();
  const clients = await many(counted);
  const after = await settled();
  for (const one of [...first, ...clients]) one.close();
  return Math.max(0, after - before) / counted;
};

const COLLECT = `data:text/javascript,process.on('SIGUSR2',()=>globalThis.gc())`;

export const measure = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-http-memory-'));
  const config = join(folder, 'config.json');
  const server = await startServer('plain-echo-http');
  const lines = [];
  try {
    writeFileSync(
      config,
      JSON.stringify({ servers: [{ name: 'echo', connection: { type: 'http', url: server.address } }] }),
    );
    const nodeOptions = ['--expose-gc', `--import=${COLLECT}`];
    const proxy = await startServer('http-proxy', [server.address], nodeOptions);
    const bare = await perClient(proxy, openModern, MODERN_CLIENTS);
    await proxy.close();
    lines.push({ what: 'a connection of the bare proxy', value: bare, unit: 'kB' });
    for (const [what, open, budget, clients] of [
      ['protocol 2026-07-28, a connection', openModern, 50, MODERN_CLIENTS],
      ['protocol 2025-11-25, a session with its stream', openLegacy, 500, LEGACY_CLIENTS],
    ]) {
      const gateway = await startGateway({ config, home: join(folder, what.slice(9, 13)), nodeOptions });
      lines.push({
        what: `an idle client: ${what}`,
        value: await perClient(gateway, open, clients),
        unit: 'kB',
        budget,
      });
      await gateway.close();
    }
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return lines;
};

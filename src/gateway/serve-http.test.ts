import { request as httpRequest } from 'node:http';
import { connect as connectTo } from 'node:net';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { script } from '../../test/fixtures/connections/harness.ts';
import { type Era, engineWith, jsonOf, sdkClient } from '../../test/fixtures/gateway/kit.ts';
import type { StdioConnection } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { META_TOOL_NAMES } from '../meta-tools/meta-tools.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { discoverySurface } from './discovery-surface.ts';
import { type ServedHttp, serveGatewayOnHttp } from './index.ts';

const { command, args } = script('eliciting.mjs').connection as StdioConnection;
const servers: Record<string, unknown>[] = [];
let server: TestServer;
let engine: EngineCore;
let served: ServedHttp;
/** Calls of `hang`. */
let running = 0;

beforeAll(async () => {
  server = await startTestServer({
    tools: {
      echo: { call: (args) => JSON.stringify(args) },
      hang: {
        call: (_args, { signal }) => {
          running += 1;
          return new Promise((resolve) =>
            signal.addEventListener('abort', () => {
              running -= 1;
              resolve('');
            }),
          );
        },
      },
    },
  });
  servers.push(
    { name: 'echo', connection: server.connection },
    {
      name: 'asker',
      connection: { type: 'stdio', command, args },
      tools: [{ name: 'ask', inputSchema: { type: 'object' } }],
    },
  );
  engine = engineWith({ servers });
  served = await serveGatewayOnHttp(engine, { port: 0, surface: discoverySurface(engine), maxSessions: 3 });
});
afterAll(async () => {
  await served.close();
  await served.closed;
  await engine.close();
  await server.close();
});

async function connect(era: Era, capabilities: Record<string, unknown> = {}) {
  const client = sdkClient(era, capabilities);
  const transport = new StreamableHTTPClientTransport(new URL(served.url));
  await client.connect(transport as never);
  const end = async () => {
    if (era === 'legacy') await transport.terminateSession();
    await client.close();
  };
  return { client, transport, [Symbol.asyncDispose]: end };
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } },
};

const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };

/** A request with exactly these headers; fetch would not let us lie about Host. */
function raw(
  headers: Record<string, string>,
  { method = 'POST', path = '/mcp', body = JSON.stringify(INITIALIZE) } = {},
): Promise<{ status: number; body: string; headers: NodeJS.Dict<string | string[]> }> {
  const { port } = new URL(served.url);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
      },
    );
    request.on('error', reject);
    request.end(method === 'POST' ? body : undefined);
  });
}

describe.each<Era>(['legacy', 'modern'])('a %s client on HTTP', (era) => {
  it('lists, searches and calls', async () => {
    await using open = await connect(era);
    const { tools } = await open.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...META_TOOL_NAMES]);
    for (const { _meta } of tools) expect(_meta).toEqual({ 'anthropic/alwaysLoad': true });
    const said = await open.client.callTool({
      name: 'execute_tool',
      arguments: { server: 'echo', tool: 'echo', arguments: { a: 1 } },
    });
    expect(said.content).toEqual([{ type: 'text', text: '{"a":1}' }]);
  });

  it('is asked, and its own answer arrives, while others are asked too', async () => {
    const one = async (name: string) => {
      await using open = await connect(era, { elicitation: {} });
      open.client.setRequestHandler('elicitation/create', async () => ({
        action: 'accept' as const,
        content: { name },
      }));
      const result = await open.client.callTool({
        name: 'execute_tool',
        arguments: { server: 'asker', tool: 'ask', arguments: { marker: name } },
      });
      expect(result.structuredContent).toMatchObject({ marker: name, answer: { content: { name } } });
    };
    await Promise.all([one('alice'), one('bob')]);
  });
});

describe('a connection with several unanswered requests', () => {
  it('that breaks cancels all of their calls', async () => {
    const { hostname, port, host } = new URL(served.url);
    const socket = connectTo(Number(port), hostname);
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'pipeline', version: '1' },
    };
    for (const id of [1, 2, 3]) {
      const params = { name: 'execute_tool', arguments: { server: 'echo', tool: 'hang', arguments: {} }, _meta: meta };
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
      const head = [
        'POST /mcp HTTP/1.1',
        `host: ${host}`,
        'content-type: application/json',
        'accept: application/json, text/event-stream',
        'mcp-protocol-version: 2026-07-28',
        'mcp-method: tools/call',
        'mcp-name: execute_tool',
        `content-length: ${body.length}`,
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    }
    await expect.poll(() => running).toBe(3);
    socket.destroy();
    await expect.poll(() => running).toBe(0);
  });
});

describe('the guard of the HTTP gateway', () => {
  it.each([
    { host: 'evil.example' },
    { host: '127.0.0.1.evil.example' },
    { host: 'evil@127.0.0.1.evil.example' },
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost.evil.example' },
    { origin: 'http://localhost:3000' },
    { host: 'user@127.0.0.1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'Cross-Site' },
    { 'sec-fetch-site': '' },
  ])('refuses %o on every path', async (headers) => {
    for (const path of ['/mcp', '/', '/health'])
      for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE'])
        expect((await raw(headers as never, { path, method })).status, `${method} ${path}`).toBe(403);
  });

  it('serves only /mcp', async () => {
    expect((await raw({}, { path: '/other' })).status).toBe(404);
    const { origin } = new URL(served.url);
    expect((await raw({ origin }, { path: '/mcp?x=1' })).status).toBe(200);
  });
});

describe('a request that is not one of ours', () => {
  it.each(['TRACE', 'OPTIONS', 'HEAD', 'PUT', 'PATCH', 'PROPFIND', 'M-SEARCH', 'QUERY'])(
    'is told which methods there are: %s',
    async (method) => {
      const { status, headers } = await raw({}, { method });
      expect([status, headers.allow]).toEqual([405, 'GET, POST, DELETE']);
    },
  );

  it.each([
    [415, { 'content-type': 'text/plain' }, {}],
    [415, { 'content-type': 'application/x-www-form-urlencoded' }, {}],
    [415, { 'content-type': 'application/jsonp' }, {}],
    [406, { accept: '*/*' }, {}],
    [400, {}, { method: 'GET' }],
    [400, {}, { method: 'DELETE' }],
    [400, {}, { body: JSON.stringify(PING) }],
    [400, {}, { body: JSON.stringify([INITIALIZE]) }],
    [400, {}, { body: JSON.stringify([INITIALIZE, INITIALIZE]) }],
    [400, {}, { body: JSON.stringify({ ...INITIALIZE, id: undefined }) }],
    [400, {}, { body: JSON.stringify({ ...INITIALIZE, id: {} }) }],
    [400, {}, { body: JSON.stringify({ ...INITIALIZE, jsonrpc: '1.0' }) }],
    [400, {}, { body: JSON.stringify({ ...INITIALIZE, params: undefined }) }],
    [400, {}, { body: JSON.stringify({ ...INITIALIZE, params: { protocolVersion: 7 } }) }],
    [400, {}, { body: '"initialize"' }],
    [400, {}, { body: '['.repeat(3_000_000) }],
  ])('is %i and opens nothing: %j', async (status, headers, options) => {
    let opened = 0;
    const surface = discoverySurface(engine);
    const counting = await serveGatewayOnHttp(engine, {
      port: 0,
      surface: {
        ...surface,
        createServer: (...given) => {
          opened++;
          return surface.createServer(...given);
        },
      },
    });
    const before = served;
    try {
      served = counting;
      expect((await raw(headers as never, options)).status).toBe(status);
      expect(opened).toBe(0);
      expect((await raw({})).status).toBe(200);
      expect(opened).toBe(1);
    } finally {
      served = before;
      await counting.close();
    }
  });
});

describe('clients without sessions', () => {
  const hangMany = (client: Awaited<ReturnType<typeof connect>>['client'], count: number) => {
    const call = { name: 'execute_tool', arguments: { server: 'echo', tool: 'hang', arguments: {} } };
    // A signal for each call: Node warns of one with many listeners.
    const signals = Array.from({ length: count }, () => new AbortController());
    const calls = signals.map(({ signal }) => client.callTool(call, { signal }).catch(() => {}));
    const stop = () => {
      for (const controller of signals) controller.abort();
    };
    return { stop, calls };
  };

  it('do not wait for the calls of another one, though both have the same name', async () => {
    const busy = engineWith({ servers: [{ ...servers[0], concurrency: 200 }] });
    const hung = () => server.calls.filter(({ tool }) => tool === 'hang').length;
    const earlier = hung();
    const before = served;
    served = await serveGatewayOnHttp(busy, { port: 0, surface: discoverySurface(busy) });
    try {
      await using one = await connect('modern');
      const { stop, calls } = hangMany(one.client, 70);
      await expect.poll(() => hung() - earlier, { timeout: 10_000 }).toBeGreaterThanOrEqual(64);
      await using two = await connect('modern');
      const said = await two.client.callTool({
        name: 'execute_tool',
        arguments: { server: 'echo', tool: 'echo', arguments: { b: 2 } },
      });
      expect(said.content).toEqual([{ type: 'text', text: '{"b":2}' }]);
      stop();
      await Promise.all(calls);
    } finally {
      await served.close();
      served = before;
      await busy.close();
    }
  });
});

describe('arguments that are a JSON text in a string', () => {
  it('are counted before they are read, wherever the string is', async () => {
    await using open = await connect('legacy');
    const names = Array.from({ length: 30_000 }, (_, n) => `"k${n}":0`).join(',');
    const many = `{${names}}`;
    const pair = { server: 'echo', tool: 'echo' };
    const earlier = server.calls.length;
    for (const args of [
      { ...pair, arguments: many },
      { ...pair, arguments: { arguments: many } },
      { arguments: `{"server":"echo","tool":"echo","arguments":${many}}` },
      { arguments: JSON.stringify(JSON.stringify({ ...pair, arguments: JSON.parse(many) })) },
      { ...pair, arguments: JSON.stringify({ arguments: many }) },
    ]) {
      const result = await open.client.callTool({ name: 'execute_tool', arguments: args });
      const sent = server.calls.slice(earlier).map(({ arguments: given }) => Object.keys(given ?? {}).length);
      expect(sent.every((count) => count <= 1)).toBe(true);
      if (sent.length === 0) expect(jsonOf(result)).toMatchObject({ error: { code: 'TOOL_VALIDATION_ERROR' } });
    }
  });
});

describe('sessions', () => {
  it('are unknown once ended, and unknown ones are 404', async () => {
    const opened = await raw({});
    const id = String(opened.headers['mcp-session-id']);
    expect(opened.status).toBe(200);
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
    expect((await raw({ 'mcp-session-id': id }, { body: ping })).status).toBe(200);
    expect((await raw({ 'mcp-session-id': id }, { method: 'DELETE', body: '' })).status).toBe(200);
    const gone = await raw({ 'mcp-session-id': id }, { body: ping });
    expect([gone.status, JSON.parse(gone.body).error.message]).toEqual([404, 'Session not found']);
    expect(JSON.parse(gone.body).id).toBeNull();
    expect((await raw({ 'mcp-session-id': 'made up' }, { body: ping })).status).toBe(404);
  });

  const opened = async (headers: Record<string, string> = {}) => {
    const { status, headers: given } = await raw(headers);
    return status === 200 ? String(given['mcp-session-id']) : status;
  };
  const lives = async (id: string | number) =>
    (await raw({ 'mcp-session-id': String(id) }, { body: JSON.stringify(PING) })).status === 200;
  const end = (id: string | number) => raw({ 'mcp-session-id': String(id) }, { method: 'DELETE', body: '' });

  /** A stream that the client keeps open. */
  const stream = (id: string | number) =>
    new Promise<() => Promise<void>>((resolve, reject) => {
      const { port } = new URL(served.url);
      const headers = { accept: 'text/event-stream', 'mcp-session-id': String(id) };
      const request = httpRequest({ host: '127.0.0.1', port, path: '/mcp', headers }, (response) => {
        response.resume();
        const closed = new Promise<void>((done) => response.once('close', () => done()));
        resolve(async () => {
          request.destroy();
          await closed;
        });
      });
      request.on('error', reject);
      request.end();
    });

  it('of clients that disconnected while they were being opened take no place', async () => {
    let opening = 0;
    const slow = discoverySurface(engine);
    const surface = {
      ...slow,
      createServer: async (...given: Parameters<typeof slow.createServer>) => {
        if (++opening <= 3) await new Promise((resolve) => setTimeout(resolve, 200));
        return slow.createServer(...given);
      },
    };
    const own = await serveGatewayOnHttp(engine, { port: 0, surface, maxSessions: 3 });
    try {
      const hello = (signal?: AbortSignal) =>
        fetch(own.url, {
          method: 'POST',
          ...(signal && { signal }),
          headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
          body: JSON.stringify(INITIALIZE),
        });
      const leaving = new AbortController();
      const left = Array.from({ length: 3 }, () => hello(leaving.signal).catch(() => 'left'));
      await expect.poll(() => opening).toBe(3);
      leaving.abort();
      expect(await Promise.all(left)).toEqual(['left', 'left', 'left']);
      await new Promise((resolve) => setTimeout(resolve, 300));
      for (let n = 0; n < 3; n++) expect((await hello()).status).toBe(200);
    } finally {
      await own.close();
    }
  });

  const work = async (id: string | number, requests = 1) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'tools/list' });
    for (let n = 0; n < requests; n++) expect((await raw({ 'mcp-session-id': String(id) }, { body })).status).toBe(200);
  };

  it('in active use are not evicted by many idle ones, with a stream or without', async () => {
    const working = await opened({ 'user-agent': 'worker' });
    await work(working, 10);
    for (let n = 0; n < 10; n++) expect(typeof (await opened({ 'user-agent': `idler ${n}` }))).toBe('string');
    expect(await lives(working)).toBe(true);
    for (let n = 0; n < 10; n++) {
      const id = await opened({ 'user-agent': 'greedy' });
      await work(id, 1);
    }
    expect(await lives(working)).toBe(true);
    const streams: (() => Promise<void>)[] = [];
    const listening: (string | number)[] = [];
    for (let n = 0; n < 6; n++) {
      const id = await opened({ 'user-agent': `listener ${n}` });
      expect(typeof id).toBe('string');
      listening.push(id);
      streams.push(await stream(id));
      if (n > 2) await work(id);
    }
    expect(await lives(working)).toBe(true);
    for (const close of streams) await close();
    for (const id of [working, ...listening]) await end(id);
  });

  it('that clients abandoned make room for new ones, the least recently used first', async () => {
    const [first, second, third] = [await opened(), await opened(), await opened()];
    expect(await lives(first as string)).toBe(true);
    const fourth = await opened();
    expect(typeof fourth).toBe('string');
    expect(await lives(second as string)).toBe(false);
    for (const id of [first, third, fourth]) expect(await lives(id as string)).toBe(true);
    for (let more = 0; more < 20; more++) expect(typeof (await opened())).toBe('string');
  });

  it('in use stay, and new ones are refused only if all are in use', async () => {
    const ids = [await opened(), await opened(), await opened()];
    const streams = await Promise.all(ids.slice(0, 2).map((id) => stream(id as string)));
    for (const id of ids) await work(id);
    const hanging = new AbortController();
    const call = { name: 'execute_tool', arguments: { server: 'echo', tool: 'hang', arguments: {} } };
    const earlier = server.calls.length;
    const calling = fetch(served.url, {
      method: 'POST',
      signal: hanging.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': String(ids[2]),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: call }),
    }).catch(() => undefined);
    await expect.poll(() => server.calls.length).toBeGreaterThan(earlier);
    expect(await opened()).toBe(503);
    for (const id of ids) expect(await lives(id as string)).toBe(true);
    hanging.abort();
    await calling;
    await expect.poll(() => opened()).not.toBe(503);
    for (const close of streams) await close();
    for (const id of ids) await end(id as string);
  });

  it('of a client that keeps them all open leave room for another client', async () => {
    const ids = [await opened(), await opened(), await opened()];
    const streams = await Promise.all(ids.map((id) => stream(id as string)));
    for (const id of ids) await work(id);
    expect(await opened()).toBe(503);
    const other = await opened({ 'user-agent': 'another' });
    expect(typeof other).toBe('string');
    expect(await lives(ids[0] as string)).toBe(false);
    for (const close of streams) await close();
    for (const id of [...ids, other]) await end(id as string);
  });

  it('are notified of a reload, and then see the new servers', async () => {
    await using open = await connect('legacy');
    const changed = new Promise((resolve) =>
      open.client.setNotificationHandler('notifications/tools/list_changed', resolve),
    );
    // The notice travels on the stream that the client opens after the handshake.
    await new Promise((resolve) => setTimeout(resolve, 50));
    servers.push({ name: 'third', connection: server.connection });
    await engine.reload();
    await changed;
    expect((await open.client.listTools()).tools[0]?.description).toContain(' in asker, echo, third');
    servers.pop();
    await engine.reload();
  });
});

describe('serveGatewayOnHttp', () => {
  it('reports a taken port', async () => {
    const port = Number(new URL(served.url).port);
    await expect(serveGatewayOnHttp(engine, { port, surface: discoverySurface(engine) })).rejects.toThrow('EADDRINUSE');
  });

  it('answers malformed bodies with 4xx', async () => {
    for (const body of ['', '{', '[]', '7', `${'['.repeat(20_000)}`]) {
      const { status } = await raw({}, { body });
      expect(status, body.slice(0, 5)).toBeGreaterThanOrEqual(400);
      expect(status, body.slice(0, 5)).toBeLessThan(500);
    }
    expect(jsonOf(await (await connect('modern')).client.callTool({ name: 'list_mcp_servers' })).servers).toHaveLength(
      2,
    );
  });
});

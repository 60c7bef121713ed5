/** Checks that clients that send too much, or do not read, harm only themselves. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineWith, rawClient } from '../../test/fixtures/gateway/kit.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { discoverySurface } from './discovery-surface.ts';
import { type ServedHttp, serveGatewayOnHttp, serveGatewayOnStdio } from './index.ts';

const FLOODER = fileURLToPath(new URL('../../bench/servers/flooder.mjs', import.meta.url));
const ELICITING = fileURLToPath(new URL('../../test/fixtures/connections/eliciting.mjs', import.meta.url));
const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 't', version: '0' },
};
/** A server whose tool `hang` never answers. */
const HANGING = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || params?.name === 'hang') return;
  const info = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'h', version: '1' } };
  const result = method === 'initialize' ? info : method === 'tools/list' ? { tools: [] } : { content: [] };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + String.fromCharCode(10));
})`;
const MIB = 1024 * 1024;

let engine: EngineCore;
let served: ServedHttp;
beforeAll(async () => {
  const connection = { type: 'stdio', command: process.execPath, args: [FLOODER] };
  const asking = { type: 'stdio', command: process.execPath, args: [ELICITING] };
  const tools = ['ask', 'wait'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  engine = engineWith({
    servers: [
      { name: 'evil', connection },
      { name: 'asking', connection: asking, tools, concurrency: 4 },
      {
        name: 'slow',
        connection: { type: 'stdio', command: process.execPath, args: ['-e', HANGING] },
        tools: ['hang', 'quick'].map((name) => ({ name, inputSchema: { type: 'object' } })),
        concurrency: 8,
      },
    ],
    limits: { queueWait: 1_000 },
  });
  served = await serveGatewayOnHttp(engine, { port: 0, surface: discoverySurface(engine) });
});
afterAll(async () => {
  await served.close();
  await engine.close();
});

const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`name ${at}`, at]));
const executing = (args: Record<string, unknown>) => ({
  name: 'execute_tool',
  arguments: { server: 'evil', tool: 'answer', arguments: args },
});

const post = async (body: string) => {
  const response = await fetch(served.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'execute_tool',
    },
    body,
  });
  return { status: response.status, body: JSON.parse(await response.text()) as Record<string, unknown> };
};
const callOf = (id: number, args: Record<string, unknown>) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { ...executing(args), _meta: META } });

describe('bodies that never end', () => {
  it('are given up when they hold too much together, the one that stalls longest first', async () => {
    const { port } = new URL(served.url);
    const answers: string[] = [];
    const begin = () => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('data', (data) => answers.push(data.toString().split('\r\n')[0] ?? ''));
      socket.on('error', () => {});
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${4 * MIB}\r\n\r\n{"x":"`,
      );
      socket.write(Buffer.alloc(3 * MIB, 'a'));
      return socket;
    };
    const sockets = Array.from({ length: 20 }, begin);
    await expect.poll(() => answers.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(10);
    expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 503 Service Unavailable']));
    // A large body that arrives is read, and so is a short one.
    expect((await post(callOf(9, { text: 'x'.repeat(3 * MIB) }))).status).toBe(200);
    expect((await post(callOf(10, { text: 'x' }))).status).toBe(200);
    expect(sockets.some(({ closed }) => !closed)).toBe(true);
    for (const socket of sockets) socket.destroy();
  });
});

describe('many short requests', () => {
  it('of one client are all answered, in turn', async () => {
    const list = (id: number) =>
      fetch(served.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/list',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params: { _meta: META } }),
      }).then(async (response) => [response.status, ((await response.json()) as { id: number }).id]);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, id) => list(id)));
    expect(answers).toEqual(answers.map((_, id) => [200, id]));
  });
});

describe('clients with invented names', () => {
  it('do not take all slots of a server from a client that has called before', async () => {
    const { port } = new URL(served.url);
    const calling = (client: string, tool: string, agent: Agent) =>
      new Promise<{ isError?: boolean }>((resolve, reject) => {
        const _meta = { ...META, 'io.modelcontextprotocol/clientInfo': { name: client, version: '0' } };
        const params = { name: 'execute_tool', arguments: { server: 'slow', tool, arguments: {} }, _meta };
        const headers = {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'execute_tool',
        };
        const sent = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers, agent }, (response) => {
          text(response)
            .then((body) => resolve(JSON.parse(body).result))
            .catch(reject);
        });
        sent.on('error', reject);
        sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
      });
    const [mine, others] = [new Agent({ keepAlive: true, maxSockets: 1 }), new Agent({ maxSockets: 100 })];
    expect(await calling('mine', 'quick', mine)).not.toMatchObject({ isError: true });
    // Some use its name.
    const refused: unknown[] = [];
    for (let at = 0; at < 40; at++)
      calling(at % 3 === 0 ? 'mine' : `invented ${at}`, 'hang', others).then(
        (result) => refused.push(result),
        () => undefined,
      );
    // What found no slot has waited in vain: all slots are taken, but those kept for known callers (one or two).
    await expect.poll(() => refused.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(33);
    for (let at = 0; at < 3; at++) expect(await calling('mine', 'quick', mine)).not.toMatchObject({ isError: true });
    mine.destroy();
    others.destroy();
  });
});

describe('what a client says about itself', () => {
  const send = (body: object, headers: Record<string, string> = {}) =>
    fetch(served.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    });
  const initialize = (more: object = {}) => send({ method: 'initialize', params: { ...INITIALIZE, ...more } });

  it.each(['name', 'version'])(
    'may have an object as its %s, with a session or without, and ends nothing',
    async (key) => {
      const session = String((await initialize()).headers.get('mcp-session-id'));
      const clientInfo = { [key]: { toString: 1, valueOf: null } };
      const ping = { method: 'ping', params: { _meta: { ...META, 'io.modelcontextprotocol/clientInfo': clientInfo } } };
      expect((await send(ping, { 'mcp-session-id': session })).status).toBeLessThan(500);
      expect((await send(ping)).status).toBeLessThan(500);
      expect((await initialize({ clientInfo })).status).toBeLessThan(500);
      expect((await initialize()).status).toBe(200);
    },
  );

  it('is refused where it is so long that keeping it for each session would fill the memory', async () => {
    const capabilities = { experimental: { a: { b: 'x'.repeat(3 * MIB) } } };
    const refused = await initialize({ capabilities });
    expect([refused.status, refused.headers.get('mcp-session-id')]).toEqual([413, null]);
    expect((await initialize({ capabilities: { experimental: { a: { b: 'x'.repeat(10_000) } } } })).status).toBe(200);
  });
});

describe('many subscriptions', () => {
  it('are refused where they would keep much for as long as a stream is open', async () => {
    const listen = (more: object) =>
      fetch(served.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'subscriptions/listen',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'subscriptions/listen',
          params: { notifications: { toolsListChanged: true, ...more }, _meta: META },
        }),
      });
    const resourceSubscriptions = Array.from({ length: 300 }, (_, at) => `x://${at}/${'y'.repeat(1_000)}`);
    for (const more of [{ resourceSubscriptions }, { pad: 'x'.repeat(200_000) }]) {
      const answer = await listen(more);
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({ id: 1, error: { message: expect.stringContaining('131072') } });
    }
    const short = await listen({});
    expect(short.status).toBe(200);
    await short.body?.cancel();
  });

  it('of one client make room for those of others', async () => {
    const { port } = new URL(served.url);
    const open = new Set<string>();
    const listen = (client: string, at: number) => {
      const _meta = { ...META, 'io.modelcontextprotocol/clientInfo': { name: client, version: '0' } };
      const params = { notifications: { toolsListChanged: true }, _meta };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params });
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      socket.once('data', () => open.add(`${client} ${at}`));
      socket.once('close', () => open.delete(`${client} ${at}`));
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      return socket;
    };
    const sockets = [listen('modest', 0)];
    await expect.poll(() => open.size).toBe(1);
    for (let at = 0; at < 300; at++) sockets.push(listen('greedy', at));
    sockets.push(listen('late', 0));
    await expect.poll(() => open.has('late 0'), { timeout: 20_000 }).toBe(true);
    await expect.poll(() => open.size, { timeout: 20_000 }).toBe(256);
    expect(open.has('modest 0')).toBe(true);
    for (const socket of sockets) socket.destroy();
  });
});

describe('many requests on one connection that waits for no answer', () => {
  it('end the connection after a few, and other clients are served', async () => {
    const { port } = new URL(served.url);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } });
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n`;
    const request = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    const sent = async (count: number, expected?: number) => {
      const socket = connect(Number(port), '127.0.0.1');
      let answers = 0;
      let isClosed = false;
      socket.on('data', (data) => {
        answers += data.toString().split('HTTP/1.1 200').length - 1;
        if (answers === expected) socket.end();
      });
      socket.on('error', () => {});
      socket.once('close', () => {
        isClosed = true;
      });
      socket.write(request.repeat(count));
      await expect.poll(() => isClosed).toBe(true);
      return answers;
    };
    expect(await sent(3, 3)).toBe(3);
    expect(await sent(500)).toBeLessThan(5);
    expect((await post(callOf(11, { text: 'x' }))).status).toBe(200);
  });
});

describe('a message with too many values', () => {
  it('is refused unread over HTTP, with its id and what is allowed', async () => {
    const { status, body } = await post(callOf(7, named(300_000)));
    expect(status).toBe(413);
    expect(body).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code: -32600 } });
    expect(body).toMatchObject({ error: { message: expect.stringContaining('names') } });
    const { body: rows } = await post(callOf(8, { rows: Array(50_000).fill(1) }));
    expect(rows).toMatchObject({ id: 8, error: { message: expect.stringContaining('values') } });
  });

  it('is refused unread on stdio, and what follows is served', async () => {
    const client = rawClient();
    const gateway = serveGatewayOnStdio(engine, client);
    await client.ask(1, 'initialize', INITIALIZE);
    const refused = client.ask(2, 'tools/call', executing(named(300_000)));
    const after = client.ask(3, 'ping');
    expect(await refused).toMatchObject({ id: 2, error: { code: -32600, message: expect.stringContaining('names') } });
    expect(await after).toMatchObject({ id: 3, result: {} });
    await gateway.close();
  });

  it('is served if it has no more than an honest client may send', async () => {
    const { body } = await post(
      callOf(9, { kind: 'text 4 MB', note: 'x'.repeat(300_000), rows: Array(30_000).fill(1) }),
    );
    expect(body).toMatchObject({ id: 9, result: { content: [{ type: 'text' }] } });
    expect(await post('{"jsonrpc": "2.0", "id": 1, '.padEnd(20_000))).toMatchObject({
      status: 400,
      body: { error: { code: -32700 } },
    });
  });
});

describe('a client that answers no question', () => {
  it('keeps no other client from a server', async () => {
    const call = async (client: string, tool: string) => {
      const _meta = {
        ...META,
        'io.modelcontextprotocol/clientInfo': { name: client, version: '0' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      };
      const params = {
        name: 'execute_tool',
        arguments: { server: 'asking', tool, arguments: { marker: client } },
        _meta,
      };
      const { body } = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
      return body.result as { resultType?: string; isError?: boolean };
    };
    const parked = await Promise.all(Array.from({ length: 8 }, () => call('greedy', 'ask')));
    // The fourth call runs if a slot is given back before its wait in the queue ends.
    const waiting = parked.filter(({ resultType }) => resultType === 'input_required').length;
    expect([3, 4]).toContain(waiting);
    expect(parked.filter(({ isError }) => isError)).toHaveLength(8 - waiting);
    expect(await call('modest', 'wait')).toMatchObject({ structuredContent: { marker: 'modest' } });
    expect(await call('modest', 'ask')).toMatchObject({ resultType: 'input_required' });
  });
});

describe('a client that asks for much and does not read', { timeout: 60_000 }, () => {
  it('has at most a few megabytes waiting on stdio, and gets everything once it reads', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const gateway = serveGatewayOnStdio(engine, { input, output });
    const calls = 20;
    const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    send({ id: 0, method: 'initialize', params: INITIALIZE });
    for (let id = 1; id <= calls; id++) send({ id, method: 'tools/call', params: executing({ kind: 'text 4 MB' }) });
    const unread = () => output.writableLength + output.readableLength;
    await expect.poll(unread, { timeout: 20_000 }).toBeGreaterThan(4 * MIB);
    let most = 0;
    for (let at = 0; at < 40; at++) {
      await sleep(50);
      most = Math.max(most, unread());
    }
    expect(most).toBeLessThan(16 * MIB);
    let answers = 0;
    output.on('data', (chunk: Buffer) => {
      for (const byte of chunk) if (byte === 0x0a) answers++;
    });
    await expect.poll(() => answers, { timeout: 40_000 }).toBe(calls + 1);
    await gateway.close();
  });
});

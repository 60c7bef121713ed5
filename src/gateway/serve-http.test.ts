import { request as httpRequest } from 'node:http';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { script } from '../../test/fixtures/connections/harness.ts';
import { type Era, engineWith, jsonOf, sdkClient } from '../../test/fixtures/gateway/kit.ts';
import type { DiscoveryEngine } from '../discovery-engine.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import type { StdioConnection } from '../types.ts';
import { discoverySurface, META_TOOL_NAMES, type ServedHttp, serveGatewayOnHttp } from './index.ts';

const { command, args } = script('eliciting.mjs').connection as StdioConnection;
const servers: Record<string, unknown>[] = [];
let server: TestServer;
let engine: DiscoveryEngine;
let served: ServedHttp;

beforeAll(async () => {
  server = await startTestServer({ tools: { echo: { call: (args) => JSON.stringify(args) } } });
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
    expect((await open.client.listTools()).tools.map(({ name }) => name)).toEqual([...META_TOOL_NAMES]);
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

describe('who may talk to us', () => {
  it.each([
    { host: 'evil.example' },
    { host: '127.0.0.1.evil.example' },
    { host: 'evil@127.0.0.1.evil.example' },
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost.evil.example' },
    { origin: 'http://localhost:3000' },
    { host: 'user@127.0.0.1' },
  ])('refuses %o on every path', async (headers) => {
    for (const path of ['/mcp', '/', '/health'])
      for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS'])
        expect((await raw(headers as never, { path, method })).status, `${method} ${path}`).toBe(403);
  });

  it('has nothing but /mcp', async () => {
    expect((await raw({}, { path: '/other' })).status).toBe(404);
    const { origin } = new URL(served.url);
    expect((await raw({ origin }, { path: '/mcp?x=1' })).status).toBe(200);
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
    expect((await raw({ 'mcp-session-id': 'made up' }, { body: ping })).status).toBe(404);
  });

  it('are limited in number', async () => {
    const ids: string[] = [];
    let last = 200;
    while (last === 200 && ids.length < 10) {
      const { status, headers } = await raw({});
      last = status;
      if (status === 200) ids.push(String(headers['mcp-session-id']));
    }
    expect(last).toBe(503);
    for (const id of ids) await raw({ 'mcp-session-id': id }, { method: 'DELETE', body: '' });
    expect((await raw({})).status).toBe(200);
  });

  it('hear of a reload, and see the new servers then', async () => {
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
  it('says so when the port is taken', async () => {
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

/** What becomes of a caller's identity behind the front door, in both eras, and of calls whose connection breaks. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, INITIALIZE, JSON_HEADERS } from '../../test/fixtures/gateway/http-request.ts';
import { type Era, jsonOf, sdkClient, tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { StaticTokens } from '../auth/static-tokens.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller } from '../core/types.ts';
import { EngineCore } from '../engine/engine-core.ts';
import { discoverySurface } from './discovery-surface.ts';
import { type ServedHttp, serveGatewayOnHttp } from './serve-http.ts';
import type { Surface } from './serve-stdio.ts';

const HOUR = 3_600_000;
const ERAS: readonly Era[] = ['legacy', 'modern'];
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A server that notes everything it receives. Its tool `locked` is refused with 401, `slow` waits until `release`. */
let journal: { headers: IncomingHttpHeaders; body: string }[];
let downstream: Server;
let release: () => void;
let folder: ReturnType<typeof tempFolder>;
let tokens: StaticTokens;
let engine: EngineCore;
let surface: Surface;
let served: ServedHttp;
const callers: Caller[] = [];

const answerTo = async (method: string, name: unknown) => {
  if (method === 'initialize')
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'noting', version: '1' } };
  if (method === 'tools/list')
    return {
      tools: ['open', 'locked', 'slow'].map((tool) => ({ name: tool, inputSchema: { type: 'object' } })),
    };
  if (name === 'slow') await new Promise<void>((done) => (release = done));
  return { content: [{ type: 'text', text: 'said' }], structuredContent: { a: 1 }, _meta: { own: true } };
};

beforeAll(async () => {
  journal = [];
  downstream = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', async () => {
      journal.push({ headers: request.headers, body });
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method, params } = JSON.parse(body);
      if (id === undefined) return void response.writeHead(202).end();
      if (params?.name === 'locked') return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      const result = await answerTo(method, params?.name);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((resolve) => downstream.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(downstream.address() as AddressInfo).port}/mcp`;
  folder = tempFolder();
  tokens = new StaticTokens(folder.path);
  await tokens.create({ expiresAt: Date.now() + HOUR });
  engine = new EngineCore(
    { cache: { enabled: false }, servers: [{ name: 'noting', connection: { type: 'http', url } }] },
    { env: { ANYGPT_HOME: folder.path } },
  );
  const plain = discoverySurface(engine);
  surface = {
    ...plain,
    run: (name, args, context) => {
      callers.push(context.caller);
      return plain.run(name, args, context);
    },
  };
  served = await serveGatewayOnHttp(engine, { port: 0, surface, hasProfile: (name) => name === 'team' });
});
afterAll(async () => {
  await served.close();
  await engine.close();
  downstream.closeAllConnections();
  await new Promise((resolve) => downstream.close(resolve));
  folder[Symbol.dispose]();
});

const create = (profile?: string) => tokens.create({ expiresAt: Date.now() + HOUR, ...(profile && { profile }) });
const bearer = (token: string) => ['Authorization', `Bearer ${token}`] as const;
const executing = (tool: string) => ({
  name: 'execute_tool',
  arguments: { server: 'noting', tool, arguments: {} },
});

async function connect(era: Era, token: string, path = '/mcp') {
  const client = sdkClient(era);
  const headers = { Authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(path, served.url), { requestInit: { headers } });
  await client.connect(transport as never);
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

/** One request of the new protocol, as a client sends it. */
const post = (token: string, params: object, headers: readonly (readonly [string, string])[] = []) =>
  ask(served.url, {
    method: 'POST',
    headers: [
      ...JSON_HEADERS,
      bearer(token),
      ['MCP-Protocol-Version', '2026-07-28'],
      ['Mcp-Method', 'tools/call'],
      ...(headers.some(([name]) => name === 'Mcp-Name') ? [] : [['Mcp-Name', 'execute_tool'] as const]),
      ...headers,
    ],
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });

describe.each(ERAS)('a %s client', (era) => {
  it('is its principal and profile in every call, with progress or without', async () => {
    for (const [profile, path] of [
      [undefined, '/mcp'],
      ['team', '/mcp'],
      [undefined, '/mcp/p/team'],
    ] as const) {
      const { text, token } = await create(profile);
      await using open = await connect(era, text, path);
      callers.length = 0;
      await open.client.callTool(executing('open'));
      await open.client.callTool(executing('open'), { onprogress: () => {} });
      const expected = { principal: token.id, profile: path === '/mcp' ? profile : 'team' };
      expect(callers.map(({ principal, profile }) => ({ principal, profile }))).toEqual([expected, expected]);
    }
  });

  it('sends its token to the gateway alone', async () => {
    const { text } = await create();
    await using open = await connect(era, text);
    journal.length = 0;
    await open.client.callTool(executing('open'));
    await open.client.callTool({ name: 'search_tools', arguments: { query: 'open' } });
    expect(journal.length).toBeGreaterThan(0);
    expect(JSON.stringify(journal)).not.toContain(text);
    for (const { headers } of journal) expect(headers.authorization).toBeUndefined();
    // Should it get into a text in another way, it is masked.
    expect(engine.redact(`token ${text}!`)).not.toContain(text.slice(16));
  });

  it('gets the refusal of a server as a result, not as a refusal of its own token', async () => {
    const { text } = await create();
    await using open = await connect(era, text);
    const result = await open.client.callTool(executing('locked'));
    expect([result.isError, jsonOf(result).error.code]).toEqual([true, 'SERVER_AUTH_REQUIRED']);
    expect((await open.client.callTool(executing('open'))).isError).toBeFalsy();
  });
});

describe('a plain call', () => {
  it('is answered as the SDK answers it', async () => {
    const { text } = await create();
    const plain = await post(text, { ...executing('open'), _meta: META });
    const bySdk = await post(text, { ...executing('open'), _meta: { ...META, progressToken: 1 } });
    expect([plain.status, plain.headers['content-type']]).toEqual([200, 'application/json']);
    const { result } = JSON.parse(plain.body);
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { a: 1 }, _meta: { own: true } });
    expect(result).toEqual(JSON.parse(/\{.*\}/.exec(bySdk.body)?.[0] ?? '').result);
  });

  it.each([
    ['another method in the header', {}, [['Mcp-Method', 'tools/list']]],
    ['another name in the header', {}, [['Mcp-Name', 'search_tools']]],
    ['another revision in the body', { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }, []],
    ['no capabilities', { 'io.modelcontextprotocol/clientCapabilities': undefined }, []],
  ] as const)('is refused with %s', async (_what, meta, headers) => {
    const { text } = await create();
    journal.length = 0;
    const { status } = await post(text, { ...executing('open'), _meta: { ...META, ...meta } }, headers);
    expect(status).toBe(400);
    expect(journal).toEqual([]);
  });

  it('is cancelled when its client leaves', async () => {
    const { text } = await create();
    callers.length = 0;
    const leaving = new AbortController();
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...executing('slow'), _meta: META } };
    const calling = fetch(served.url, {
      method: 'POST',
      signal: leaving.signal,
      headers: Object.fromEntries([
        ...JSON_HEADERS,
        bearer(text),
        ['MCP-Protocol-Version', '2026-07-28'],
        ['Mcp-Method', 'tools/call'],
        ['Mcp-Name', 'execute_tool'],
      ]),
      body: JSON.stringify(body),
    }).catch(() => undefined);
    await expect.poll(() => journal.some(({ body }) => body.includes('"slow"'))).toBe(true);
    leaving.abort();
    await calling;
    await expect.poll(() => journal.some(({ body }) => body.includes('notifications/cancelled'))).toBe(true);
    release();
  });
});

/** Opens a session and returns its header. */
const session = async (token: string) => {
  const opened = await ask(served.url, {
    method: 'POST',
    headers: [...JSON_HEADERS, bearer(token)],
    body: JSON.stringify(INITIALIZE),
  });
  return ['Mcp-Session-Id', String(opened.headers['mcp-session-id'])] as const;
};

describe('a plain call in a session', () => {
  const made = (method: string) => journal.filter(({ body }) => body.includes(`"${method}"`)).length;
  const start = async (tool: string, meta?: object) => {
    const { text } = await create();
    const own = await session(text);
    journal.length = 0;
    const send = (body: object, method = 'POST') =>
      ask(served.url, {
        method,
        headers: [...JSON_HEADERS, bearer(text), own],
        ...(method === 'POST' && { body: JSON.stringify({ jsonrpc: '2.0', ...body }) }),
      });
    const params = { ...executing(tool), ...(meta && { _meta: meta }) };
    return { own, send, answered: send({ id: 7, method: 'tools/call', params }) };
  };

  it('is answered as the SDK answers it', async () => {
    const plain = await start('open');
    const { status, headers, body } = await plain.answered;
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(headers['mcp-session-id']).toBe(plain.own[1]);
    const bySdk = await (await start('open', { progressToken: 1 })).answered;
    expect(JSON.parse(body)).toEqual(JSON.parse(/^data: (\{.*"id":7.*)$/m.exec(bySdk.body)?.[1] ?? ''));
  });

  it('that takes longer is made once, and its answer comes on a stream', async () => {
    const { answered } = await start('slow');
    await expect.poll(() => made('slow')).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, LIMITS.time.quickCall + 300));
    release();
    const { headers, body } = await answered;
    expect(headers['content-type']).toBe('text/event-stream');
    expect(JSON.parse(/^data: (\{.+)$/m.exec(body)?.[1] ?? '')).toMatchObject({
      id: 7,
      result: { _meta: { own: true } },
    });
    expect(made('slow')).toBe(1);
  });

  it.each([
    ['at once', 0],
    ['later', LIMITS.time.quickCall + 300],
  ])('is cancelled by its client, or with its session, %s', async (_, ms) => {
    for (const end of ['notification', 'session'] as const) {
      const { send, answered } = await start('slow');
      // A cancelled call on a stream gets no answer, and the stream ends with the session.
      answered.catch(() => {});
      await expect.poll(() => made('slow')).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, ms));
      if (end === 'notification') await send({ method: 'notifications/cancelled', params: { requestId: 7 } });
      else await send({}, 'DELETE');
      await expect.poll(() => made('notifications/cancelled')).toBe(1);
      release();
      await send({}, 'DELETE');
    }
  });
});

describe('a stream', () => {
  it('ends when the token of its client is revoked', async () => {
    const { text, token } = await create();
    const own = await session(text);
    let opened = false;
    const stream = fetch(served.url, {
      headers: Object.fromEntries([['Accept', 'text/event-stream'], bearer(text), own]),
    }).then(async (response) => {
      opened = response.status === 200;
      return response.text();
    });
    const ended = stream.then(
      () => true,
      () => true,
    );
    await expect.poll(() => opened).toBe(true);
    await tokens.revoke(token.id);
    expect(await ended).toBe(true);
  });

  it('that broke during a call is continued, and brings the result', async () => {
    const { text } = await create();
    const own = await session(text);
    journal.length = 0;
    const headers = Object.fromEntries([...JSON_HEADERS, bearer(text), own, ['MCP-Protocol-Version', '2025-11-25']]);
    const leaving = new AbortController();
    const response = await fetch(served.url, {
      method: 'POST',
      signal: leaving.signal,
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: executing('slow') }),
    });
    const reader = response.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    const [, id = ''] = /^id: (.*)$/m.exec(first) ?? [];
    expect(first).toMatch(/^retry: \d+$/m);
    await expect.poll(() => journal.some(({ body }) => body.includes('"slow"'))).toBe(true);
    leaving.abort();
    await reader?.read().catch(() => {});
    release();
    // Whether the answer came before the client is back, or comes after, the client gets it.
    const again = await fetch(served.url, {
      headers: { ...headers, Accept: 'text/event-stream', 'Last-Event-ID': id },
    });
    expect(again.status).toBe(200);
    expect(await again.text()).toMatch(/^data: .*"id":5/m);
    // Somebody else's events stay his own.
    const stranger = await ask(served.url, {
      headers: [['Accept', 'text/event-stream'], bearer((await create()).text), own, ['Last-Event-ID', id]],
    });
    expect(stranger.status).toBe(404);
  });
});

describe('TLS', () => {
  const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

  it.runIf(hasOpenssl)('is spoken with a certificate and its key', async () => {
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder.path, name)) as [string, string];
    const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', [...args, '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=localhost'], {
      stdio: 'ignore',
    });
    const tls = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
    const secure = await serveGatewayOnHttp(engine, { port: 0, surface, tls });
    const { protocol, port } = new URL(secure.url);
    const status = await new Promise((resolve, reject) => {
      const request = secureRequest({
        host: '127.0.0.1',
        port,
        path: '/healthz',
        ca: tls.cert,
        servername: 'localhost',
      });
      request.on('response', (response) => resolve(response.resume().statusCode));
      request.on('error', reject);
      request.end();
    });
    expect([protocol, status]).toEqual(['https:', 200]);
    await secure.close();
  });
});

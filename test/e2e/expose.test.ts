/**
 * `--expose`: one server shown as it is, over stdio and HTTP, to old and new clients; and the door of the HTTP gateway.
 * @module
 */
import { request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as Direct } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as DirectStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveArgs, serveHttp } from './gateway.ts';
import { RawGateway } from './raw-gateway.ts';
import { Sandbox } from './sandbox.ts';
import { everything, installed } from './servers.ts';

const config = { servers: [everything()], toolRules: [{ pattern: ['get-env'], enabled: false }] };

/** What the server shows when nobody stands in between. */
let direct: { tools: string[]; prompts: string[]; resources: string[]; templates: string[]; image: unknown };

beforeAll(async () => {
  const client = new Direct({ name: 'direct', version: '1' });
  await client.connect(
    new DirectStdio({ command: process.execPath, args: [installed('everything')], stderr: 'ignore' }),
  );
  direct = {
    tools: (await client.listTools()).tools.map(({ name }) => name),
    prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
    resources: (await client.listResources()).resources.map(({ uri }) => uri),
    templates: (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    image: (await client.callTool({ name: 'get-tiny-image' })).content,
  };
  await client.close();
});

describe.each([
  ['legacy', 'stdio'],
  ['legacy', 'http'],
  ['modern', 'stdio'],
  ['modern', 'http'],
] as const)('%s over %s', (era, transport) => {
  let sandbox: Sandbox;
  let client: Client;

  beforeAll(async () => {
    sandbox = new Sandbox();
    const file = sandbox.write(config);
    const args = ['--expose', 'everything'];
    client = new Client(
      { name: 'e2e', version: '1' },
      { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
    );
    await client.connect(
      transport === 'http'
        ? new StreamableHTTPClientTransport(await serveHttp(sandbox, file, ...args))
        : new StdioClientTransport({
            command: process.execPath,
            args: serveArgs(file, ...args),
            env: sandbox.env,
            stderr: sandbox.stderrFd as never,
          }),
    );
    sandbox.closeLater(() => client.close());
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  it('shows its tools under their own names, without the disabled one', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(direct.tools.filter((name) => name !== 'get-env'));
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      title: 'Echo Tool',
      annotations: expect.anything(),
    });
  });

  it('calls them, and refuses the disabled and the unknown', async () => {
    expect((await client.callTool({ name: 'echo', arguments: { message: 'hi' } })).content).toEqual([
      { type: 'text', text: 'Echo: hi' },
    ]);
    expect((await client.callTool({ name: 'get-tiny-image', arguments: {} })).content).toEqual(direct.image);
    const disabled = await client.callTool({ name: 'get-env', arguments: {} });
    expect(disabled.isError).toBe(true);
    expect(JSON.stringify(disabled.content)).toContain('TOOL_DISABLED');
    expect(JSON.stringify(disabled)).not.toContain(sandbox.canary);
    await expect(client.callTool({ name: 'no-such-tool', arguments: {} })).rejects.toMatchObject({ code: -32602 });
  });

  it('shows its prompts, resources and templates', async () => {
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(direct.prompts);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(direct.resources);
    expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(
      direct.templates,
    );
    const [uri] = direct.resources;
    expect((await client.readResource({ uri: String(uri) })).contents).toEqual([expect.objectContaining({ uri })]);
    const prompt = await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Bern', state: 'BE' } });
    expect(JSON.stringify(prompt.messages)).toContain('Bern');
  });

  it('hears progress', async () => {
    const heard: number[] = [];
    const params = { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } };
    await client.callTool(params, { onprogress: ({ progress }) => heard.push(progress) });
    expect(heard.length).toBeGreaterThan(0);
    expect(heard).toEqual([...heard].sort());
  });
});

describe('a server that is not there', () => {
  it('is an error at start, with exit code 2', async () => {
    await using sandbox = new Sandbox();
    const gateway = new RawGateway(sandbox, sandbox.write(config), '--expose', 'everythin');
    expect((await gateway.exited).code).toBe(2);
    expect(gateway.stderr).toContain('everything');
    expect(gateway.lines).toEqual([]);
  });
});

describe('the door of the HTTP gateway', () => {
  let sandbox: Sandbox;
  let url: URL;
  beforeAll(async () => {
    sandbox = new Sandbox();
    url = await serveHttp(sandbox, sandbox.write({ servers: [] }));
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  const knock = (headers: Record<string, string>, { method = 'POST', path = '/mcp' } = {}) =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const body = method === 'POST' ? JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) : '';
      const knocking = request(
        {
          host: url.hostname,
          port: url.port,
          path,
          method,
          headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => {
            text += chunk.toString();
          });
          response.on('end', () => resolve({ status: response.statusCode, body: text }));
        },
      );
      knocking.on('error', reject);
      knocking.end(body);
    });

  it.each([
    ['another host', { host: 'evil.example' }],
    ['a host that looks like ours', { host: '127.0.0.1.evil.example' }],
    ['a host with user info', { host: 'localhost@evil.example' }],
    ['another origin', { origin: 'http://evil.example' }],
    ['an origin that looks like ours', { origin: 'http://localhost.evil.example' }],
    ['the null origin', { origin: 'null' }],
  ])('%s is refused on every path and method', async (_what, headers) => {
    for (const where of [{}, { method: 'GET' }, { method: 'OPTIONS' }, { path: '/' }, { path: '/health' }])
      expect(await knock(headers, where)).toMatchObject({ status: 403 });
  });

  it('this machine may come in', async () => {
    for (const headers of [{}, { host: `localhost:${url.port}` }, { origin: `http://localhost:${url.port}` }])
      expect((await knock(headers)).status).not.toBe(403);
    expect((await knock({}, { path: '/nothing' })).status).toBe(404);
  });

  it.each([
    ['no JSON', '{"jsonrpc"', {}, 400],
    ['the wrong content type', '{}', { 'content-type': 'text/plain' }, 415],
    ['20,000 nested arrays', `${'['.repeat(20_000)}${']'.repeat(20_000)}`, {}, 400],
    ['a session that never was', '{"jsonrpc":"2.0","id":1,"method":"ping"}', { 'mcp-session-id': 'x' }, 404],
  ])('%s is refused, without a stack trace', async (_what, body, headers, status) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body,
    });
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status, text: expect.not.stringMatching(/\n\s+at /) });
  });

  it('a body of 20 MB is refused, or cut off while it is still being sent', async () => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const outcome = await fetch(url, { method: 'POST', headers, body: `"${'x'.repeat(20e6)}"` }).then(
      ({ status }) => status,
      ({ cause }: Error) => (cause as NodeJS.ErrnoException).code,
    );
    expect([413, 'EPIPE', 'ECONNRESET', 'UND_ERR_SOCKET']).toContain(outcome);
    expect((await knock({}, { path: '/nothing' })).status).toBe(404);
  });
});

/**
 * What a relay must not lose, in every combination of the client's and the server's protocol era.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type Era,
  engineWith,
  rawClient,
  sdkClient,
  streamTransport,
  tempFolder,
  textOf,
} from '../../test/fixtures/gateway/kit.ts';
import { discoverySurface } from './discovery-surface.ts';
import { exposedSurface, serveGatewayOnHttp, serveGatewayOnStdio } from './index.ts';

const SCRIPT = fileURLToPath(new URL('../../test/fixtures/relay-server.mjs', import.meta.url));
const ELICITS = { elicitation: { form: {} } };
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

let home: ReturnType<typeof tempFolder>;
beforeEach(() => {
  home = tempFolder();
});
afterEach(() => home[Symbol.dispose]());

const file = () => join(home.path, 'journal');
const journal = (): [method: string, params: Record<string, unknown>][] =>
  existsSync(file())
    ? readFileSync(file(), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
const askedFor = (method: string) => journal().filter(([one]) => one === method);

const engineOf = (server: Era) =>
  engineWith({
    servers: [
      {
        name: 'shown',
        connection: { type: 'stdio', command: process.execPath, args: [SCRIPT, file(), `--${server}-only`] },
      },
    ],
  });

type Transport = 'stdio' | 'HTTP';
interface Setup {
  readonly client: Era;
  readonly server: Era;
  readonly transport?: Transport;
  readonly capabilities?: Record<string, unknown>;
  readonly prepare?: (client: Client) => void;
}

async function relayed({ client: era, server, transport = 'stdio', capabilities = {}, prepare }: Setup) {
  const engine = engineOf(server);
  const client = sdkClient(era, capabilities);
  prepare?.(client);
  const surface = exposedSurface(engine, 'shown');
  if (transport === 'HTTP') {
    const served = await serveGatewayOnHttp(engine, { port: 0, surface });
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url)) as never);
    const close = () => client.close().then(() => served.close());
    return { client, [Symbol.asyncDispose]: () => close().then(() => engine.close()) };
  }
  const { input, output } = rawClient();
  const served = serveGatewayOnStdio(engine, { input, output, surface });
  await client.connect(streamTransport(input, output) as never);
  return { client, [Symbol.asyncDispose]: () => served.close().then(() => engine.close()) };
}

const answering = (client: Client) =>
  void client.setRequestHandler('elicitation/create', async () => ({
    action: 'accept' as const,
    content: { name: 'Ada' },
  }));

const eras: readonly Era[] = ['legacy', 'modern'];
const cells = eras.flatMap((client) =>
  eras.flatMap((server) => (['stdio', 'HTTP'] as const).map((transport) => ({ client, server, transport }))),
);

describe.each(cells)('a $client client over $transport of a $server server', (cell) => {
  it("sees the server's own tools in the server's order, and those for its capabilities", async () => {
    {
      await using plain = await relayed(cell);
      const names = (await plain.client.listTools()).tools.map(({ name }) => name);
      expect(names.slice(0, 3)).toEqual(['zebra', 'ask', 'change']);
      expect(names).not.toContain('elicits');
    }
    await using able = await relayed({ ...cell, capabilities: ELICITS, prepare: answering });
    expect((await able.client.listTools()).tools.map(({ name }) => name)).toContain('elicits');
    expect(textOf(await able.client.callTool({ name: 'elicits', arguments: {} }))).toBe('hello Ada');
  });

  it('is told only what is relayed', async () => {
    await using open = await relayed(cell);
    const capabilities = open.client.getServerCapabilities() ?? {};
    expect(Object.keys(capabilities).sort()).toEqual(['logging', 'prompts', 'resources', 'tools']);
    expect(capabilities.resources).toEqual({ listChanged: true, subscribe: true });
  });

  it('is asked inside resources/read and prompts/get', async () => {
    await using open = await relayed({ ...cell, capabilities: ELICITS, prepare: answering });
    const { contents } = await open.client.readResource({ uri: 'relay://asks' });
    expect(contents).toEqual([{ uri: 'relay://asks', text: 'hello Ada' }]);
    const { messages } = await open.client.getPrompt({ name: 'greet' });
    expect(messages[0]?.content).toMatchObject({ text: 'hello Ada' });
  });

  it('hears of changed tools, prompts and resources during a call', async () => {
    await using open = await relayed(cell);
    const { client } = open;
    const heard = new Set<string>();
    for (const what of ['tools', 'prompts', 'resources'] as const)
      client.setNotificationHandler(`notifications/${what}/list_changed`, () => void heard.add(what));
    if (cell.client === 'modern')
      await client.listen({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true });
    await expect
      .poll(
        async () => {
          await client.callTool({ name: 'change', arguments: {} });
          return [...heard].sort();
        },
        { timeout: 10_000, interval: 200 },
      )
      .toEqual(['prompts', 'resources', 'tools']);
  });

  it('hears log messages during a call at the level it has set, and a modern client that set none hears nothing', async () => {
    await using open = await relayed(cell);
    const { client } = open;
    const heard: unknown[] = [];
    client.setNotificationHandler('notifications/message', ({ params }) => void heard.push(params.level));
    const call = (meta?: object) =>
      client.callTool({ name: 'log', arguments: {}, ...(meta && { _meta: meta }) } as never);
    if (cell.client === 'modern') {
      await call();
      expect(heard).toEqual([]);
      await call({ [LOG_LEVEL]: 'info' });
      await expect.poll(() => heard).toEqual(['info', 'error']);
    } else {
      await client.setLoggingLevel('error');
      await call();
      await expect.poll(() => heard).toContain('error');
    }
    expect(askedFor('wanted').at(-1)?.[1]).toEqual({ level: cell.client === 'modern' ? 'info' : 'error' });
  });

  it('sends an explicit null', async () => {
    await using open = await relayed(cell);
    const result = await open.client.callTool({ name: 'nullable', arguments: { value: null } });
    expect(textOf(result)).toBe('{"value":null}');
  });
});

describe('a client of an exposed server', () => {
  it.each(eras.flatMap((client) => eras.map((server) => ({ client, server }))))(
    'starts one process, whatever it does: $client, of a $server server',
    async (cell) => {
      await using open = await relayed({ ...cell, capabilities: ELICITS, prepare: answering });
      const { client } = open;
      await client.listTools();
      await Promise.all([
        client.callTool({ name: 'ask', arguments: {} }),
        client.listPrompts(),
        client.listResources(),
      ]);
      await client.readResource({ uri: 'relay://plain' });
      await client.callTool({ name: 'change', arguments: {} });
      await client.listTools();
      expect(askedFor('start')).toHaveLength(1);
    },
  );

  it('starts one process over HTTP, too, if it is legacy', async () => {
    await using open = await relayed({ client: 'legacy', server: 'legacy', transport: 'HTTP', capabilities: ELICITS });
    await open.client.listTools();
    await open.client.callTool({ name: 'change', arguments: {} });
    await open.client.listPrompts();
    expect(askedFor('start')).toHaveLength(1);
  });

  it('gets an error of JSON-RPC for a tampered requestState', async () => {
    for (const server of eras) {
      await using open = await relayed({ client: 'modern', server, capabilities: ELICITS });
      const { client } = open;
      const params = { name: 'ask', arguments: {} };
      const asked = (await client.callTool(params, { allowInputRequired: true })) as unknown as Record<string, unknown>;
      expect(asked.resultType).toBe('input_required');
      const inputResponses = { [Object.keys(asked.inputRequests as object)[0] as string]: { action: 'decline' } };
      const requestState = `${String(asked.requestState)}x`;
      await expect(
        client.callTool({ ...params, inputResponses, requestState } as never, { allowInputRequired: true }),
      ).rejects.toMatchObject({ code: -32602 });
    }
  });

  it('cannot use tasks, which are not announced', async () => {
    await using open = await relayed({ client: 'legacy', server: 'legacy' });
    await expect(open.client.request({ method: 'tasks/list' }, z.looseObject({}))).rejects.toMatchObject({
      code: -32601,
    });
    expect(askedFor('tasks/list')).toEqual([]);
  });
});

describe('the headers of a tool that asks for some, over HTTP', () => {
  it.each([
    ['no header', {}, 400],
    ['another value', { 'mcp-param-region': 'north' }, 400],
    ['broken Base64', { 'mcp-param-region': '=?base64?%%?=' }, 400],
    ['the value of the argument', { 'mcp-param-region': 'south' }, 200],
    ['the value in Base64', { 'mcp-param-region': '=?base64?c291dGg=?=' }, 200],
  ])('%s: status %3$i', async (_what, headers, status) => {
    await using engine = engineOf('modern');
    const served = await serveGatewayOnHttp(engine, { port: 0, surface: exposedSurface(engine, 'shown') });
    const version = '2026-07-28';
    const response = await fetch(served.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': version,
        'mcp-method': 'tools/call',
        'mcp-name': 'region',
        ...headers,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'region',
          arguments: { region: 'south' },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': version,
            'io.modelcontextprotocol/clientCapabilities': {},
            'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
          },
        },
      }),
    });
    const body = await response.text();
    await served.close();
    expect({ status: response.status, body }).toEqual({
      status,
      body: status === 400 ? expect.stringContaining('-32020') : expect.stringContaining('region is done'),
    });
  });
});

describe('behind the five tools', () => {
  it('a resource link of a result can be followed', async () => {
    await using engine = engineOf('legacy');
    const client = sdkClient('legacy');
    const { input, output } = rawClient();
    const served = serveGatewayOnStdio(engine, { input, output, surface: discoverySurface(engine) });
    await client.connect(streamTransport(input, output) as never);
    const execute = (server: string, tool: string, args: object) =>
      client.callTool({ name: 'execute_tool', arguments: { server, tool, arguments: args } });
    const { content } = await execute('shown', 'link', {});
    const [{ uri }] = content as unknown as [{ uri: string }];
    expect(textOf(await execute('anygpt', 'read_resource', { server: 'shown', uri }))).toBe('this is relay://linked');
    await served.close();
  });

  it('a null for an argument that has to be there is refused', async () => {
    await using engine = engineOf('legacy');
    const result = await engine.call({
      server: 'anygpt',
      tool: 'read_resource',
      arguments: { server: null, uri: null },
    });
    expect(result).toMatchObject({ success: false, error: { code: 'TOOL_VALIDATION_ERROR' } });
  });
});

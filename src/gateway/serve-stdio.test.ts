import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { script } from '../../test/fixtures/connections/harness.ts';
import {
  type Era,
  engineWith,
  jsonOf,
  rawClient,
  sdkClient,
  streamTransport,
  textOf,
} from '../../test/fixtures/gateway/kit.ts';
import type { StdioConnection } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { META_TOOL_NAMES } from '../meta-tools/meta-tools.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { serveGatewayOnStdio } from './index.ts';

const { command, args } = script('eliciting.mjs').connection as StdioConnection;
const ELICITING = {
  name: 'asker',
  connection: { type: 'stdio', command, args },
  tools: [{ name: 'ask', inputSchema: { type: 'object' } }],
};

let server: TestServer;
let engine: EngineCore;

beforeAll(async () => {
  server = await startTestServer({
    tools: {
      echo: { description: 'Say it again', call: (args) => JSON.stringify(args) },
      slow: {
        call: async (_args, { progress, signal }) => {
          await progress(1, 2);
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          return 'aborted';
        },
      },
    },
  });
  engine = engineWith({ servers: [{ name: 'echo', connection: server.connection }, ELICITING] });
});
afterAll(async () => {
  await engine.close();
  await server.close();
});

async function connect(era: Era, capabilities: Record<string, unknown> = {}, on: EngineCore = engine) {
  const { input, output } = rawClient();
  const served = serveGatewayOnStdio(on, { input, output });
  const client = sdkClient(era, capabilities);
  await client.connect(streamTransport(input, output) as never);
  return { client, served, [Symbol.asyncDispose]: () => served.close() };
}

describe.each<Era>(['legacy', 'modern'])('a %s client on stdio', (era) => {
  it('sees the five tools, in order, under our name', async () => {
    await using open = await connect(era);
    const { tools } = await open.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...META_TOOL_NAMES]);
    expect(tools[0]?.description).toContain('asker, echo');
    expect(open.client.getServerVersion()).toMatchObject({ name: '@anygpt/discovery' });
    expect(open.client.getInstructions()).toContain('search_tools');
  });

  it('searches and calls', async () => {
    await using open = await connect(era);
    const found = await open.client.callTool({ name: 'search_tools', arguments: { query: 'say it again' } });
    expect(jsonOf(found).results[0]).toMatchObject({ server: 'echo', tool: 'echo' });
    const said = await open.client.callTool({
      name: 'execute_tool',
      arguments: { server: 'echo', tool: 'echo', arguments: { a: 1 } },
    });
    expect(said.content).toEqual([{ type: 'text', text: '{"a":1}' }]);
  });

  it('receives progress and can cancel', async () => {
    await using open = await connect(era);
    const stop = new AbortController();
    const notes: unknown[] = [];
    const call = open.client.callTool(
      { name: 'execute_tool', arguments: { server: 'echo', tool: 'slow', arguments: {} } },
      {
        signal: stop.signal,
        onprogress: (note) => {
          notes.push(note);
          stop.abort();
        },
      },
    );
    await expect(call).rejects.toThrow();
    expect(notes).toEqual([{ progress: 1, total: 2 }]);
  });

  it('is asked what a server behind us asks, and its answer arrives there', async () => {
    await using open = await connect(era, { elicitation: {} });
    open.client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: 'accept' as const,
      content: { said: (params as { message: string }).message },
    }));
    const result = await open.client.callTool({
      name: 'execute_tool',
      arguments: { server: 'asker', tool: 'ask', arguments: { marker: 'm1' } },
    });
    expect(result.structuredContent).toMatchObject({
      marker: 'm1',
      answer: { action: 'accept', content: { said: 'm1' } },
    });
  });

  it('without elicitation is not asked, and the server is told', async () => {
    await using open = await connect(era);
    const result = await open.client.callTool({
      name: 'execute_tool',
      arguments: { server: 'asker', tool: 'ask', arguments: { marker: 'm2' } },
    });
    expect(result.structuredContent).toMatchObject({ answer: { refused: expect.any(String) } });
  });
});

describe('serveGatewayOnStdio', () => {
  it('tells its client of a reload, and names the new servers then', async () => {
    const servers = [{ name: 'one', connection: server.connection }];
    await using own = engineWith({ servers });
    const { input, output } = rawClient();
    const served = serveGatewayOnStdio(own, { input, output });
    const client = sdkClient('legacy');
    const changed = new Promise((resolve) =>
      client.setNotificationHandler('notifications/tools/list_changed', resolve),
    );
    await client.connect(streamTransport(input, output) as never);
    servers.push({ name: 'two', connection: server.connection });
    await own.reload();
    await changed;
    expect((await client.listTools()).tools[0]?.description).toContain(' in one, two');
    await served.close();
  });

  it('settles once the client has disconnected, and leaves the engine open', async () => {
    const { client, served } = await connect('legacy');
    await client.close();
    await served.closed;
    await served.close();
    expect(await engine.serverNames()).toEqual(['echo', 'asker']);
  });

  it('serves calls that the lane leaves to the SDK, too', async () => {
    const client = rawClient();
    const served = serveGatewayOnStdio(engine, client);
    await client.ask(0, 'initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '0' },
    });
    // A name that is no string is not for the lane.
    expect((await client.ask(1, 'tools/call', { name: 7 })).error?.code).toBe(-32602);
    expect((await client.ask(2, 'ping')).result).toEqual({});
    expect(textOf((await client.ask(3, 'tools/call', { name: 'list_mcp_servers' })).result ?? {})).toContain('"asker"');
    await served.close();
  });

  it('serves on one socket that is both input and output', async () => {
    const listener = createServer((socket) => {
      const served = serveGatewayOnStdio(engine, { input: socket, output: socket });
      void served.closed.then(() => served.close());
    }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const socket = createConnection((listener.address() as AddressInfo).port, '127.0.0.1');
    const client = sdkClient('legacy');
    await client.connect(streamTransport(socket, socket) as never);
    const said = {
      name: 'execute_tool',
      arguments: { server: 'echo', tool: 'echo', arguments: { text: 'x'.repeat(1e6) } },
    };
    expect(textOf(await client.callTool(said))).toBe(JSON.stringify(said.arguments.arguments));
    socket.destroy();
    listener.close();
  });
});

import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as InMemoryTransport1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as McpServer1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolProvider } from '../core/tool-provider.ts';
import { META_TOOL_NAMES } from '../meta-tools/meta-tools.ts';
import { ToolRegistry, withRequestProviders } from '../registry.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import type { EngineAttachOptions } from './attach-engine.ts';
import { DiscoveryEngine } from './discovery-engine.ts';

const INFO = { name: 'test', version: '1' };
let far: TestServer;
let engine: DiscoveryEngine;
const registry = new ToolRegistry();
registry.registerTool(
  { name: 'whose', description: 'Say whose request this is' },
  (_args, { request }) => `of ${request?.header('x-user') ?? 'nobody'}`,
);

beforeAll(async () => {
  far = await startTestServer({ tools: { greet: { description: 'Greet somebody', call: () => 'Hello' } } });
  engine = new DiscoveryEngine({ servers: [{ name: 'far', connection: far.connection }], providers: [registry] });
});
afterAll(async () => {
  await engine.close();
  await far.close();
});

/** A client of a server that has one tool of its own and the engine's. */
async function attached(version: 1 | 2, options?: EngineAttachOptions, of = engine) {
  const server = version === 2 ? new McpServer(INFO) : new McpServer1(INFO);
  (server as McpServer).registerTool('ping', { description: 'Answer' }, () => ({
    content: [{ type: 'text', text: 'pong' }],
  }));
  of.attach(server, options);
  const client = version === 2 ? new Client(INFO) : new Client1(INFO);
  const [a, b] = (version === 2 ? InMemoryTransport : InMemoryTransport1).createLinkedPair();
  await Promise.all([server.connect(a as never), client.connect(b as never)]);
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  const call = async (name: string, args = {}) => JSON.stringify(await client.callTool({ name, arguments: args }));
  return { client, names, call, [Symbol.asyncDispose]: () => client.close() };
}

describe.each([1, 2] as const)('an engine attached to a server of the SDK, version %i', (version) => {
  it('offers the meta-tools beside the server’s own tools, and answers them', async () => {
    await using open = await attached(version);
    expect(await open.names()).toEqual(['ping', ...META_TOOL_NAMES]);
    expect(await open.call('ping')).toContain('pong');
    expect(await open.call('search_tools', { query: 'greet' })).toContain('far');
    expect(await open.call('execute_tool', { server: 'far', tool: 'greet', arguments: {} })).toContain('Hello');
    expect(await open.call('execute_tool', { server: 'own', tool: 'whose', arguments: {} })).toContain('of nobody');
  });

  it('offers all tools in mode all', async () => {
    await using open = await attached(version, { mode: 'all' });
    expect(await open.names()).toEqual(['ping', 'far__greet', 'whose']);
    expect(await open.call('far__greet')).toContain('Hello');
    expect(await open.call('whose')).toContain('of nobody');
  });

  it('waits in mode search for the lists of own tools that are to be shown', async () => {
    const slow = new ToolRegistry();
    slow.registerTool({ name: 'late', description: 'Is listed late', visible: true }, () => 'late');
    const provider: ToolProvider = {
      listToolMetadata: () => new Promise((resolve) => setTimeout(resolve, 50, slow.listToolMetadata())),
      getTool: (name) => slow.getTool(name),
      callTool: (...call) => slow.callTool(...call),
    };
    await using own = new DiscoveryEngine({ providers: [provider] });
    await using open = await attached(version, { mode: 'search' }, own);
    expect(await open.names()).toEqual(['ping', ...META_TOOL_NAMES, 'late']);
  });

  it('keeps the tools of a request to that request', async () => {
    const own = new ToolRegistry();
    own.registerTool({ name: 'read_diary', description: 'Read the diary' }, () => 'dear diary');
    await using hers = await attached(version, { mode: 'all', providersFor: () => own });
    await using his = await attached(version, { mode: 'all' });
    expect(await hers.names()).toContain('read_diary');
    expect(await hers.call('read_diary')).toContain('dear diary');
    expect(await hers.call('search_tools', { query: 'diary' })).toContain('read_diary');
    expect(await hers.call('get_tool_details', { server: 'request', tool: 'read_diary' })).toContain('diary');
    expect(await his.names()).not.toContain('read_diary');
    expect(await his.call('search_tools', { query: 'diary' })).not.toContain('read_diary');
    const refused = await his.call('execute_tool', { server: 'request', tool: 'read_diary', arguments: {} });
    expect(refused).toContain('SERVER_NOT_FOUND');
    expect(await his.call('get_tool_details', { server: 'request', tool: 'read_diary' })).toContain('SERVER_NOT_FOUND');
  });

  it('tells clients that see all tools when one is registered', async () => {
    const changing = new ToolRegistry();
    await using small = new DiscoveryEngine({ providers: [changing] });
    await using open = await attached(version, { mode: 'all' }, small);
    expect(await open.names()).toEqual(['ping']);
    const told = new Promise((resolve) => {
      open.client.fallbackNotificationHandler = async (notification: object) => resolve(notification);
    });
    changing.registerTool({ name: 'late', description: 'Registered late' }, () => 'late');
    await told;
    expect(await open.names()).toEqual(['ping', 'late']);
  });
});

it('an engine attaches to a server once, and refuses unknown options', () => {
  const server = new McpServer(INFO);
  engine.attach(server);
  expect(() => engine.attach(server)).toThrow('already has');
  expect(() => engine.attach(new McpServer(INFO), { mode: 'hidden' as 'all' })).toThrow("mode must be 'search'");
});

it('two requests at the same time see only their own tools', async () => {
  const toolsOf = (user: string) => {
    const own = new ToolRegistry();
    own.registerTool({ name: `notes_of_${user}`, description: 'Read my notes' }, () => `notes of ${user}`);
    return own;
  };
  const users = Array.from({ length: 20 }, (_, n) => `user${n}`);
  const seen = await Promise.all(
    users.map((user) =>
      withRequestProviders(toolsOf(user), async () => {
        const hits = await engine.searchTools('read my notes', { limit: 50 });
        const mine = await engine.executeTool('request', `notes_of_${user}`);
        const others = await engine.executeTool('request', 'notes_of_somebody');
        return { names: hits.map(({ tool }) => tool).filter((tool) => tool.startsWith('notes')), mine, others };
      }),
    ),
  );
  for (const [n, { names, mine, others }] of seen.entries()) {
    expect(names).toEqual([`notes_of_user${n}`]);
    expect(mine).toMatchObject({ result: { content: [{ text: `notes of user${n}` }] } });
    expect(others).toMatchObject({ error: { code: 'TOOL_NOT_FOUND' } });
  }
});

/**
 * The acceptance criteria of "Tool Discovery & Registration", one by one, against real servers.
 */
import { describe, expect, it } from 'vitest';
import { entry, folder, memoryLog, sample } from '../../../test/fixtures/engine.ts';
import { evil } from '../../../test/fixtures/evil.ts';
import { EngineCore as DiscoveryEngine } from '../../engine/engine-core.ts';
import { serversFromEnv, UnifiedToolRegistry, type UnifiedToolRegistryOptions } from '../../registry.ts';
import { startTestServer } from '../../testing/index.ts';

const FIVE_MINUTES = 5 * 60_000;

/** A time that stands still until it is moved. */
const clock = () => {
  let time = 1_000_000;
  return {
    now: () => time,
    pass: (ms: number) => {
      time += ms;
    },
  };
};

const search = { search: { description: 'Searches the web', call: () => 'found' } };
const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);
const world = (options: UnifiedToolRegistryOptions = {}): UnifiedToolRegistryOptions => ({
  ...options,
  env: { PATH: process.env.PATH, HOME: '/nonexistent', ...options.env },
});

describe('AC1: enabled servers are registered but not connected', () => {
  it('starts no process and sends no request before a tool is needed', async () => {
    using child = evil({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
    let requests = 0;
    const counting: typeof fetch = (...request) => {
      requests++;
      return fetch(...request);
    };
    await using remote = await startTestServer({ tools: search });
    using home = folder();
    await using engine = new DiscoveryEngine(
      { servers: [entry('local', child), { name: 'remote', connection: remote.connection }] as never },
      { env: { PATH: process.env.PATH, ANYGPT_HOME: home.path }, fetch: counting },
    );
    await using registry = new UnifiedToolRegistry({ servers: engine });

    expect(await engine.serverNames()).toEqual(['local', 'remote']);
    expect(registry.getToolDefinitions()).toEqual([]);
    expect(registry.isDiscoveryStale('local')).toBe(true);
    expect(child.journal()).toEqual([]);
    expect(requests).toBe(0);

    expect(await registry.discoverAllTools('trace-1')).toEqual({ success: true, data: { registered: 2 } });
    expect(child.received('tools/list')).toHaveLength(1);
    expect(requests).toBeGreaterThan(0);
  });

  it('does not even make an engine for entries before one is needed', async () => {
    using child = evil({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
    const log = memoryLog();
    await using registry = new UnifiedToolRegistry(world({ servers: [entry('local', child)] as never, logger: log }));
    registry.registerStaticTool('ping', () => 'pong', { description: 'Answers' });
    expect(await registry.callTool('ping')).toMatchObject({ data: { content: [{ text: 'pong' }] } });
    expect(child.journal()).toEqual([]);
    expect(log.lines).toEqual([]);
  });
});

describe('AC2: discovery runs when tools are first needed and holds for five minutes', () => {
  it('discovers a server with the first call to one of its tools', async () => {
    using child = evil({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
    await using registry = new UnifiedToolRegistry(world({ servers: [entry('local', child)] as never }));
    expect(await registry.callTool('local__echo', {})).toMatchObject({ success: true });
    expect(child.received('tools/list')).toHaveLength(1);
    expect(names(registry.getToolDefinitions())).toEqual(['local__echo']);
    expect(registry.isDiscoveryStale('local')).toBe(false);
  });

  it('reads a list again after five minutes and not before', async () => {
    using child = evil({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
    const time = clock();
    await using registry = new UnifiedToolRegistry(world({ servers: [entry('local', child)] as never, now: time.now }));
    await registry.discoverAllTools('trace-1');
    time.pass(FIVE_MINUTES - 1);
    expect(registry.isDiscoveryStale('local')).toBe(false);
    await registry.discoverAllTools('trace-2');
    expect(child.received('tools/list')).toHaveLength(1);
    time.pass(1);
    expect(registry.isDiscoveryStale('local')).toBe(true);
    await registry.discoverAllTools('trace-3');
    expect(child.received('tools/list')).toHaveLength(2);
    expect(registry.isDiscoveryStale('local')).toBe(false);
  });
});

describe('AC3: getToolDefinitions returns static and MCP tools, merged, in Anthropic format', () => {
  it('sorts them by name and gives each name, description and input_schema', async () => {
    await using server = await startTestServer({
      tools: {
        search: {
          description: 'Searches the web',
          inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
          call: () => 'found',
        },
      },
    });
    const servers = [
      { name: 'rube', connection: server.connection },
      { name: 'alpha', connection: server.connection },
    ];
    await using registry = new UnifiedToolRegistry(world({ servers }));
    registry.registerStaticTool('get_time', () => 'noon', {
      description: 'Tells the time',
      input_schema: { type: 'object', properties: {} },
    });
    expect(await registry.discoverAllTools('trace-1')).toEqual({ success: true, data: { registered: 2 } });
    const searchTool = (name: string) => ({
      name,
      description: 'Searches the web',
      input_schema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    });
    expect(registry.getToolDefinitions()).toEqual([
      searchTool('alpha__search'),
      { name: 'get_time', description: 'Tells the time', input_schema: { type: 'object', properties: {} } },
      searchTool('rube__search'),
    ]);
    expect(registry.getToolsForClaude()).toEqual(registry.getToolDefinitions());
  });
});

describe('AC4: a name with a server__ prefix is routed to the right server', () => {
  it('calls the tool on the server that the name says', async () => {
    await using one = await startTestServer({ tools: { whoami: { call: () => 'one' } } });
    await using two = await startTestServer({ tools: { whoami: { call: () => 'two' } } });
    const servers = [
      { name: 'one', connection: one.connection },
      { name: 'two', connection: two.connection },
    ];
    await using registry = new UnifiedToolRegistry(world({ servers }));
    await registry.discoverAllTools('trace-1');
    expect(await registry.callTool('two__whoami', {}, { traceId: 'trace-1' })).toEqual({
      success: true,
      data: { content: [{ type: 'text', text: 'two' }] },
    });
    expect([one.calls.length, two.calls.length]).toEqual([0, 1]);
    expect(registry.getMcpTool('two__whoami')).toMatchObject({ serverName: 'two', originalName: 'whoami' });
    expect(registry.parseToolName('two__whoami')).toEqual({
      success: true,
      data: { serverName: 'two', toolName: 'whoami' },
    });
  });

  it('routes to a real child process', async () => {
    await using registry = new UnifiedToolRegistry(world({ servers: [entry('units', sample('units'))] as never }));
    expect(await registry.callTool('units__convert_length', { value: 1, from: 'km', to: 'm' })).toMatchObject({
      success: true,
      data: { structuredContent: { value: 1000, unit: 'm' } },
    });
  });
});

describe('AC5: when a server becomes unavailable its cached tools remain', () => {
  it('returns a failure that names the server, and keeps what was known', async () => {
    const time = clock();
    const server = await startTestServer({ tools: search });
    await using steady = await startTestServer({ tools: { echo: { call: () => 'e' } } });
    const servers = [
      { name: 'rube', connection: server.connection },
      { name: 'steady', connection: steady.connection },
    ];
    await using registry = new UnifiedToolRegistry(world({ servers, now: time.now }));
    expect(await registry.discoverAllTools('trace-1')).toMatchObject({ success: true });
    await server.close();
    steady.setTools({ echo: { call: () => 'e' }, more: { call: () => 'm' } });
    time.pass(FIVE_MINUTES);

    expect(await registry.discoverAllTools('trace-2')).toMatchObject({
      success: false,
      error: {
        code: 'TOOL_UNAVAILABLE',
        retryable: true,
        message: expect.stringContaining('rube'),
        details: { code: 'SERVER_CONNECTION_ERROR', server: 'rube' },
        failures: [{ server: 'rube' }],
      },
    });
    expect(names(registry.getToolDefinitions())).toEqual(['rube__search', 'steady__echo', 'steady__more']);
    expect(registry.isDiscoveryStale('rube')).toBe(true);
    expect(registry.isDiscoveryStale('steady')).toBe(false);
  });
});

describe('AC6: a disabled server loses its tools on the next refresh', () => {
  it('by the environment, whatever is still fresh, and gets them back', async () => {
    await using server = await startTestServer({ tools: search });
    const env: Record<string, string | undefined> = { HOME: '/nonexistent', RUBE_MCP_URL: server.url };
    const log = memoryLog();
    await using registry = new UnifiedToolRegistry({ servers: serversFromEnv(['rube'], env), env, logger: log });
    await registry.discoverAllTools('trace-1');
    expect(names(registry.getToolDefinitions())).toEqual(['rube__search']);

    env.RUBE_MCP_ENABLED = 'false';
    expect(names(registry.getToolDefinitions())).toEqual(['rube__search']);
    expect(await registry.discoverAllTools('trace-2')).toEqual({ success: true, data: { registered: 0 } });
    expect(registry.getToolDefinitions()).toEqual([]);
    expect(log.lines.some((line) => line.includes('tools.registry.server.removed'))).toBe(true);
    expect(await registry.callTool('rube__search', {})).toMatchObject({ success: false });
    expect(server.calls).toEqual([]);

    env.RUBE_MCP_ENABLED = 'true';
    await registry.discoverAllTools('trace-3');
    expect(names(registry.getToolDefinitions())).toEqual(['rube__search']);
  });

  it('by the configuration of an engine that is reloaded', async () => {
    await using server = await startTestServer({ tools: search });
    using home = folder();
    const rube = { name: 'rube', enabled: true, connection: server.connection };
    await using engine = new DiscoveryEngine({ servers: [rube] }, { env: { ANYGPT_HOME: home.path } });
    await using registry = new UnifiedToolRegistry({ servers: engine });
    await registry.discoverAllTools('trace-1');
    rube.enabled = false;
    await engine.reload();
    expect(await registry.callTool('rube__search', {})).toMatchObject({
      success: false,
      error: { code: 'TOOL_UNAVAILABLE', details: { code: 'SERVER_NOT_FOUND' } },
    });
    await registry.discoverAllTools('trace-2');
    expect(registry.getToolDefinitions()).toEqual([]);
  });
});

describe('AC7: whatever fails returns a ToolResult with a code and does not throw', () => {
  it.each([
    ['a name with no server', '__tool', {}, 'TOOL_INVALID_INPUT'],
    ['a name with no tool', 'server__', {}, 'TOOL_INVALID_INPUT'],
    ['a name that is no text', 7, {}, 'TOOL_INVALID_INPUT'],
    ['a tool nobody has', 'nothing', {}, 'TOOL_NOT_IMPLEMENTED'],
    ['a server nobody has', 'nowhere__tool', {}, 'TOOL_UNAVAILABLE'],
    ['a tool its server does not have', 'rube__nothing', {}, 'TOOL_NOT_IMPLEMENTED'],
    ['arguments that break the schema', 'rube__search', { query: 7 }, 'TOOL_INVALID_INPUT'],
    ['arguments of a static tool that do', 'greet', { name: 7 }, 'TOOL_INVALID_INPUT'],
    ['arguments that are no object', 'greet', [1], 'TOOL_INVALID_INPUT'],
    ['a tool that says it failed', 'rube__broken', {}, 'TOOL_EXECUTION_FAILED'],
    ['a static tool that throws', 'throws', {}, 'TOOL_EXECUTION_FAILED'],
    ['a server that is down', 'down__tool', {}, 'TOOL_UNAVAILABLE'],
    ['a server whose address is wrong', 'wrong__tool', {}, 'TOOL_INVALID_INPUT'],
  ])('%s', async (_what, name, args, code) => {
    await using server = await startTestServer({
      tools: {
        search: {
          inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
          call: () => 'found',
        },
        broken: {
          call: () => {
            throw new Error('out of order');
          },
        },
      },
    });
    const env = { DOWN_MCP_URL: 'http://127.0.0.1:1/mcp', WRONG_MCP_URL: 'not an address' };
    const servers = [{ name: 'rube', connection: server.connection }, ...serversFromEnv(['down', 'wrong'], env)];
    await using registry = new UnifiedToolRegistry(world({ servers, env }));
    registry.registerStaticTool('greet', ({ name: who }: { name: string }) => `Hello, ${who}`, {
      input_schema: { type: 'object', properties: { name: { type: 'string' } } },
    });
    registry.registerStaticTool(
      'throws',
      () => {
        throw new Error('out of order');
      },
      {},
    );
    const result = await registry.callTool(name as string, args);
    expect(result).toMatchObject({
      success: false,
      error: { code, message: expect.stringMatching(/./), retryable: expect.any(Boolean), details: {} },
    });
  });

  it('a configuration that cannot be used', async () => {
    const servers = [{ name: 'x', connection: { type: 'http', url: 'ftp://nowhere' } } as const];
    await using registry = new UnifiedToolRegistry(world({ servers }));
    registry.registerStaticTool('ping', () => 'pong', {});
    expect(await registry.discoverAllTools('trace-1')).toMatchObject({
      success: false,
      error: { code: 'TOOL_INVALID_INPUT', retryable: false, details: { code: 'CONFIGURATION_ERROR' } },
    });
    expect(await registry.callTool('x__y')).toMatchObject({ success: false, error: { code: 'TOOL_INVALID_INPUT' } });
    expect(await registry.callTool('ping')).toMatchObject({ success: true });
  });
});

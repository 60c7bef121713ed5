import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { BROKEN, entry, folder, memoryLog, until } from '../../../test/fixtures/engine.ts';
import { evil } from '../../../test/fixtures/evil.ts';
import { memoryServers as serversOf } from '../../../test/fixtures/memory-servers.ts';
import { DiscoveryError, ToolNotFoundError, ValidationError } from '../../core/errors.ts';
import type { ToolProvider } from '../../core/tool-provider.ts';
import type { ToolDefinition } from '../../core/types.ts';
import { EngineCore as DiscoveryEngine } from '../../engine/engine-core.ts';
import type { EngineConfig } from '../../engine/engine-world.ts';
import {
  formatToolName,
  parseToolName,
  serversFromEnv,
  ToolRegistry,
  toModelResult,
  UnifiedToolRegistry,
  type UnifiedToolRegistryOptions,
} from '../../registry.ts';
import { startTestServer } from '../../testing/index.ts';

const tool = (name: string, description = 'Does something.'): ToolDefinition => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
});
const names = (registry: UnifiedToolRegistry) => registry.getToolDefinitions().map(({ name }) => name);
const world = (options: UnifiedToolRegistryOptions = {}): UnifiedToolRegistryOptions => ({
  ...options,
  env: { PATH: process.env.PATH, HOME: '/nonexistent', ...options.env },
});

describe.concurrent('names', () => {
  it('prefixes tools with their server and remembers where they come from', () => {
    const registry = new UnifiedToolRegistry();
    expect(registry.registerMcpTools('rube', [tool('search')])).toEqual({ success: true, data: { registered: 1 } });
    expect(registry.getMcpTool('rube__search')).toEqual({
      claudeTool: {
        name: 'rube__search',
        description: 'Does something.',
        input_schema: { type: 'object', properties: { text: { type: 'string' } } },
      },
      serverName: 'rube',
      originalName: 'search',
    });
    expect(registry.getMcpTool('search')).toBeUndefined();
    expect(registry.isDiscoveryStale('rube')).toBe(false);
  });

  it('keeps tools of one name from two servers', () => {
    const registry = new UnifiedToolRegistry();
    registry.registerMcpTools('b', [tool('search')]);
    registry.registerMcpTools('a', [tool('search')]);
    expect(names(registry)).toEqual(['a__search', 'b__search']);
  });

  it('tells tools apart whose names would be the same, and finds both', async () => {
    const { servers, calls } = serversOf({ a: [tool('b__c')], a__b: [tool('c')] });
    const registry = new UnifiedToolRegistry({ servers });
    await registry.discoverAllTools();
    expect(new Set(names(registry)).size).toBe(2);
    for (const name of names(registry)) {
      expect(name).toMatch(/^a__b__c_[0-9a-f]{8}$/);
      await registry.callTool(name);
    }
    expect(calls.map(({ server, tool: called }) => `${server}/${called}`).sort()).toEqual(['a/b__c', 'a__b/c']);
    // No tool has this name; then it is split at the first `__`.
    expect(registry.parseToolName('a__b__c')).toMatchObject({ data: { serverName: 'a', toolName: 'b__c' } });
    await registry.callTool('a__b__c');
    expect(calls.at(-1)).toMatchObject({ server: 'a', tool: 'b__c' });
  });

  it('makes every name legal, at most 64 characters long, and calls the tool by its real one', async () => {
    const long = 'x'.repeat(100);
    const { servers, calls } = serversOf({
      'my server.io': [tool('do/it'), tool(long)],
      __proto__x: [tool('constructor')],
    });
    const registry = new UnifiedToolRegistry({ servers });
    await registry.discoverAllTools();
    for (const name of names(registry)) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
    expect(names(registry)).toContain('my_server_io__do_it');
    for (const name of names(registry)) expect((await registry.callTool(name)).success).toBe(true);
    expect(calls.map((call) => call.tool).sort()).toEqual(['constructor', 'do/it', long].sort());
  });

  it('accepts server:tool as well', async () => {
    const { servers, calls } = serversOf({ rube: [tool('search')] });
    const registry = new UnifiedToolRegistry({ servers });
    expect(await registry.callTool('rube:search', { text: 'x' })).toMatchObject({ success: true });
    expect(calls).toMatchObject([{ server: 'rube', tool: 'search', arguments: { text: 'x' } }]);
  });

  it('excludes an MCP tool whose name a static tool has, and says so', async () => {
    const log = memoryLog();
    const registry = new UnifiedToolRegistry({ logger: log });
    registry.registerMcpTools('rube', [tool('search'), tool('send')]);
    registry.registerStaticTool('rube__search', () => 'static', { description: 'Our own search' });
    expect(registry.registerMcpTools('rube', [tool('search'), tool('send')])).toEqual({
      success: true,
      data: {
        registered: 1,
        excluded: [{ serverName: 'rube', toolName: 'search', reason: expect.stringContaining('rube__search') }],
      },
    });
    expect(names(registry)).toEqual(['rube__search', 'rube__send']);
    expect(registry.getToolDefinitions()[0]?.description).toBe('Our own search');
    expect(registry.getMcpTool('rube__search')).toBeUndefined();
    expect(await registry.callTool('rube__search')).toMatchObject({ data: { content: [{ text: 'static' }] } });
    expect(registry.parseToolName('rube__search')).toMatchObject({ success: false });
    expect(log.lines.at(-1)).toMatch(/^warn tools\.registry\.updated .*rube:search/);
  });

  it('gives the same output whatever the order of registration', () => {
    const one = new UnifiedToolRegistry();
    const two = new UnifiedToolRegistry();
    const steps = [
      (registry: UnifiedToolRegistry) => registry.registerMcpTools('b', [tool('y'), tool('x')]),
      (registry: UnifiedToolRegistry) => registry.registerMcpTools('a', [tool('z')]),
      (registry: UnifiedToolRegistry) => registry.registerStaticTool('m', () => '', {}),
    ];
    for (const step of steps) step(one);
    for (const step of steps.reverse()) step(two);
    expect(one.getToolDefinitions()).toEqual(two.getToolDefinitions());
    expect(names(one)).toEqual(['a__z', 'b__x', 'b__y', 'm']);
    expect(one.listTools().map(({ serverName, originalName }) => [serverName, originalName])).toEqual([
      ['a', 'z'],
      ['b', 'x'],
      ['b', 'y'],
      [null, 'm'],
    ]);
  });

  it('gives definitions that a program may change without changing the registry', () => {
    const registry = new UnifiedToolRegistry();
    registry.registerMcpTools('rube', [tool('search')]);
    const [first] = registry.getToolDefinitions();
    Object.assign(first as object, { cache_control: { type: 'ephemeral' } });
    registry.getToolDefinitions().pop();
    expect(registry.getToolDefinitions()).toHaveLength(1);
    expect(registry.getToolDefinitions()[0]).not.toHaveProperty('cache_control');
  });

  it('exports how names are written and read', () => {
    expect(formatToolName({ server: 'rube', tool: 'search' })).toBe('rube__search');
    expect(parseToolName('rube__search').success).toBe(true);
  });
});

describe.concurrent('lists from outside', () => {
  it('leave out what is no tool and what is there twice', () => {
    const registry = new UnifiedToolRegistry();
    const list = [tool('a'), null, 7, { name: 9 }, { name: '' }, tool('a', 'second'), { name: 'bare' }] as never;
    expect(registry.registerMcpTools('s', list)).toMatchObject({ data: { registered: 2 } });
    expect(registry.getToolDefinitions()).toEqual([
      { name: 's__a', description: 'Does something.', input_schema: tool('a').inputSchema },
      { name: 's__bare', input_schema: { type: 'object', properties: {} } },
    ]);
    for (const result of [registry.registerMcpTools('s', 'nothing' as never), registry.registerMcpTools('', [])])
      expect(result).toMatchObject({ success: false, error: { code: 'TOOL_INVALID_INPUT' } });
  });

  it('go with removeServerTools', () => {
    const log = memoryLog();
    const registry = new UnifiedToolRegistry({ logger: log });
    registry.registerMcpTools('s', [tool('a'), tool('b')]);
    expect(registry.removeServerTools('s')).toEqual({ success: true, data: { removed: 2 } });
    expect(registry.removeServerTools('s')).toEqual({ success: true, data: { removed: 0 } });
    expect(names(registry)).toEqual([]);
    expect(registry.isDiscoveryStale('s')).toBe(true);
    expect(log.lines.filter((line) => line.includes('server.removed'))).toHaveLength(1);
  });

  it('stay when a program registered them itself and no server of that name is known', async () => {
    const registry = new UnifiedToolRegistry({ servers: serversOf({ other: [tool('x')] }).servers });
    registry.registerMcpTools('mine', [tool('a')]);
    await registry.discoverAllTools();
    expect(names(registry)).toEqual(['mine__a', 'other__x']);
  });

  it('cannot be called where nothing stands behind them', async () => {
    const registry = new UnifiedToolRegistry();
    registry.registerMcpTools('mine', [tool('a')]);
    expect(await registry.callTool('mine__a')).toMatchObject({
      error: { code: 'TOOL_UNAVAILABLE', details: { code: 'SERVER_NOT_FOUND', server: 'mine', tool: 'a' } },
    });
    expect(await registry.discoverAllTools()).toEqual({ success: true, data: { registered: 1 } });
  });
});

describe.concurrent('discovery', () => {
  it('reads each list once however many ask at the same time', async () => {
    const { servers, asked, hold } = serversOf({ a: [tool('x')], b: [tool('y')] });
    const registry = new UnifiedToolRegistry({ servers });
    const release = hold();
    const all = Promise.all([
      ...Array.from({ length: 50 }, (_, at) => registry.discoverAllTools(`trace-${at}`)),
      registry.callTool('a__x'),
    ]);
    await until(() => asked.length === 2);
    release();
    for (const result of await all) expect(result.success).toBe(true);
    expect(asked.sort()).toEqual(['a', 'b']);
  });

  it('asks a real server once for many discoveries at the same time', async () => {
    using child = evil({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
    await using registry = new UnifiedToolRegistry(world({ servers: [entry('local', child)] as never }));
    const results = await Promise.all(Array.from({ length: 20 }, () => registry.discoverAllTools('trace')));
    expect(results.every(({ success }) => success)).toBe(true);
    expect(child.received('tools/list')).toHaveLength(1);
  });

  // Not beside other tests: a server that takes half a second to start keeps no other waiting, and a busy process looks like one.
  it.sequential('reads at most five servers at a time', async () => {
    const lists = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`s${at}`, [tool('x')]]));
    const { servers, asked, hold } = serversOf(lists);
    const registry = new UnifiedToolRegistry({ servers });
    const release = hold();
    const all = registry.discoverAllTools();
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    while (asked.length < 5) await turn();
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(asked).toHaveLength(5);
    release();
    expect(await all).toEqual({ success: true, data: { registered: 12 } });
  });

  it('keeps one server from spoiling the others', async () => {
    const { servers, lists } = serversOf({ bad: new Error('it is down'), good: [tool('x')] });
    const registry = new UnifiedToolRegistry({ servers });
    expect(await registry.discoverAllTools()).toMatchObject({
      success: false,
      error: {
        code: 'TOOL_UNAVAILABLE',
        message:
          'Not all tools could be read: bad (bad could not be reached (it is down)). What was known before stays.',
        failures: [{ server: 'bad', code: 'SERVER_CONNECTION_ERROR' }],
        discovered: { registered: 1 },
      },
    });
    expect(names(registry)).toEqual(['good__x']);
    lists.bad = [tool('y')];
    expect(await registry.discoverAllTools()).toMatchObject({ success: true });
    expect(names(registry)).toEqual(['bad__y', 'good__x']);
  });

  it('says what is left out also when a server fails', async () => {
    const { servers } = serversOf({ bad: new Error('it is down'), good: [tool('x'), tool('y')] });
    const registry = new UnifiedToolRegistry({ servers });
    registry.registerStaticTool('good__x', () => '', {});
    const result = await registry.discoverAllTools();
    expect(result.success || result.error.discovered).toEqual({
      registered: 1,
      excluded: [{ serverName: 'good', toolName: 'x', reason: 'a tool of the program is called good__x' }],
    });
  });

  it('names a few of many servers that fail', async () => {
    const lists = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`s${at}`, new Error('x'.repeat(5000))]));
    const result = await new UnifiedToolRegistry({ servers: serversOf(lists).servers }).discoverAllTools();
    if (result.success) throw new Error('they all fail');
    expect(result.error.failures).toHaveLength(8);
    expect(result.error.message).toContain('and 3 more');
    expect(result.error.message.length).toBeLessThan(2000);
  });

  it.each([
    ['dies while it lists', { exit: 1 }],
    ['answers an error while it lists', { error: { code: -32603, message: 'a bug' } }],
  ])('is TOOL_UNAVAILABLE when a server %s, and asks again at once', async (_what, step) => {
    using child = evil({ on: [{ method: 'tools/list', do: [step] }] });
    const servers = [entry('bad', child)] as never;
    await using registry = new UnifiedToolRegistry(world({ servers }));
    const failed = await registry.discoverAllTools();
    expect(failed).toMatchObject({ error: { code: 'TOOL_UNAVAILABLE', failures: [{ server: 'bad' }] } });
    const asked = child.received('tools/list').length;
    expect(await registry.callTool('bad__x')).toMatchObject({ error: { code: 'TOOL_UNAVAILABLE' } });
    expect(child.received('tools/list').length).toBeGreaterThan(asked);
    expect(JSON.stringify(failed)).not.toContain('keeps failing');
  });

  it('is TOOL_UNAVAILABLE when a list is none or incomplete, whether a better one is known or not', async () => {
    let time = 0;
    const { servers, lists } = serversOf({ a: 7 as never, b: [tool('x')] });
    const registry = new UnifiedToolRegistry({ servers, now: () => time });
    expect(await registry.discoverAllTools()).toMatchObject({
      error: { code: 'TOOL_UNAVAILABLE', failures: [{ server: 'a', message: 'the server sent no list' }] },
    });
    lists.b = 7 as never;
    time = 300_000;
    expect(await registry.discoverAllTools()).toMatchObject({
      error: { failures: [{ server: 'a' }, { server: 'b' }] },
    });
    expect(names(registry)).toEqual(['b__x']);
    expect(registry.isDiscoveryStale('b')).toBe(true);
    Object.assign(lists, { a: [tool('y')], b: [tool('z')] });
    expect(await registry.discoverAllTools()).toEqual({ success: true, data: { registered: 2 } });
    expect(names(registry)).toEqual(['a__y', 'b__z']);
  });

  it.each([
    ['one server', { toolsPerServer: 2 }, 'more than 2 tools'],
    ['all servers', { tools: 2 }, 'all servers together have more than 2 tools'],
  ])('is no failure of a list that is cut at the limit of %s; the log tells of it', async (_what, limits, reason) => {
    let time = 0;
    const log = memoryLog();
    const { servers, lists } = serversOf({ a: [tool('x')] }, { limits });
    const registry = new UnifiedToolRegistry({ servers, logger: log, now: () => time });
    await registry.discoverAllTools();
    for (const grown of [
      ['x', 'y', 'z'],
      ['v', 'w', 'x', 'y'],
    ]) {
      lists.a = grown.map((name) => tool(name));
      time += 300_000;
      expect(await registry.discoverAllTools()).toEqual({ success: true, data: { registered: 2 } });
      expect(names(registry)).toEqual(grown.slice(0, 2).map((name) => `a__${name}`));
      expect(registry.isDiscoveryStale('a')).toBe(false);
      const told = log.lines.filter((line) => line.includes('tools.discovery.server.success'));
      expect(told.at(-1)).toMatch(/^warn /);
      expect(told.at(-1)).toContain(reason);
    }
  });

  it('is TOOL_UNAVAILABLE when a server answers HTTP 500 while it lists', async () => {
    const { servers, asked, lists } = serversOf({ a: new Response(null, { status: 500 }) });
    const registry = new UnifiedToolRegistry({ servers });
    expect(await registry.discoverAllTools()).toMatchObject({ error: { code: 'TOOL_UNAVAILABLE' } });
    expect(await registry.callTool('a__x')).toMatchObject({ error: { code: 'TOOL_UNAVAILABLE' } });
    expect(asked).toHaveLength(2);
    lists.a = [tool('x')];
    expect(await registry.callTool('a__x')).toMatchObject({ success: true });
  });

  it('reads no other server again when one is switched off', async () => {
    const { servers, asked, setEnabled } = serversOf({ a: [tool('x')], b: [tool('y')] });
    const registry = new UnifiedToolRegistry({ servers });
    await registry.discoverAllTools();
    setEnabled('a', false);
    await servers.reload();
    await registry.discoverAllTools();
    expect(names(registry)).toEqual(['b__y']);
    expect(asked.sort()).toEqual(['a', 'b']);
  });

  it('drops a list that arrives after its server was removed', async () => {
    const { servers, asked, hold } = serversOf({ a: [tool('x')] });
    const registry = new UnifiedToolRegistry({ servers });
    const release = hold();
    const running = registry.discoverAllTools();
    await until(() => asked.length === 1);
    registry.removeServerTools('a');
    release();
    await running;
    expect(names(registry)).toEqual([]);
    expect(registry.isDiscoveryStale('a')).toBe(true);
    await registry.discoverAllTools();
    expect(names(registry)).toEqual(['a__x']);
  });

  it('keeps the tools of a server that fails by itself, where nothing behind it remembers them', async () => {
    let time = 0;
    const { servers, lists } = serversOf({ a: [tool('x')] });
    const registry = new UnifiedToolRegistry({ servers, now: () => time });
    await registry.discoverAllTools();
    lists.a = new Error('it is down');
    time = 300_000;
    expect(await registry.discoverAllTools()).toMatchObject({ success: false, error: { code: 'TOOL_UNAVAILABLE' } });
    expect(names(registry)).toEqual(['a__x']);
    expect(await registry.callTool('a__x')).toMatchObject({ success: true });
  });

  it('shows what the engine has read since, without being asked', async () => {
    const { servers, lists } = serversOf({ a: [tool('x')] });
    const registry = new UnifiedToolRegistry({ servers });
    await registry.discoverAllTools();
    lists.a = [tool('y')];
    await servers.readLists({ again: true });
    expect(names(registry)).toEqual(['a__y']);
  });

  it('treats a clock that was put back as time that has passed', async () => {
    let time = 1_000_000;
    const registry = new UnifiedToolRegistry({ servers: serversOf({ a: [tool('x')] }).servers, now: () => time });
    await registry.discoverAllTools();
    time -= 300_000;
    expect(registry.isDiscoveryStale('a')).toBe(true);
  });

  it('offers the tools that an earlier run knew of an unreachable server, and reports the failure', async () => {
    using home = folder();
    const options = { env: { PATH: process.env.PATH, ANYGPT_HOME: home.path } };
    const server = await startTestServer({ tools: { search: { call: () => 'found' } } });
    const config = { servers: [{ name: 'rube', connection: server.connection }] };
    {
      await using engine = new DiscoveryEngine(config, options);
      await new UnifiedToolRegistry({ servers: engine }).discoverAllTools();
    }
    await server.close();
    await using engine = new DiscoveryEngine(config, options);
    const registry = new UnifiedToolRegistry({ servers: engine });
    expect(await registry.discoverAllTools()).toMatchObject({ success: false, error: { code: 'TOOL_UNAVAILABLE' } });
    expect(names(registry)).toEqual(['rube__search']);
    expect(registry.isDiscoveryStale('rube')).toBe(true);
    expect(await registry.callTool('rube__search')).toMatchObject({ error: { code: 'TOOL_UNAVAILABLE' } });
  });

  it('does not wait for a slow server longer than it may take to connect', async () => {
    using slow = evil({
      on: [
        { method: 'initialize', do: [] },
        { method: 'server/discover', do: [] },
      ],
    });
    await using quick = await startTestServer({ tools: { x: { call: () => 'x' } } });
    const servers = [
      entry('slow', slow, { timeouts: { connect: 150 } }),
      entry('broken', BROKEN),
      { name: 'quick', connection: quick.connection },
    ] as never;
    await using registry = new UnifiedToolRegistry(world({ servers }));
    const result = await registry.discoverAllTools('trace');
    expect(result).toMatchObject({ success: false, error: { failures: [{ server: 'broken' }, { server: 'slow' }] } });
    expect(names(registry)).toEqual(['quick__x']);
  });
});

describe.concurrent('calls', () => {
  it('hand name and arguments to the server', async () => {
    const { servers, calls } = serversOf({ rube: [tool('search')] });
    const registry = new UnifiedToolRegistry({ servers });
    await registry.callTool('rube__search', { text: 'x' });
    expect(calls).toEqual([{ server: 'rube', tool: 'search', arguments: { text: 'x' } }]);
  });

  it('suggest the nearest names for an unknown name', async () => {
    const registry = new UnifiedToolRegistry({ servers: serversOf({ rube: [tool('search')] }).servers });
    await registry.discoverAllTools();
    expect(await registry.callTool('rube__serach')).toMatchObject({
      error: {
        code: 'TOOL_NOT_IMPLEMENTED',
        message: 'There is no tool "rube__serach". Did you mean "rube__search"?',
        details: { code: 'TOOL_NOT_FOUND', suggestions: ['rube__search'], outcome: 'not_sent' },
      },
    });
  });

  it('give the tool’s own answer with the failure, when it says that it failed', async () => {
    await using server = await startTestServer({
      tools: {
        broken: {
          call: () => {
            throw new Error('out of order');
          },
        },
        silent: { call: () => ({ content: [], isError: true }) },
      },
    });
    await using registry = new UnifiedToolRegistry(world({ servers: [{ name: 's', connection: server.connection }] }));
    const result = await registry.callTool('s__broken');
    expect(result).toEqual({
      success: false,
      error: {
        code: 'TOOL_EXECUTION_FAILED',
        message: 'out of order',
        retryable: false,
        details: {
          code: 'TOOL_EXECUTION_ERROR',
          message: 'out of order',
          server: 's',
          tool: 'broken',
          retryable: false,
          outcome: 'failed',
        },
        result: { content: [{ type: 'text', text: 'out of order' }], isError: true },
      },
    });
    expect(toModelResult(result)).toEqual({ content: [{ type: 'text', text: 'out of order' }], isError: true });
    expect(await registry.callTool('s__silent')).toMatchObject({
      error: { message: 'silent failed and did not say why.' },
    });
  });

  it('end when the caller cancels them', async () => {
    await using server = await startTestServer({
      tools: {
        hang: {
          call: (_args, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(''))),
        },
      },
    });
    await using registry = new UnifiedToolRegistry(world({ servers: [{ name: 's', connection: server.connection }] }));
    let ended: AbortSignal | undefined;
    registry.registerStaticTool(
      'hang',
      (_args, { signal }) => {
        ended = signal;
        return new Promise<never>(() => {});
      },
      {},
    );
    await registry.discoverAllTools();
    for (const name of ['hang', 's__hang']) {
      const controller = new AbortController();
      const call = registry.callTool(name, {}, { signal: controller.signal });
      setTimeout(() => controller.abort(), 30);
      expect(await call).toMatchObject({ error: { code: 'TOOL_EXECUTION_FAILED', details: { code: 'CANCELLED' } } });
      expect(await registry.callTool(name, {}, { signal: controller.signal })).toMatchObject({
        error: { details: { code: 'CANCELLED' } },
      });
    }
    expect(ended?.aborted).toBe(true);
  });

  it('end also while the server’s list is still being read', async () => {
    const { servers, calls, asked, hold } = serversOf({ rube: [tool('search')] });
    const registry = new UnifiedToolRegistry({ servers });
    const release = hold();
    const controller = new AbortController();
    const call = registry.callTool('rube__search', {}, { signal: controller.signal });
    await until(() => asked.length === 1);
    controller.abort();
    expect(await call).toMatchObject({ error: { details: { code: 'CANCELLED', outcome: 'not_sent' } } });
    release();
    expect(calls).toEqual([]);
  });

  it('tell the model what went wrong, in words it can use', async () => {
    const registry = new UnifiedToolRegistry();
    const answer = toModelResult(await registry.callTool('nothing'));
    expect(answer.isError).toBe(true);
    expect(JSON.parse(String(answer.content?.[0]?.text))).toEqual({
      success: false,
      error: {
        code: 'TOOL_NOT_IMPLEMENTED',
        message: 'There is no tool "nothing".',
        retryable: false,
        tool: 'nothing',
        outcome: 'not_sent',
      },
    });
    registry.registerStaticTool('ping', () => 'pong', {});
    expect(toModelResult(await registry.callTool('ping'))).toEqual({ content: [{ type: 'text', text: 'pong' }] });
  });

  it('go to servers no more once the registry is closed', async () => {
    const { servers, calls } = serversOf({ rube: [tool('search')] });
    const registry = new UnifiedToolRegistry({ servers });
    await registry.discoverAllTools();
    await registry.close();
    expect(await registry.callTool('rube__search')).toMatchObject({
      error: { code: 'TOOL_UNAVAILABLE', details: { code: 'SHUTTING_DOWN' } },
    });
    expect(await registry.discoverAllTools()).toMatchObject({
      error: {
        code: 'TOOL_UNAVAILABLE',
        message: 'The registry is closed.',
      },
    });
    expect(calls).toEqual([]);
  });

  it('run no tool of the program either, once the registry is closed', async () => {
    const registry = new UnifiedToolRegistry();
    let ran = 0;
    registry.registerStaticTool('wipe', () => String(++ran), {});
    const [sdkTool] = Object.values(registry.getToolDefinitions({ format: 'ai-sdk' }));
    await registry.close();
    expect(await registry.callTool('wipe')).toMatchObject({ error: { details: { code: 'SHUTTING_DOWN' } } });
    expect(await sdkTool?.execute?.({}, { toolCallId: '1' })).toMatchObject({ isError: true });
    expect(ran).toBe(0);
  });

  it('say that arguments were cut off, wherever the tool lives', async () => {
    const { servers, calls } = serversOf({ rube: [tool('search')] });
    const registry = new UnifiedToolRegistry({ servers });
    registry.registerStaticTool('ping', () => 'pong', {});
    await registry.discoverAllTools();
    for (const name of ['ping', 'rube__search'])
      expect(await registry.callTool(name, '{"text": "hel')).toMatchObject({
        error: {
          code: 'TOOL_INVALID_INPUT',
          message: expect.stringMatching(/are not valid JSON: .*They end too early/),
        },
      });
    expect(await registry.callTool('rube__search', '[]')).toMatchObject({
      error: { code: 'TOOL_INVALID_INPUT', message: expect.stringContaining('must be a JSON object') },
    });
    expect(calls).toEqual([]);
  });
});

describe.concurrent('with an engine that has rules', () => {
  const open = (over: object = {}) => {
    const { servers } = serversOf({ rube: [tool('search')] }, over);
    const registry = new UnifiedToolRegistry({ servers });
    const traces: unknown[] = [];
    registry.registerStaticTool('greet', ({ name }, { traceId }) => [traces.push(traceId), `Hello, ${name}`][1], {
      input_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
    registry.registerStaticTool('wipe', () => 'wiped', { description: 'Deletes everything' });
    return { servers, registry, traces };
  };

  it('static tools obey them, and those that may not be used are not shown', async () => {
    const { registry } = open({ toolRules: [{ pattern: ['own:wipe'], enabled: false }] });
    await registry.discoverAllTools();
    expect(names(registry)).toEqual(['greet', 'rube__search']);
    expect(await registry.callTool('wipe')).toMatchObject({ success: false });
    expect(await registry.callTool('greet', { name: 'Ada' })).toMatchObject({
      data: { content: [{ text: 'Hello, Ada' }] },
    });
  });

  it('static tools go through its validation and get the trace', async () => {
    const { registry, traces } = open();
    expect(await registry.callTool('greet', { name: 'Ada' }, { traceId: 'trace-1' })).toMatchObject({ success: true });
    expect(traces).toEqual(['trace-1']);
    expect(await registry.callTool('greet', {})).toMatchObject({ error: { code: 'TOOL_INVALID_INPUT' } });
    expect(traces).toHaveLength(1);
  });

  it('calls of static tools are in its audit log, and no other user of the engine sees the tools', async () => {
    using home = folder();
    await using engine = new DiscoveryEngine({ servers: [], state: home.path } as never, {
      env: { HOME: '/nonexistent' },
    });
    const registry = new UnifiedToolRegistry({ servers: engine });
    registry.registerStaticTool('ping', () => 'pong', {});
    expect(await registry.callTool('ping', {}, { traceId: 'trace-7' })).toMatchObject({ success: true });
    expect(await engine.toolsOf('own')).toMatchObject({ success: false });
    const config = engine.getConfig();
    await engine.close();
    const { audit } = await config;
    const written = await readFile(audit.file, 'utf8');
    expect(JSON.parse(written)).toMatchObject({ server: 'own', tool: 'ping', traceId: 'trace-7' });
  });

  it('a static tool cannot have the name of a meta-tool', () => {
    const { registry } = open();
    expect(() => registry.registerStaticTool('search_tools', () => '', {})).toThrow(ValidationError);
  });

  it('no text names a tool that the model was not given', async () => {
    const { registry } = open();
    registry.registerMcpTools('away', [tool('x')]);
    for (const name of ['nowhere__x', 'rube__nothing', 'nothing', 'away__x']) {
      const result = await registry.callTool(name);
      expect(JSON.stringify(result)).not.toMatch(/search_tools|list_tools|list_mcp_servers/);
    }
  });

  it('tools of the engine’s own providers are the program’s own', async () => {
    const own = new ToolRegistry({ name: 'scripts' });
    own.registerTool('deploy', { description: 'Deploys' }, () => 'deployed');
    const { registry } = open({ providers: [own] });
    await registry.discoverAllTools();
    expect(names(registry)).toContain('deploy');
    expect(await registry.callTool('deploy')).toMatchObject({ data: { content: [{ text: 'deployed' }] } });
  });
});

describe.concurrent('static tools', () => {
  it('get checked arguments, also where a model sent them as text or wrapped them', async () => {
    const registry = new UnifiedToolRegistry();
    const seen: unknown[] = [];
    registry.registerStaticTool(
      'greet',
      (args, { traceId }) => {
        seen.push([args, traceId]);
        return `Hello, ${args.name}`;
      },
      { inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
    );
    for (const args of [{ name: 'Ada' }, '{"name":"Ada"}', { arguments: { name: 'Ada' } }])
      expect(await registry.callTool('greet', args, { traceId: 't' })).toMatchObject({ success: true });
    expect(seen).toEqual(Array.from({ length: 3 }, () => [{ name: 'Ada' }, 't']));
    expect(await registry.callTool('greet', {})).toMatchObject({
      error: {
        code: 'TOOL_INVALID_INPUT',
        retryable: false,
        details: { code: 'TOOL_VALIDATION_ERROR', tool: 'greet', outcome: 'not_sent' },
      },
    });
    const deep = JSON.parse(`${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`);
    expect(await registry.callTool('greet', deep)).toMatchObject({ error: { code: 'TOOL_INVALID_INPUT' } });
    expect(seen).toHaveLength(3);
  });

  it.each([
    ['text', 'hi', { content: [{ type: 'text', text: 'hi' }] }],
    ['an object', { a: 1 }, { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }],
    ['a whole result', { content: [{ type: 'text', text: 'x' }] }, { content: [{ type: 'text', text: 'x' }] }],
  ])('may return %s', async (_what, answer, data) => {
    const registry = new UnifiedToolRegistry();
    registry.registerStaticTool('answer', async () => answer, {});
    expect(await registry.callTool('answer')).toEqual({ success: true, data });
  });

  it('fail with the code of what they throw', async () => {
    const registry = new UnifiedToolRegistry();
    registry.registerStaticTool('limited', () => Promise.reject(new DiscoveryError('RATE_LIMITED', 'slow down')), {});
    registry.registerStaticTool(
      'reset',
      () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNRESET' })),
      {},
    );
    expect(await registry.callTool('limited')).toMatchObject({ error: { code: 'TOOL_UNAVAILABLE', retryable: true } });
    expect(await registry.callTool('reset')).toMatchObject({
      error: { code: 'TOOL_EXECUTION_FAILED', retryable: true },
    });
  });

  it.each<[string, unknown, string]>([
    ['an object without a prototype', Object.assign(Object.create(null), { message: 'bare' }), 'bare'],
    ['an object with a message', { message: 'quota' }, 'quota'],
    ['nothing', undefined, 'The tool failed and did not say why.'],
    [
      'a thing that cannot be looked at',
      new Proxy({}, { get: () => JSON.parse('{'), getPrototypeOf: () => JSON.parse('{') }),
      'The tool failed and did not say why.',
    ],
  ])('fail and never reject when they throw %s', async (_what, thrown, message) => {
    const registry = new UnifiedToolRegistry();
    registry.registerStaticTool('broken', () => Promise.reject(thrown), {});
    expect(await registry.callTool('broken')).toMatchObject({
      error: { code: 'TOOL_EXECUTION_FAILED', message, retryable: false },
    });
  });

  it('end after their time, and the handler is told', async () => {
    const registry = new UnifiedToolRegistry({ callMs: 50 });
    let ended: AbortSignal | undefined;
    registry.registerStaticTool(
      'hang',
      (_args, { signal }) => {
        ended = signal;
        return new Promise<never>(() => {});
      },
      {},
    );
    expect(await registry.callTool('hang')).toMatchObject({
      error: { code: 'TOOL_EXECUTION_FAILED', details: { code: 'TOOL_EXECUTION_TIMEOUT', outcome: 'unknown' } },
    });
    expect(ended?.aborted).toBe(true);
  });

  it('keep what only Anthropic’s format knows', () => {
    const registry = new UnifiedToolRegistry();
    registry.registerStaticTool('t', () => '', { name: 't', cache_control: { type: 'ephemeral' }, strict: true });
    expect(registry.getToolDefinitions()).toEqual([
      {
        name: 't',
        input_schema: { type: 'object', properties: {} },
        cache_control: { type: 'ephemeral' },
        strict: true,
      },
    ]);
  });
});

describe.concurrent('definitions of static tools', () => {
  it('do not override with what they leave open', () => {
    const registry = new UnifiedToolRegistry();
    registry.registerStaticTool('open', () => '', { defer_loading: undefined, strict: undefined });
    registry.registerStaticTool('said', () => '', { defer_loading: false });
    expect(registry.getToolDefinitions({ deferLoading: true, strict: true })).toMatchObject([
      { name: 'open', defer_loading: true, strict: true },
      { name: 'said', defer_loading: false },
    ]);
  });
});

describe.concurrent('a programmer’s mistakes', () => {
  const registry = new UnifiedToolRegistry();
  registry.registerStaticTool('taken', () => '', {});
  it.each<[string, () => unknown]>([
    ['a name that is taken', () => registry.registerStaticTool('taken', () => '', {})],
    ['a name no API takes', () => registry.registerStaticTool('not legal', () => '', {})],
    ['a name that is too long', () => registry.registerStaticTool('x'.repeat(65), () => '', {})],
    ['a handler that is none', () => registry.registerStaticTool('x', 'f' as never, {})],
    ['a definition that is none', () => registry.registerStaticTool('x', () => '', null as never)],
    ['two names', () => registry.registerStaticTool('x', () => '', { name: 'y' })],
    ['two schemas', () => registry.registerStaticTool('x', () => '', { input_schema: {}, inputSchema: {} })],
    ['a schema of a text', () => registry.registerStaticTool('x', () => '', { inputSchema: { type: 'string' } })],
    ['a provider that is none', () => registry.addProvider({} as never)],
    ['an unknown option', () => new UnifiedToolRegistry({ severs: [] } as never)],
    ['a time to live that is none', () => new UnifiedToolRegistry({ ttlMs: Number.NaN })],
    ['a time limit that is none', () => new UnifiedToolRegistry({ callMs: -1 })],
    ['a name the environment cannot have', () => serversFromEnv(['a b'])],
    ['servers that are none', () => new UnifiedToolRegistry({ servers: 'all' as never })],
  ])('throw: %s', (_what, mistake) => {
    expect(mistake).toThrow(ValidationError);
  });

  it.each([
    [{ files: { command: 'npx' } }, `[{ name: "files", connection: { type: 'stdio', command: …, args: […] } }]`],
    [{ mcpServers: { web: { url: 'https://x' } } }, `[{ name: "web", connection: { type: 'http', url: … } }]`],
    [{}, `[{ name: "x", connection: { type: 'stdio', command: …, args: […] } }]`],
  ])('say what to write for the servers of a client: %j', (servers, entries) => {
    expect(() => new UnifiedToolRegistry({ servers: servers as never })).toThrow(`write ${entries}.`);
  });

  it('are named, with the option that was meant', () => {
    expect(() => new UnifiedToolRegistry({ sever: [] } as never)).toThrow(
      'A registry has no "sever". Did you mean "servers"?',
    );
    expect(() => registry.getToolDefinitions({ defer_loading: true } as never)).toThrow('Did you mean "deferLoading"?');
    expect(() => registry.getDefinitionSet({ format: 'openai-chat', strickt: true } as never)).toThrow('"strict"');
    expect(() => registry.getToolDefinitions({ names: new Map() } as never)).toThrow('leave out "names"');
    const register = (definition: object) => () => registry.registerStaticTool('x', () => '', definition);
    expect(register({ parameters: {} })).toThrow('The definition of "x" has no "parameters". It has name, description');
    expect(register({ inputschema: {} })).toThrow('Did you mean "input_schema"?');
    expect(register({ descripton: 'x' })).toThrow('Did you mean "description"?');
  });
});

describe.concurrent('providers', () => {
  const provider = (over: Partial<ToolProvider> = {}): ToolProvider => ({
    name: 'scripts',
    listToolMetadata: () => [
      { name: 'deploy', description: 'Deploys' },
      { name: 'a.b', inputSchema: { type: 'object' } },
    ],
    getTool: (name) => ({ name, description: 'Deploys', inputSchema: { properties: { to: { type: 'string' } } } }),
    callTool: (name, args) => {
      if (name !== 'deploy') throw new ToolNotFoundError(name);
      return { content: [{ type: 'text', text: `deployed ${args.to}` }] };
    },
    ...over,
  });

  it('bring their tools along as the program’s own', async () => {
    const registry = new UnifiedToolRegistry();
    registry.addProvider(provider());
    expect(names(registry)).toEqual([]);
    expect(await registry.callTool('deploy', { to: 'moon' })).toMatchObject({
      data: { content: [{ text: 'deployed moon' }] },
    });
    expect(registry.getToolDefinitions()).toEqual([
      { name: 'a_b', input_schema: { type: 'object', properties: {} } },
      {
        name: 'deploy',
        description: 'Deploys',
        input_schema: { type: 'object', properties: { to: { type: 'string' } } },
      },
    ]);
    expect(await registry.callTool('a_b')).toMatchObject({ error: { code: 'TOOL_NOT_IMPLEMENTED' } });
  });

  it('stand behind static tools, before servers, and in the order they were added', async () => {
    const registry = new UnifiedToolRegistry();
    registry.registerMcpTools('s', [tool('x')]);
    const first = provider({ listToolMetadata: () => [{ name: 's__x' }, { name: 'both' }, { name: 'mine' }] });
    registry.addProvider(first);
    registry.addProvider(
      provider({
        getTool: (name) => ({ name, description: 'second', inputSchema: {} }),
        listToolMetadata: () => [{ name: 'both' }],
      }),
    );
    registry.registerStaticTool('mine', () => '', { description: 'static' });
    expect(await registry.discoverAllTools()).toMatchObject({ data: { registered: 0, excluded: [{ toolName: 'x' }] } });
    expect(registry.getToolDefinitions().map(({ name, description }) => [name, description])).toEqual([
      ['both', 'Deploys'],
      ['mine', 'static'],
      ['s__x', 'Deploys'],
    ]);
    expect(registry.removeProvider(first)).toBe(true);
    expect(registry.removeProvider(first)).toBe(false);
    expect(registry.getToolDefinitions().map(({ description }) => description)).toEqual([
      'second',
      'static',
      'Does something.',
    ]);
  });

  it('keep what they gave before when they fail, and are read again when it is old', async () => {
    let time = 0;
    let listed = 0;
    let broken = false;
    const log = memoryLog();
    const registry = new UnifiedToolRegistry({ now: () => time, logger: log });
    registry.addProvider(
      provider({
        listToolMetadata: () => {
          listed++;
          if (broken) throw new Error('the database is away');
          return [{ name: 'deploy' }];
        },
      }),
    );
    await Promise.all([registry.discoverAllTools(), registry.discoverAllTools()]);
    await registry.discoverAllTools();
    expect(listed).toBe(1);
    time = 300_000;
    broken = true;
    expect(await registry.discoverAllTools('trace')).toMatchObject({
      success: false,
      error: { failures: [{ server: 'scripts', message: 'the database is away' }] },
    });
    expect(names(registry)).toEqual(['deploy']);
    expect(log.lines.at(-1)).toContain('the database is away');
  });

  it('are not waited for longer than told, and removing one while it lists is the end of it', async () => {
    const registry = new UnifiedToolRegistry({ providerMs: 20 });
    const slow = provider({ listToolMetadata: () => new Promise(() => {}) });
    registry.addProvider(slow);
    registry.addProvider(slow);
    registry.addProvider(provider({ name: 'quick', listToolMetadata: async () => [{ name: 'deploy' }] }));
    expect(await registry.discoverAllTools()).toMatchObject({
      error: {
        code: 'TOOL_UNAVAILABLE',
        failures: [{ server: 'scripts', message: expect.stringContaining('0.02 s') }],
      },
    });
    expect(names(registry)).toEqual(['deploy']);
    let list: ((tools: readonly { name: string }[]) => void) | undefined;
    const late = provider({
      listToolMetadata: () =>
        new Promise((resolve) => {
          list = resolve;
        }),
    });
    registry.removeProvider(slow);
    registry.addProvider(late);
    const running = registry.discoverAllTools();
    await until(() => list !== undefined);
    registry.removeProvider(late);
    list?.([{ name: 'late' }]);
    await running;
    expect(names(registry)).toEqual(['deploy']);
  });

  it('say what was wrong with arguments in our own codes', async () => {
    const registry = new UnifiedToolRegistry();
    const refused = { success: false, error: { code: 'TOOL_VALIDATION_ERROR', message: 'bad', retryable: false } };
    const answers = [JSON.stringify(refused), '{"success":false,', '{"success":false,"error":null}'];
    registry.addProvider(
      provider({
        listToolMetadata: () => answers.map((_, at) => ({ name: `t${at}` })),
        callTool: (name) => ({
          content: [{ type: 'text', text: String(answers[Number(name.slice(1))]) }],
          isError: true,
        }),
      }),
    );
    expect(await registry.callTool('t0')).toMatchObject({ error: { code: 'TOOL_INVALID_INPUT', message: 'bad' } });
    expect(await registry.callTool('t1')).toMatchObject({ error: { code: 'TOOL_EXECUTION_FAILED' } });
    expect(await registry.callTool('t2')).toMatchObject({ error: { code: 'TOOL_EXECUTION_FAILED' } });
  });
});

describe.concurrent('logs', () => {
  it('tell the five events, each with its trace', async () => {
    const log: { level: string; fields: Record<string, unknown>; message: string | undefined }[] = [];
    const at = (level: string) => (fields: object, message?: string) =>
      void log.push({ level, fields: { ...fields }, message });
    const logger = { info: at('info'), warn: at('warn'), error: at('error') };
    const { servers, lists, setEnabled } = serversOf({ a: [tool('x')], b: new Error('down\n\u001b[31m now') });
    const registry = new UnifiedToolRegistry({ servers, logger });
    registry.registerStaticTool('mine', () => '', {});
    await registry.discoverAllTools('trace-1');
    setEnabled('a', false);
    lists.b = [];
    await servers.reload();
    await registry.discoverAllTools('trace-2');
    await registry.discoverAllTools('trace-3');
    const line = (level: string, traceId: string, message: string, fields: object) => ({
      level,
      message,
      fields: { event: message, traceId, ...fields },
    });
    expect(log).toEqual([
      line('info', 'trace-1', 'tools.discovery.started', { serverCount: 2 }),
      line('info', 'trace-1', 'tools.discovery.server.success', { serverName: 'a', toolCount: 1 }),
      line('warn', 'trace-1', 'tools.discovery.server.failed', {
        serverName: 'b',
        errorMessage: 'b could not be reached (down now).',
      }),
      line('info', 'trace-1', 'tools.registry.updated', { staticCount: 1, mcpCount: 1 }),
      line('info', 'trace-2', 'tools.registry.server.removed', { serverName: 'a', removedCount: 1 }),
      line('info', 'trace-2', 'tools.discovery.started', { serverCount: 1 }),
      line('info', 'trace-2', 'tools.discovery.server.success', { serverName: 'b', toolCount: 0 }),
      line('info', 'trace-2', 'tools.registry.updated', { staticCount: 1, mcpCount: 0 }),
    ]);
  });

  it('hold no arguments and no results', async () => {
    const log = memoryLog();
    const { servers } = serversOf({ rube: [tool('search')] });
    const registry = new UnifiedToolRegistry({ servers, logger: log });
    registry.registerStaticTool('mine', () => 'their-answer', {});
    await registry.callTool('rube__search', { text: 'ada@example.com' }, { traceId: 't' });
    await registry.callTool('mine', { text: 'ada@example.com' });
    await registry.callTool('rube__nothing', { text: 'ada@example.com' });
    expect(log.lines.join('\n')).not.toMatch(/ada@example|their-answer/);
    expect(log.lines.length).toBeGreaterThan(0);
  });

  it('do no harm when the logger throws', async () => {
    const broken = () => {
      throw new Error('disk full');
    };
    const { servers } = serversOf({ rube: [tool('search')] });
    const registry = new UnifiedToolRegistry({ servers, logger: { info: broken, warn: broken, error: broken } });
    expect(await registry.discoverAllTools('t')).toMatchObject({ success: true });
  });
});

describe.concurrent('what local servers write to stderr', () => {
  it.each([
    ['kept in the state folder', {}, ['logs']],
    ['not kept by an engine that was told so', { limits: { stderr: 0 } }, []],
  ])('is %s', async (_what, settings, expected) => {
    using home = folder();
    const env = { PATH: process.env.PATH, ANYGPT_HOME: home.path };
    using server = evil({});
    const servers = [entry('local', server)];
    await using engine = new DiscoveryEngine({ servers, cache: { enabled: false }, ...settings } as EngineConfig, {
      env,
    });
    await using registry = new UnifiedToolRegistry({ servers: engine });
    await registry.discoverAllTools();
    await registry.close();
    await engine.close();
    expect((await readdir(home.path)).filter((name) => name === 'logs')).toEqual(expected);
  });

  it('is not kept by a registry of entries, which writes nothing to disk', async () => {
    using home = folder();
    using server = evil({});
    const env = { PATH: process.env.PATH, HOME: home.path, ANYGPT_HOME: home.path };
    await using registry = new UnifiedToolRegistry({ servers: [entry('local', server)] as never, env });
    await registry.discoverAllTools();
    await registry.close();
    expect(await readdir(home.path)).toEqual([]);
  });
});

describe.concurrent('servers from the environment', () => {
  it('are made for the names that are listed and have an address', () => {
    const env = {
      RUBE_MCP_URL: 'https://rube.app/mcp',
      RUBE_API_KEY: 'secret-key-123',
      MY_TOOLS_MCP_URL: 'http://localhost:1/mcp',
      GITHUB_API_KEY: 'no address',
      EMPTY_MCP_URL: ' ',
      UNLISTED_MCP_URL: 'https://unlisted.example/mcp',
    };
    const entries = serversFromEnv(['rube', 'my-tools', 'github', 'empty', 'rube'], env);
    expect(entries).toEqual([
      {
        name: 'rube',
        connection: {
          type: 'http',
          url: '${RUBE_MCP_URL}',
          headers: { Authorization: 'Bearer ${RUBE_API_KEY}' },
        },
      },
      { name: 'my-tools', connection: { type: 'http', url: '${MY_TOOLS_MCP_URL}' } },
    ]);
    expect(JSON.stringify(entries)).not.toContain('secret-key');
    expect(serversFromEnv([], env)).toEqual([]);
  });

  it('that are not there are named by each discovery, and once in the log', async () => {
    const logger = memoryLog();
    const env = { OFF_MCP_ENABLED: 'false' };
    const registry = new UnifiedToolRegistry({ servers: serversFromEnv(['rube', 'off'], env), env, logger });
    const unset = ['RUBE_MCP_URL'];
    expect(await registry.discoverAllTools('t1')).toEqual({ success: true, data: { registered: 0, unset } });
    expect(await registry.discoverAllTools('t2')).toEqual({ success: true, data: { registered: 0, unset } });
    expect(logger.lines).toEqual([
      expect.stringMatching(/^warn tools\.registry\.updated .*"t1".*"unset":\["RUBE_MCP_URL"\]/),
    ]);
    expect(registry.registerMcpTools('a', [tool('x')])).toEqual({ success: true, data: { registered: 1 } });
  });

  it('send the key as a bearer token, and no message shows it', async () => {
    const seen: (string | undefined)[] = [];
    const { createServer } = await import('node:http');
    const http = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(500).end(`bad key ${request.headers.authorization}`);
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const address = http.address();
    const env = {
      RUBE_MCP_URL: `http://127.0.0.1:${typeof address === 'object' && address?.port}/mcp`,
      RUBE_API_KEY: 'secret-key-123',
    };
    const log = memoryLog();
    {
      await using registry = new UnifiedToolRegistry(
        world({ servers: serversFromEnv(['rube'], env), env, logger: log }),
      );
      const result = await registry.discoverAllTools('t');
      expect(result.success).toBe(false);
      expect(JSON.stringify(result)).not.toContain('secret-key');
    }
    http.closeAllConnections();
    http.close();
    expect(seen[0]).toBe('Bearer secret-key-123');
    expect(log.lines.join('\n')).not.toContain('secret-key');
  });

  it.each([
    ['RUBE_MCP_URL', { RUBE_MCP_URL: 'secret-host' }, 'is not an address that begins with http:// or https://'],
    ['RUBE_MCP_URL', { RUBE_MCP_URL: 'ftp://secret-host' }, 'is not an address that begins with http:// or https://'],
    ['RUBE_API_KEY', { RUBE_MCP_URL: 'http://127.0.0.1:1', RUBE_API_KEY: 'secret\nkey' }, 'HTTP does not allow'],
  ])('are told by the variable that is wrong: %s', async (variable, env, problem) => {
    await using registry = new UnifiedToolRegistry(world({ servers: serversFromEnv(['rube'], env), env }));
    for (const result of [await registry.discoverAllTools(), await registry.callTool('rube__search')]) {
      if (result.success) throw new Error('it cannot work');
      expect(result.error).toMatchObject({ code: 'TOOL_INVALID_INPUT', retryable: false });
      expect(result.error.message).toContain(`the environment variable ${variable} `);
      expect(result.error.message).toContain(problem);
      expect(result.error.message).not.toMatch(/configuration in code|secret|\.\./);
    }
  });
});

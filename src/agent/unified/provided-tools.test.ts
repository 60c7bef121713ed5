/** Providers that are slow, broken or both, and what is left of their tools. */
import { describe, expect, it } from 'vitest';
import { memoryLog } from '../../../test/fixtures/engine.ts';
import { DiscoveryError } from '../../core/errors.ts';
import type { ToolProvider, ToolSummary } from '../../core/tool-provider.ts';
import type { ToolDefinition } from '../../core/types.ts';
import { UnifiedToolRegistry, type UnifiedToolRegistryOptions } from '../../registry.ts';

const never = () => new Promise<never>(() => {});
const tool = (name: string): ToolDefinition => ({ name, inputSchema: { type: 'object' } });
const names = (registry: UnifiedToolRegistry) => registry.getToolDefinitions().map(({ name }) => name);

/** A registry with one provider, which counts what it is asked. */
function open(over: Partial<ToolProvider> = {}, options: UnifiedToolRegistryOptions = {}) {
  let time = 0;
  const asked: string[] = [];
  const given: ToolProvider = {
    name: 'scripts',
    listToolMetadata: () => [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
    getTool: (name) => tool(name),
    callTool: (name) => ({ content: [{ type: 'text', text: name }] }),
    ...over,
  };
  const provider: ToolProvider = {
    get name() {
      return given.name;
    },
    get revision() {
      return given.revision;
    },
    listToolMetadata: (context) => {
      asked.push('list');
      return given.listToolMetadata(context);
    },
    getTool: (name, context) => {
      asked.push(name);
      return given.getTool(name, context);
    },
    callTool: (name, args, context) => given.callTool(name, args, context),
  };
  const registry = new UnifiedToolRegistry({ now: () => time, providerMs: 30, ...options });
  registry.addProvider(provider);
  const pass = (ms: number) => {
    time += ms;
  };
  return { registry, provider, given, asked, pass };
}

describe('one tool that cannot be described', () => {
  it.each<[string, ToolProvider['getTool'], string]>([
    [
      'throws',
      () => {
        throw new Error('row broken, pg://ada:hunter2@db');
      },
      'row broken, pg://***@db',
    ],
    ['hangs', never, 'It was not described within 15 ms.'],
    ['is no definition', () => 'text' as never, 'Its definition is too large, or none.'],
  ])('is left out and the others stay: %s', async (_what, getTool, reason) => {
    const { registry } = open({
      getTool: (name, context) => (name === 'b' ? getTool(name, context) : tool(name)),
    });
    expect(await registry.discoverAllTools()).toEqual({
      success: true,
      data: { registered: 0, excluded: [{ serverName: null, toolName: 'b', reason }] },
    });
    expect(names(registry)).toEqual(['a', 'c']);
  });

  it('is not missed when it has gone since it was listed', async () => {
    const { registry } = open({ getTool: (name) => (name === 'b' ? undefined : tool(name)) });
    expect(await registry.discoverAllTools()).toEqual({ success: true, data: { registered: 0 } });
    expect(names(registry)).toEqual(['a', 'c']);
  });

  it('is asked for again before long, alone, and kept as it was when it fails later', async () => {
    let isBroken = true;
    const { registry, asked, pass } = open({
      getTool: (name) => {
        if (name === 'b' && isBroken) throw new Error('row broken');
        return tool(name);
      },
    });
    await registry.discoverAllTools();
    await registry.discoverAllTools();
    expect(asked).toEqual(['list', 'a', 'b', 'c']);
    isBroken = false;
    pass(1_000);
    expect(await registry.discoverAllTools()).toEqual({ success: true, data: { registered: 0 } });
    expect(asked.splice(0)).toEqual(['list', 'a', 'b', 'c', 'list', 'b']);
    isBroken = true;
    pass(300_000);
    expect(await registry.discoverAllTools()).toEqual({ success: true, data: { registered: 0 } });
    expect(asked).toEqual(['list', 'a', 'b', 'c']);
    expect(names(registry)).toEqual(['a', 'b', 'c']);
  });
});

describe('a provider with many slow tools', () => {
  it('is read on behind: what is there can be used, and is not asked for twice', async () => {
    const all = Array.from({ length: 500 }, (_, at) => `t${at}`);
    const { registry, asked, pass } = open(
      {
        listToolMetadata: () => all.map((name) => ({ name })),
        getTool: (name) => new Promise((resolve) => setTimeout(() => resolve(tool(name)), 10)),
      },
      { providerMs: 150 },
    );
    expect(await registry.discoverAllTools()).toMatchObject({
      success: false,
      error: {
        code: 'TOOL_UNAVAILABLE',
        retryable: true,
        message: expect.stringMatching(/It described \d+ of its 500 tools within 150 ms; the others follow\)\. What/),
      },
    });
    const known = names(registry);
    expect(known.length).toBeLessThan(500);
    expect(await registry.callTool(String(known[0]))).toMatchObject({ success: true });
    // Somebody who looks for a tool that is not there yet does not wait again, and is told that it may come.
    expect(await registry.callTool('t499')).toMatchObject({ error: { code: 'TOOL_UNAVAILABLE', retryable: true } });
    // On a machine that stands still for a while, a few may be left out at first.
    for (let at = 0; at < 20 && names(registry).length < 500; at++, pass(300)) await registry.discoverAllTools();
    expect(names(registry)).toHaveLength(500);
    for (const name of known) expect(asked.filter((one) => one === name)).toHaveLength(1);
  });

  it('has an end: what was not described by then is left out', async () => {
    const { registry } = open(
      { listToolMetadata: () => Array.from({ length: 1_000 }, (_, at) => ({ name: `t${at}` })), getTool: never },
      { providerMs: 2 },
    );
    let result = await registry.discoverAllTools();
    for (let at = 0; at < 100 && !result.success; at++) result = await registry.discoverAllTools();
    if (!result.success) throw new Error('it has an end');
    expect(result.data.excluded).toHaveLength(1_000);
    expect(new Set(result.data.excluded?.map(({ reason }) => reason))).toEqual(
      new Set(['It was not described within 1 ms.', 'There was no time left to ask for it.']),
    );
  });
});

describe('a list', () => {
  it('that fails makes the tools unavailable, and asking again may help', async () => {
    const log = memoryLog();
    const { registry } = open(
      {
        listToolMetadata: () => {
          throw new Error('no route to pg://ada:hunter2@db.');
        },
      },
      { logger: log },
    );
    expect(await registry.discoverAllTools('trace')).toMatchObject({
      error: {
        code: 'TOOL_UNAVAILABLE',
        retryable: true,
        message: 'Not all tools could be read: scripts (no route to pg://***@db). What was known before stays.',
        failures: [{ code: 'SERVER_CONNECTION_ERROR', server: 'scripts', outcome: 'not_sent' }],
      },
    });
    expect(await registry.callTool('deploy')).toMatchObject({
      error: {
        code: 'TOOL_UNAVAILABLE',
        retryable: true,
        message: 'There is no tool "deploy". But the tools of scripts are not known: no route to pg://***@db.',
      },
    });
    expect(log.lines.join()).not.toContain('hunter2');
  });

  it.each<[string, unknown, string]>([
    ['a code of ours', new DiscoveryError('SERVER_AUTH_REQUIRED', 'log in'), 'SERVER_AUTH_REQUIRED'],
    ['an object without a prototype', Object.create(null), 'SERVER_CONNECTION_ERROR'],
  ])('may fail with %s', async (_what, thrown, code) => {
    const { registry } = open({ listToolMetadata: () => Promise.reject(thrown) });
    expect(await registry.discoverAllTools()).toMatchObject({
      error: { code: 'TOOL_UNAVAILABLE', failures: [{ code, server: 'scripts' }] },
    });
  });

  it('that hangs is waited for once by those who look for a tool, and again later and later', async () => {
    const { registry, asked, pass } = open({ listToolMetadata: never }, { providerMs: 10 });
    for (let at = 0; at < 5; at++)
      expect(await registry.callTool('nope')).toMatchObject({ error: { code: 'TOOL_UNAVAILABLE' } });
    expect(asked).toHaveLength(1);
    pass(1_000);
    await registry.callTool('nope');
    pass(1_000);
    await registry.callTool('nope');
    expect(asked).toHaveLength(2);
    pass(1_000);
    await registry.callTool('nope');
    expect(asked).toHaveLength(3);
    // Who asks for the tools themselves gets an answer of now.
    await registry.discoverAllTools();
    expect(asked).toHaveLength(4);
  });

  it('is read anew when the provider says that it changed, definitions included', async () => {
    let revision = 1;
    let listed: ToolSummary[] = [{ name: 'a' }];
    const provider = {
      get revision() {
        return revision;
      },
      listToolMetadata: () => listed,
      getTool: (name: string) => ({ ...tool(name), description: `revision ${revision}` }),
      callTool: () => ({ content: [] }),
    };
    const registry = new UnifiedToolRegistry();
    registry.addProvider(provider);
    await registry.discoverAllTools();
    listed = [{ name: 'b' }, { name: 'a' }];
    await registry.discoverAllTools();
    expect(names(registry)).toEqual(['a']);
    revision = 2;
    await registry.discoverAllTools();
    expect(registry.getToolDefinitions()).toMatchObject([
      { name: 'a', description: 'revision 2' },
      { name: 'b', description: 'revision 2' },
    ]);
  });

  it('may be made by looking at the registry itself', async () => {
    const registry = new UnifiedToolRegistry({ providerMs: 20 });
    registry.addProvider({
      listToolMetadata: async () => {
        await registry.discoverAllTools();
        return [];
      },
      getTool: () => undefined,
      callTool: () => ({ content: [] }),
    });
    expect(await registry.discoverAllTools()).toMatchObject({ success: true });
  });

  it('is read although name and revision cannot be', async () => {
    const registry = new UnifiedToolRegistry();
    const provider = { listToolMetadata: () => [{ name: 'a' }], getTool: tool, callTool: () => ({ content: [] }) };
    const broken = { get: () => JSON.parse('{') };
    registry.addProvider(Object.defineProperties(provider, { name: broken, revision: broken }));
    expect(await registry.discoverAllTools()).toMatchObject({ success: true });
    expect(names(registry)).toEqual(['a']);
  });
});

describe('a call of a provider’s tool', () => {
  it('ends after its time, and the provider is told', async () => {
    let ended: AbortSignal | undefined;
    const { registry } = open(
      {
        callTool: (_name, _args, { signal }) => {
          ended = signal;
          return never();
        },
      },
      { callMs: 20 },
    );
    expect(await registry.callTool('a')).toMatchObject({
      error: {
        code: 'TOOL_EXECUTION_FAILED',
        message: 'a gave no answer within 20 ms.',
        details: { code: 'TOOL_EXECUTION_TIMEOUT', tool: 'a', outcome: 'unknown' },
      },
    });
    expect(ended?.aborted).toBe(true);
  });
});

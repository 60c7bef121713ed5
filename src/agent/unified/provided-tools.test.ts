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
  const registry = new UnifiedToolRegistry({ now: () => time, providerMs: 1_500, ...options });
  registry.addProvider(provider);
  const pass = (ms: number) => {
    time += ms;
  };
  return { registry, provider, given, asked, pass };
}

describe.concurrent('one tool that cannot be described', () => {
  it.each<[string, ToolProvider['getTool']]>([
    [
      'throws',
      () => {
        throw new Error('row broken, pg://ada:hunter2@db');
      },
    ],
    ['hangs', never],
    ['is no definition', () => 'text' as never],
    ['has gone since it was listed', () => undefined],
  ])('is left out and the others stay: %s', async (_what, getTool) => {
    const { registry } = open({
      getTool: (name, context) => (name === 'b' ? getTool(name, context) : tool(name)),
    });
    expect(await registry.discoverAllTools()).toEqual({
      success: true,
      data: {
        registered: 0,
        excluded: [{ serverName: null, toolName: 'b', reason: 'scripts did not describe it' }],
      },
    });
    expect(names(registry)).toEqual(['a', 'c']);
  });

  it('is asked for again by the next discovery, and kept as it was when it fails later', async () => {
    let isBroken = true;
    const { registry, pass } = open({
      getTool: (name) => {
        if (name === 'b' && isBroken) throw new Error('row broken');
        return tool(name);
      },
    });
    await registry.discoverAllTools();
    expect(names(registry)).toEqual(['a', 'c']);
    isBroken = false;
    expect(await registry.discoverAllTools()).toEqual({ success: true, data: { registered: 0 } });
    expect(names(registry)).toEqual(['a', 'b', 'c']);
    isBroken = true;
    pass(300_000);
    expect(await registry.discoverAllTools()).toEqual({ success: true, data: { registered: 0 } });
    expect(names(registry)).toEqual(['a', 'b', 'c']);
  });
});

describe.concurrent('a provider with many tools', () => {
  it('is not looked at again for each tool that is shown', async () => {
    let reads = 0;
    const registry = new UnifiedToolRegistry();
    registry.addProvider({
      get name() {
        reads++;
        return 'scripts';
      },
      listToolMetadata: () => Array.from({ length: 500 }, (_, at) => tool(`t${at}`)),
      getTool: tool,
      callTool: () => ({ content: [] }),
    });
    await registry.discoverAllTools();
    expect(names(registry)).toHaveLength(500);
    expect(reads).toBeLessThan(50);
  });
});

describe.concurrent('a provider with many slow tools', () => {
  it('is read on in the background: what is there can be used, and is not asked for twice', async () => {
    const all = Array.from({ length: 500 }, (_, at) => `t${at}`);
    const { registry, asked } = open({
      listToolMetadata: () => all.map((name) => ({ name })),
      getTool: (name) => new Promise((resolve) => setTimeout(() => resolve(tool(name)), 100)),
    });
    // On a loaded machine the first answers come after the first wait.
    do await registry.discoverAllTools();
    while (names(registry).length === 0);
    const known = names(registry);
    expect(known.length).toBeLessThan(500);
    expect(await registry.callTool(String(known[0]))).toMatchObject({ success: true });
    for (let at = 0; at < 20 && names(registry).length < 500; at++) await registry.discoverAllTools();
    expect(names(registry)).toHaveLength(500);
    expect(asked.filter((one) => one !== 'list')).toHaveLength(500);
  }, 20_000);

  it('has an end: tools that are never described are left out', async () => {
    const { registry } = open(
      { listToolMetadata: () => Array.from({ length: 1_000 }, (_, at) => ({ name: `t${at}` })), getTool: never },
      { providerMs: 2_000 },
    );
    const result = await registry.discoverAllTools();
    expect(result.success && result.data.excluded).toHaveLength(1_000);
  });
});

describe.concurrent('a list', () => {
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

  it('that hangs is waited for once by calls that look for a tool', async () => {
    const { registry, asked } = open({ listToolMetadata: never }, { providerMs: 10 });
    for (let at = 0; at < 5; at++)
      expect(await registry.callTool('nope')).toMatchObject({ error: { code: 'TOOL_UNAVAILABLE', retryable: true } });
    expect(asked).toHaveLength(1);
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
    const registry = new UnifiedToolRegistry();
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

describe.concurrent('a call of a provider’s tool', () => {
  it('ends after its time, and the provider is told', async () => {
    let ended: AbortSignal | undefined;
    const { registry } = open(
      {
        callTool: (_name, _args, { signal }) => {
          ended = signal;
          return never();
        },
      },
      { callMs: 500 },
    );
    expect(await registry.callTool('a')).toMatchObject({
      error: {
        code: 'TOOL_EXECUTION_FAILED',
        details: { code: 'TOOL_EXECUTION_TIMEOUT', tool: 'a', outcome: 'unknown' },
      },
    });
    expect(ended?.aborted).toBe(true);
  });
});

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { folder, memoryLog, sample, until } from '../../test/fixtures/engine.ts';
import { ConfigurationLoader } from '../config/configuration-loader.ts';
import { ToolNotFoundError } from '../core/errors.ts';
import type { ToolProvider } from '../core/tool-provider.ts';
import { ToolRegistry } from '../registry.ts';
import { DiscoveryEngine } from './discovery-engine.ts';

const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };

/** A provider with one tool, `add`, that adds one. */
const adding = (more: Partial<ToolProvider> = {}): ToolProvider => ({
  listToolMetadata: () => [{ name: 'add', description: 'Add one to a number', inputSchema: schema }],
  getTool: () => undefined,
  callTool: (_name, { n }) => ({ content: [{ type: 'text', text: String(Number(n) + 1) }] }),
  ...more,
});
const registryWith = (name: string, options = {}) => {
  const registry = new ToolRegistry(options);
  registry.registerTool({ name, description: `Does what ${name} says` }, () => name);
  return registry;
};
const units = { name: 'units', connection: { type: 'stdio' as const, ...sample('units') } };

describe('a registry', () => {
  it('checks arguments itself, because its schemas may convert them', async () => {
    const registry = new ToolRegistry({ name: 'own' });
    const inputSchema = z.object({ n: z.coerce.number(), unit: z.string().default('m') });
    registry.registerTool('measure', { description: 'Measures', inputSchema }, ({ n, unit }) => `${n + 1} ${unit}`);
    await using engine = new DiscoveryEngine({ providers: [registry] });
    expect(await engine.executeTool('own', 'measure', { n: '3' })).toMatchObject({
      result: { content: [{ text: '4 m' }] },
    });
    expect(await engine.executeTool('own', 'measure', {})).toMatchObject({
      error: { code: 'TOOL_VALIDATION_ERROR', outcome: 'not_sent' },
    });
  });
});

describe('a provider that misbehaves', () => {
  const never = () => new Promise<never>(() => {});

  it('delays no call of another tool when it hangs, and no unknown name for long', async () => {
    const hanging = adding({ name: 'hanging', listToolMetadata: never });
    await using engine = new DiscoveryEngine({ servers: [units], providers: [hanging, registryWith('hello')] });
    const call = (name: string) => engine.handle({ type: 'tool_use', id: '1', name, input: {} });
    const answers = Promise.all([call('hello'), call('units__nothing'), call('nonesuch')]);
    const late = new Promise((resolve) => setTimeout(resolve, 15_000, 'late').unref());
    expect(await Promise.race([answers, late])).toMatchObject([
      { content: [{ text: 'hello' }] },
      { is_error: true },
      { is_error: true },
    ]);
  });

  it('gets an error for a result that refers to itself', async () => {
    const result: Record<string, unknown> = { content: [] };
    result.structuredContent = { again: result };
    await using engine = new DiscoveryEngine({ providers: [adding({ callTool: () => result as never })] });
    expect(await engine.executeTool('own', 'add', { n: 1 })).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('refer to themselves') }] },
    });
  });

  it('may have a method named listTools, which is not called', async () => {
    const client = { ...adding(), listTools: () => Promise.reject(new Error('not connected')) };
    await using engine = new DiscoveryEngine({ providers: [client] });
    expect(await engine.listServers()).toMatchObject([{ name: 'own' }]);
  });

  it('may throw when it is asked for its name', async () => {
    const nameless = Object.defineProperty(adding(), 'name', {
      get: () => {
        throw new Error('no name');
      },
    });
    await using engine = new DiscoveryEngine({ providers: [nameless] });
    expect(await engine.listServers()).toMatchObject([{ name: 'own' }]);
  });
});

describe('two sources whose pairs give one name', () => {
  it('are called apart by the tools of the AI SDK', async () => {
    const one = (name: string, tool: string) =>
      adding({
        name,
        listToolMetadata: () => [{ name: tool, inputSchema: { type: 'object' } }],
        callTool: () => ({ content: [{ type: 'text', text: `${name} ${tool}` }] }),
      });
    await using engine = new DiscoveryEngine({ providers: [adding(), one('a', 'b__c'), one('a__b', 'c')] });
    await engine.ready();
    const tools = Object.values(engine.tools({ format: 'ai-sdk', mode: 'all' }));
    const answers = await Promise.all(
      tools.map(async ({ execute }) => JSON.stringify(await execute?.({ n: 1 }, { toolCallId: '1' }))),
    );
    for (const name of ['a b__c', 'a__b c']) expect(answers.filter((answer) => answer.includes(name))).toHaveLength(1);
  });
});

describe('an engine as a provider', () => {
  it('keeps annotations and output schemas', async () => {
    const annotations = { destructiveHint: true };
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } } };
    const listToolMetadata = () => [{ name: 'add', inputSchema: schema, outputSchema, annotations }];
    await using inner = new DiscoveryEngine({ providers: [adding({ listToolMetadata })] });
    expect(await inner.listToolMetadata()).toMatchObject([{ name: 'add', annotations, outputSchema }]);
  });
});

describe('a model that was shown all tools', () => {
  it('is sent to no meta-tool', async () => {
    await using engine = new DiscoveryEngine({ providers: [adding()] });
    await engine.ready();
    engine.tools({ mode: 'all' });
    const answer = await engine.handle({ type: 'tool_use', id: '1', name: 'qqqqqqqq', input: {} });
    expect(JSON.stringify(answer)).not.toMatch(/search_tools|list_tools|list_mcp_servers/);
  });
});

describe('a provider of an engine', () => {
  it('is a source like a server: listed, described, searched and called', async () => {
    await using engine = new DiscoveryEngine({ providers: [adding()] });
    expect(await engine.searchTools('add one')).toMatchObject([{ server: 'own', tool: 'add', args: 'n: number' }]);
    expect(await engine.listServers()).toMatchObject([{ name: 'own', toolCount: 1, status: 'connected' }]);
    expect(await engine.listTools('own')).toMatchObject([{ name: 'add', enabled: true }]);
    expect(await engine.getToolDetails('own', 'add')).toMatchObject({ parameters: [{ name: 'n', required: true }] });
    expect(await engine.executeTool('own', 'add', { n: 2 })).toMatchObject({ result: { content: [{ text: '3' }] } });
    expect(await engine.executeTool('own', 'add', { n: 'two' })).toMatchObject({
      error: { code: 'TOOL_VALIDATION_ERROR' },
    });
  });

  it('keeps its own name, unless that is taken or reserved', async () => {
    const logger = memoryLog();
    const providers = [
      adding(),
      adding(),
      adding({ name: 'units' }),
      adding({ name: 'anygpt' }),
      adding({ name: 'mail' }),
    ];
    await using engine = new DiscoveryEngine({ servers: [units], providers }, { logger });
    const names = (await engine.listServers()).map(({ name }) => name);
    expect(names).toEqual(['units', 'own', 'own-2', 'units-2', 'own-3', 'mail']);
    expect(logger.lines.filter((line) => line.includes('is taken or reserved'))).toHaveLength(2);
  });

  it('never shares its name with another source', async () => {
    const names = fc.array(
      fc.option(fc.oneof(fc.string(), fc.constantFrom('own', 'own-2', 'anygpt')), { nil: undefined }),
      {
        maxLength: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(names, async (given) => {
        const providers = given.map((name) => adding({ name }));
        await using engine = new DiscoveryEngine({ providers });
        const called = (await engine.listServers()).map(({ name }) => name);
        expect(called).toHaveLength(given.length);
        expect(new Set(called).size).toBe(given.length);
        for (const name of called) expect(name.toLowerCase()).not.toMatch(/^(anygpt)?$/);
      }),
      { numRuns: 50 },
    );
  });

  it('may not use the names of meta-tools', async () => {
    expect(() => new DiscoveryEngine({ providers: [registryWith('search_tools')] })).toThrow('"search_tools"');
    const logger = memoryLog();
    const registry = registryWith('fine');
    await using engine = new DiscoveryEngine({ providers: [registry] }, { logger });
    registry.registerTool({ name: 'list_tools', description: 'Lists' }, () => 'x');
    expect((await engine.listTools('own')).map(({ name }) => name)).toEqual(['fine']);
    expect(logger.lines.join()).toContain('belongs to a meta-tool');
  });

  it('must have the three methods', () => {
    expect(() => new DiscoveryEngine({ providers: [{} as ToolProvider] })).toThrow('lacks listToolMetadata');
  });

  it('is subject to rules like a server', async () => {
    const toolRules = [{ pattern: ['own:add'], enabled: false }];
    await using engine = new DiscoveryEngine({ providers: [adding()], toolRules });
    expect(await engine.searchTools('add one')).toEqual([]);
    expect(await engine.executeTool('own', 'add', { n: 1 })).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
    expect(engine.tools({ mode: 'all' })).toEqual([]);
  });

  it('is found by keywords, and shows its visible tools beside the meta-tools', async () => {
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'dispatch', description: 'Send', visible: true }, () => 'sent', 'courier');
    await using engine = new DiscoveryEngine({ providers: [registry] });
    expect((await engine.searchTools('courier'))[0]).toMatchObject({ tool: 'dispatch' });
    expect(engine.tools({ mode: 'search' }).map(({ name }) => name)).toContain('dispatch');
  });

  it('that does not describe a tool is not asked again at every call', async () => {
    let asked = 0;
    const getTool = () => {
      asked++;
      return Promise.reject(new Error('down'));
    };
    await using engine = new DiscoveryEngine({
      providers: [adding({ listToolMetadata: () => [{ name: 'add', description: 'Add one' }], getTool })],
    });
    for (let n = 0; n < 5; n++) expect(await engine.executeTool('own', 'add', { n })).toMatchObject({ success: true });
    expect(asked).toBe(1);
  });

  it('is asked for a definition that its list left out, which then checks arguments', async () => {
    const asked: string[] = [];
    const lazy = (count: number) =>
      adding({
        listToolMetadata: () => Array.from({ length: count }, (_, n) => ({ name: `add_${n}`, description: 'Add one' })),
        getTool: (name) => {
          asked.push(name);
          return { name, inputSchema: schema };
        },
      });
    await using engine = new DiscoveryEngine({ providers: [lazy(1000)] });
    expect(await engine.executeTool('own', 'add_7', { n: 'x' })).toMatchObject({
      error: { code: 'TOOL_VALIDATION_ERROR' },
    });
    expect(await engine.executeTool('own', 'add_7', { n: 7 })).toMatchObject({ success: true });
    expect(await engine.getToolDetails('own', 'add_8')).toMatchObject({ parameters: [{ name: 'n' }] });
    expect(asked).toEqual(['add_7', 'add_8']);
    await using small = new DiscoveryEngine({ providers: [lazy(3)] });
    await small.ready();
    expect(small.tools({ mode: 'all' })).toMatchObject([{}, {}, { input_schema: { required: ['n'] } }]);
  });

  it('costs a note, never the answer, if it fails or hangs', async () => {
    const broken = adding({ name: 'broken', listToolMetadata: () => Promise.reject(new Error('out of order')) });
    const hanging = adding({ name: 'hanging', listToolMetadata: () => new Promise(() => {}) });
    await using engine = new DiscoveryEngine({ providers: [broken, hanging, adding()] });
    expect(await engine.searchTools('add one', { waitMs: 100 })).toMatchObject([{ server: 'own', tool: 'add' }]);
    const failed = await engine.ready({ waitMs: 200 });
    expect([...failed.keys()].sort()).toEqual(['broken', 'hanging']);
    const seen = await engine.handle({
      type: 'tool_use',
      id: '1',
      name: 'search_tools',
      input: { query: 'add one' },
    });
    expect(JSON.stringify(seen)).toContain('broken');
  });

  it('turns what a tool throws into an error result, and a missing tool into an error code', async () => {
    const throwing = adding({
      callTool: (name, { n }) => {
        if (n === 0) throw new ToolNotFoundError(name);
        throw new Error('token=ghp_0123456789abcdefghijABCDEFGHIJ012345');
      },
    });
    await using engine = new DiscoveryEngine({ providers: [throwing] });
    const thrown = await engine.executeTool('own', 'add', { n: 1 });
    expect(thrown).toMatchObject({ success: true, result: { isError: true } });
    expect(JSON.stringify(thrown)).not.toContain('ghp_0123456789');
    expect(await engine.executeTool('own', 'add', { n: 0 })).toMatchObject({ error: { code: 'TOOL_NOT_FOUND' } });
  });

  it('is told when a call is cancelled, and reports progress', async () => {
    let aborted = false;
    const slow = adding({
      callTool: (_name, _args, { signal, onProgress }) => {
        onProgress?.({ progress: 1 });
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(signal.reason);
          });
        });
      },
    });
    await using engine = new DiscoveryEngine({ providers: [slow] });
    for await (const event of engine.executeStream('own', 'add', { n: 1 })) {
      expect(event).toEqual({ type: 'progress', progress: { progress: 1 } });
      break;
    }
    expect(aborted).toBe(true);
  });

  it('is read again when its revision changes, and not otherwise', async () => {
    let lists = 0;
    const counted = {
      ...adding({ listToolMetadata: () => [{ name: `tool_${++lists}`, inputSchema: schema }] }),
      revision: 1,
    };
    await using engine = new DiscoveryEngine({ providers: [counted] });
    const names = async () => (await engine.listTools('own')).map(({ name }) => name);
    expect([await names(), await names()]).toEqual([['tool_1'], ['tool_1']]);
    counted.revision = 2;
    expect([await names(), await names()]).toEqual([['tool_2'], ['tool_2']]);
  });

  it('is read again when a listed tool is missing', async () => {
    const names = ['here', 'gone'];
    const changing = adding({
      listToolMetadata: () => names.map((name) => ({ name, inputSchema: { type: 'object' } })),
      callTool: (name) => {
        if (!names.includes(name)) throw new ToolNotFoundError(name);
        return { content: [] };
      },
    });
    await using engine = new DiscoveryEngine({ providers: [changing] });
    await engine.ready();
    names.pop();
    expect(await engine.executeTool('own', 'gone')).toMatchObject({ error: { code: 'TOOL_NOT_FOUND' } });
    await until(async () => (await engine.listTools('own')).length === 1);
  });

  it('keeps its tools over a reload', async () => {
    let lists = 0;
    const counted = adding({ listToolMetadata: () => [{ name: `tool_${++lists}`, inputSchema: schema }] });
    await using engine = new DiscoveryEngine({ providers: [counted] });
    await engine.ready();
    await engine.reload();
    expect((await engine.listTools('own')).map(({ name }) => name)).toEqual(['tool_1']);
  });

  it('with a tool name that another provider has stays reachable by its own name', async () => {
    await using engine = new DiscoveryEngine({
      providers: [registryWith('same'), registryWith('same', { name: 'two' })],
    });
    await engine.ready();
    expect(engine.tools({ mode: 'all' }).map(({ name }) => name)).toEqual(['same', 'two__same']);
    const answer = await engine.handle({ type: 'tool_use', id: '1', name: 'two__same', input: {} });
    expect(answer.content).toMatchObject([{ text: 'same' }]);
  });
});

describe('what an engine keeps', () => {
  it('is in memory unless a folder is given', async () => {
    using home = folder();
    const env = { PATH: process.env.PATH, HOME: home.path, ANYGPT_HOME: join(home.path, '.anygpt') };
    await using engine = new DiscoveryEngine({ servers: [units], providers: [adding()] }, { env, home: home.path });
    await engine.ready({ waitMs: 20_000 });
    await engine.searchTools('convert a length');
    await engine.executeTool('units', 'convert_length', { value: 1, from: 'km', to: 'm' });
    await engine.close();
    expect(readdirSync(home.path)).toEqual([]);
  });

  it('is in the given folder, without the lists of providers', async () => {
    using home = folder();
    const state = join(home.path, 'state');
    const open = () => new DiscoveryEngine({ servers: [units], providers: [adding()], state });
    {
      await using engine = open();
      await engine.ready({ waitMs: 20_000 });
      await engine.executeTool('own', 'add', { n: 1 });
    }
    expect(existsSync(join(state, 'audit', 'audit.jsonl'))).toBe(true);
    expect(existsSync(join(state, 'cache'))).toBe(true);
    expect(home.contents()).toContain('convert_length');
    expect(home.contents()).not.toContain('Add one to a number');
    await using again = open();
    expect(await again.listServers()).toMatchObject([{ name: 'units', toolCount: 9 }, { name: 'own' }]);
  });

  it('is in the given folder also for a configuration that was loaded before', async () => {
    using home = folder();
    const config = join(home.path, 'mcp.json');
    writeFileSync(config, JSON.stringify({ toolRules: [{ pattern: ['forbidden'], enabled: false }] }));
    const away = join(home.path, 'away');
    mkdirSync(away);
    const loaded = await new ConfigurationLoader({ env: { ANYGPT_HOME: away }, home: away }).load(config);
    await using engine = new DiscoveryEngine(loaded);
    expect((await engine.getConfig()).toolRules).toEqual(loaded.toolRules);
    const providers = [registryWith('forbidden')];
    await using kept = new DiscoveryEngine({ ...loaded, providers, state: join(home.path, 'state') });
    expect(await kept.executeTool('own', 'forbidden')).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
    await kept.close();
    expect(existsSync(join(home.path, 'state', 'audit', 'audit.jsonl'))).toBe(true);
    expect(readdirSync(away)).toEqual([]);
  });
});

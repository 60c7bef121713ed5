import { describe, expect, it } from 'vitest';
import { sample, until } from '../../test/fixtures/engine.ts';
import { ConfigurationLoader } from '../config/configuration-loader.ts';
import type { ToolProvider } from '../core/tool-provider.ts';
import { META_TOOL_NAMES } from '../meta-tools/meta-tools.ts';
import { ToolRegistry, withRequestProviders } from '../registry.ts';
import { DiscoveryEngine } from './discovery-engine.ts';

const registryWith = (...names: string[]) => {
  const registry = new ToolRegistry();
  for (const name of names) registry.registerTool({ name, description: `Does what ${name} says` }, () => name);
  return registry;
};
const provider = (list: ToolProvider['listToolMetadata'], more: Partial<ToolProvider> = {}): ToolProvider => ({
  listToolMetadata: list,
  getTool: () => undefined,
  callTool: (name) => ({ content: [{ type: 'text', text: name }] }),
  ...more,
});
const inputSchema = { type: 'object' };
const units = { name: 'units', connection: { type: 'stdio' as const, ...sample('units') } };
const namesIn = (engine: DiscoveryEngine, mode?: 'all' | 'search' | 'auto') =>
  engine.tools({ mode }).map(({ name }) => name);

describe('the tools of an engine that was just made', () => {
  it('fail no process because many providers cannot list theirs', async () => {
    const unhandled: unknown[] = [];
    const hear = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', hear);
    try {
      const broken = Array.from({ length: 12 }, () => provider(() => Promise.reject(new Error('no list'))));
      await using engine = new DiscoveryEngine({ providers: broken });
      await engine.getConfig();
      expect(namesIn(engine, 'all')).toEqual([]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', hear);
    }
  });

  it('are the own tools, which nothing has to wait for', async () => {
    const own = provider(() => [{ name: 'add', inputSchema }], { name: 'sums' });
    await using engine = new DiscoveryEngine({ providers: [registryWith('hello', 'bye'), own] });
    expect(namesIn(engine)).toEqual(['add', 'bye', 'hello']);
    expect(namesIn(engine, 'search')).toEqual(META_TOOL_NAMES);
  });

  it('are the meta-tools and visible own tools while servers are not listed', async () => {
    const registry = registryWith('hidden');
    registry.registerTool({ name: 'shown', description: 'Is shown', visible: true }, () => '');
    await using engine = new DiscoveryEngine({ servers: [units], providers: [registry] });
    expect(namesIn(engine)).toEqual([...META_TOOL_NAMES, 'shown']);
    expect(namesIn(engine, 'all')).toEqual(['hidden', 'shown']);
    expect(engine.tools({ mode: 'search' })[0]?.description).toContain('own, units');
  });

  it('obey the rules of the configuration, also those that are only known later', async () => {
    const providers = [registryWith('keep', 'drop_it')];
    const glob = { toolRules: [{ pattern: ['own:drop_*'], enabled: false }] };
    const regex = { toolRules: [{ pattern: ['/^drop/'], enabled: false }] };
    await using first = new DiscoveryEngine({ discovery: glob, providers });
    expect(namesIn(first, 'all')).toEqual(['keep']);
    await using second = new DiscoveryEngine({ ...regex, providers });
    expect(namesIn(second, 'all')).toEqual([]);
    await second.listServers();
    expect(namesIn(second, 'all')).toEqual(['keep']);
    const loaded = await new ConfigurationLoader({ env: {} }).resolve(glob);
    await using third = new DiscoveryEngine({ ...loaded, providers });
    expect(namesIn(third, 'all')).toEqual(['keep']);
  });

  it('are none of its own while the rules of other files are unknown', async () => {
    await using engine = new DiscoveryEngine({ sources: [{ type: 'cursor' }], providers: [registryWith('hello')] });
    expect(namesIn(engine, 'all')).toEqual([]);
    await engine.listServers();
    expect(namesIn(engine, 'all')).toEqual(['hello']);
  });

  it('are called by the names that were shown', async () => {
    await using engine = new DiscoveryEngine({ providers: [registryWith('hello')] });
    const [tool] = engine.tools();
    const answer = await engine.handle({ type: 'tool_use', id: '1', name: tool?.name ?? '', input: {} });
    expect(answer.content).toMatchObject([{ text: 'hello' }]);
  });

  it('of a provider that has to be waited for come once it has answered, and it is asked once', async () => {
    let asked = 0;
    const slow = provider(async () => {
      asked++;
      return [{ name: 'slow', inputSchema }];
    });
    await using engine = new DiscoveryEngine({ providers: [slow] });
    expect(namesIn(engine, 'all')).toEqual([]);
    await until(() => namesIn(engine, 'all').length === 1);
    expect(asked).toBeLessThanOrEqual(2);
  });
});

describe('the tools of an engine whose registry changes', () => {
  it('follow each change at once', async () => {
    const registry = registryWith('hello');
    await using engine = new DiscoveryEngine({ providers: [registry] });
    await engine.ready();
    const late = registry.registerTool({ name: 'late', description: 'Came late' }, () => 'late');
    expect(namesIn(engine, 'all')).toEqual(['hello', 'late']);
    expect(await engine.searchTools('came late')).toMatchObject([{ tool: 'late' }]);
    late.remove();
    expect(namesIn(engine, 'all')).toEqual(['hello']);
    expect((await engine.searchTools('came late')).map(({ tool }) => tool)).not.toContain('late');
  });

  it('include those of the request, and only there', async () => {
    await using engine = new DiscoveryEngine({ providers: [registryWith('hello')] });
    await engine.ready();
    const mine = registryWith('mine');
    expect(withRequestProviders(mine, () => namesIn(engine, 'all'))).toEqual(['hello', 'mine']);
    expect(namesIn(engine, 'all')).toEqual(['hello']);
  });

  it('are not asked for again while nothing changes, also of a provider that fails', async () => {
    let asked = 0;
    const failing = provider(() => {
      asked++;
      throw new Error('out of order');
    });
    await using engine = new DiscoveryEngine({ providers: [failing] });
    await engine.ready();
    const before = asked;
    for (let n = 0; n < 5; n++) expect(namesIn(engine, 'all')).toEqual([]);
    expect(asked).toBe(before);
  });
});

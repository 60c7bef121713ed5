import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { memoryLog, sample } from '../../test/fixtures/engine.ts';
import type { ToolProvider } from '../core/tool-provider.ts';
import { ToolRegistry, withRequestProviders } from '../registry.ts';
import { DiscoveryEngine } from './discovery-engine.ts';

const wide = {
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 400 }, (_, n) => [`field_${n}`, { type: 'object', description: `Field ${n} of the record` }]),
  ),
};
const providerOf = (
  name: string | undefined,
  tool: string,
  inputSchema: object = { type: 'object' },
): ToolProvider => ({
  name,
  listToolMetadata: () => [{ name: tool, description: `Does ${tool}`, inputSchema: inputSchema as never }],
  getTool: () => undefined,
  callTool: () => ({ content: [{ type: 'text', text: `${name} ${tool}` }] }),
});
const units = { name: 'tenant', connection: { type: 'stdio' as const, ...sample('units') } };

describe('a rule that denies a provider by its name', () => {
  const toolRules = [
    { pattern: ['erase'], server: 'tenant', enabled: false },
    { pattern: ['own:erase'], enabled: false },
  ];

  it('also covers a provider that was named apart from a server or another provider', async () => {
    const providers = [providerOf('tenant', 'erase'), providerOf(undefined, 'read'), providerOf(undefined, 'erase')];
    await using engine = new DiscoveryEngine({ servers: [units], providers, toolRules });
    expect((await engine.listServers()).map(({ name }) => name)).toEqual(['tenant', 'tenant-2', 'own', 'own-2']);
    expect(engine.tools({ mode: 'all' }).map(({ name }) => name)).toEqual(['read']);
    for (const server of ['tenant-2', 'own-2'])
      expect(await engine.executeTool(server, 'erase')).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
    expect(await engine.executeTool('own', 'read')).toMatchObject({ success: true });
  });

  it('also covers a provider of one request, and its new name is logged once', async () => {
    const logger = memoryLog();
    await using engine = new DiscoveryEngine({ servers: [units], toolRules }, { logger });
    await withRequestProviders([providerOf('tenant', 'erase')], async () => {
      expect(await engine.executeTool('tenant-2', 'erase')).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
      expect(await engine.getToolDetails('tenant-2', 'erase')).toBeNull();
      expect((await engine.searchTools('erase')).filter(({ tool }) => tool === 'erase')).toEqual([]);
    });
    expect(logger.lines.filter((line) => line.includes('is named "tenant-2"'))).toHaveLength(1);
  });
});

describe('the schema of a tool that only one request has', () => {
  it('can be read there, and nowhere else', async () => {
    await using engine = new DiscoveryEngine({});
    const read = () => engine.executeTool('anygpt', 'read_schema', { server: 'mine', tool: 'record', path: 'field_7' });
    const found = await withRequestProviders([providerOf('mine', 'record', wide)], read);
    expect(JSON.stringify(found)).toContain('Field 7 of the record');
    expect(await read()).toMatchObject({ error: { code: 'SERVER_NOT_FOUND' } });
  });
});

describe('what models are told', () => {
  const call = (engine: DiscoveryEngine, name: string) =>
    engine.handle({ type: 'tool_use', id: '1', name, input: {} }).then((answer) => JSON.stringify(answer));

  it('names meta-tools in no answer to a call by name once some model was shown all tools', async () => {
    await using engine = new DiscoveryEngine({ providers: [providerOf(undefined, 'read')] });
    expect(await call(engine, 'qqqqqqqq')).toContain('search_tools');
    engine.tools({ mode: 'all' });
    engine.tools({ mode: 'search' });
    expect(await call(engine, 'qqqqqqqq')).not.toContain('search_tools');
    expect(await call(engine, 'execute_tool')).toContain('execute_tool');
  });

  it('names them still to a model that is known to have them', async () => {
    await using engine = new DiscoveryEngine({ providers: [providerOf(undefined, 'read')] });
    const told = async (mode: 'search' | 'all') => {
      const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
      engine.attach(server, { mode });
      const client = new Client({ name: 'test', version: '1' });
      const [a, b] = InMemoryTransport.createLinkedPair();
      await Promise.all([server.connect(a), client.connect(b)]);
      await client.listTools();
      const answer = await client.callTool({ name: 'qqqqqqqq' });
      await client.close();
      return JSON.stringify(answer);
    };
    engine.tools({ mode: 'all' });
    expect(await told('all')).not.toContain('search_tools');
    expect(await told('search')).toContain('search_tools');
  });

  it('keeps names that were shown earlier, however many requests list their own tools', async () => {
    const registry = new ToolRegistry();
    const other = new ToolRegistry({ name: 'other' });
    for (const one of [registry, other]) one.registerTool({ name: 'same', description: 'Same' }, () => 'same');
    await using engine = new DiscoveryEngine({ providers: [registry, other] });
    expect(engine.tools({ mode: 'all' }).map(({ name }) => name)).toEqual(['other__same', 'same']);
    for (let n = 0; n < 50; n++)
      withRequestProviders(providerOf('mine', `tool_${n}`), () => engine.tools({ mode: 'all' }));
    expect(await call(engine, 'other__same')).toContain('same');
  });
});

describe('an engine inside another', () => {
  it('is not listed again because a request brings tools along', async () => {
    await using inner = new DiscoveryEngine({ providers: [providerOf(undefined, 'read')] });
    let lists = 0;
    const counted: ToolProvider = {
      get revision() {
        return inner.revision;
      },
      listToolMetadata: () => {
        lists++;
        return inner.listToolMetadata();
      },
      getTool: (name) => inner.getTool(name),
      callTool: (name, args, context) => inner.callTool(name, args, context),
    };
    await using outer = new DiscoveryEngine({ providers: [counted] });
    await outer.ready();
    await outer.searchTools('read');
    const before = lists;
    for (let n = 0; n < 5; n++)
      await withRequestProviders(providerOf('mine', `tool_${n}`), () => outer.searchTools('read'));
    expect(lists).toBe(before);
  });
});

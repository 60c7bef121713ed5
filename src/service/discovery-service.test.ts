import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entry, folder, memoryLog, sample, until } from '../../test/fixtures/engine.ts';
import { type EvilHttp, type EvilRule, evil, evilHttp } from '../../test/fixtures/evil.ts';
import { itemsServer, WORLD } from '../../test/fixtures/items-world.ts';
import { readCapability } from '../../test/fixtures/rtfs/read-capability.ts';
import { ToolRegistry } from '../agent/registry/tool-registry.ts';
import { UnifiedToolRegistry } from '../agent/unified/unified-tool-registry.ts';
import type { ServerConfig } from '../config/define-config.ts';
import { LIMITS } from '../core/limits.ts';
import { DiscoveryEngine } from '../engine/discovery-engine.ts';
import { parallelOf, rateOf, retryOf, withDefaultTtl } from './discovery-options.ts';
import { exportFolder } from './export/export-formats.ts';
import { type CapabilityManifest, DiscoveryService } from './index.ts';

const stdio = (name: string, program: { command: string; args: readonly string[] }) =>
  entry(name, program) as ServerConfig;
const http = (name: string, { origin }: EvilHttp, more: object = {}): ServerConfig => ({
  name,
  connection: { type: 'http', url: `${origin}/mcp`, ...more },
});
const units = stdio('units', sample('units'));
const ONE_TOOL = { tools: [{ name: 'list_things', inputSchema: { type: 'object' } }] };
const QUICK = { retryPolicy: { initialDelayMs: 1, jitterFactor: 0 } };
const names = (tools: readonly CapabilityManifest[]) => tools.map(({ provider }) => provider.toolName);
const sent = (server: EvilHttp, header: string) =>
  new Set(server.journal().flatMap(({ http: request }) => (request ? [request.headers[header]] : [])));

describe('a server that is not configured', () => {
  it('is discovered; its tools are found and called once they are registered', async () => {
    await using engine = new DiscoveryEngine({ servers: [] });
    const service = engine.service();
    const tools = await service.discoverTools(units);
    const length = tools.find(({ provider }) => provider.toolName === 'convert_length') as CapabilityManifest;
    expect(length).toMatchObject({
      id: 'mcp.units.convert_length',
      inputType: expect.stringContaining('[:value :float]'),
    });
    const call = (tool: string) => engine.executeTool('units', tool, { value: 1, from: 'km', to: 'm' });
    expect(await engine.searchTools('convert a length')).toEqual([]);
    expect(await call('convert_length')).toMatchObject({ error: { code: 'SERVER_NOT_FOUND' } });

    await service.registerCapability(length);
    expect((await engine.searchTools('convert a length'))[0]).toMatchObject({
      server: 'units',
      tool: 'convert_length',
    });
    expect(await call('convert_length')).toMatchObject({ result: { structuredContent: { value: 1000, unit: 'm' } } });
    expect(await call('convert_weight')).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
    expect((await engine.listTools('units')).map(({ name }) => name)).toEqual(['convert_length']);
    await engine.reload();
    expect(await call('convert_length')).toMatchObject({ success: true });
  });

  it('obeys the rules: a denied tool is neither discovered nor registered', async () => {
    await using engine = new DiscoveryEngine({
      servers: [],
      toolRules: [{ pattern: ['*weight*'], enabled: false }],
    });
    const service = engine.service();
    const tools = await service.discoverTools(units, { registerInMarketplace: true });
    expect(names(tools)).toContain('convert_length');
    expect(names(tools)).not.toContain('convert_weight');
    const weight = service.toolToManifest(
      { name: 'convert_weight', inputSchema: { type: 'object' } } as never,
      'units',
    );
    await service.registerCapability(weight);
    expect(await engine.executeTool('units', 'convert_weight', {})).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
  });

  it('must not take the name of a configured one, and is replaced by another one of its own name', async () => {
    using other = evil(ONE_TOOL);
    await using engine = new DiscoveryEngine({ servers: [stdio('mine', sample('weather'))] });
    const service = engine.service();
    await expect(service.discoverTools(stdio('mine', other))).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await service.discoverTools(stdio('guest', sample('units')), { registerInMarketplace: true });
    expect(names(await service.discoverTools(stdio('guest', other)))).toEqual(['list_things']);
    expect(await engine.listTools('guest')).toEqual([]);
  });

  it('is registered from a capability that was written down, if that says where the server is', async () => {
    await using server = await evilHttp(ONE_TOOL);
    const url = `${server.origin}/mcp`;
    await using engine = new DiscoveryEngine({ servers: [] });
    const service = engine.service();
    const tool = { name: 'list_things', inputSchema: { type: 'object' } } as const;
    const remote = { name: 'far', connection: { type: 'http', url, headers: {}, auth: undefined } } as const;
    await service.registerCapability(service.toolToManifest(tool as never, remote));
    expect(await engine.executeTool('far', 'list_things', {})).toMatchObject({ success: true });
    const forged = { ...remote, name: 'forged', connection: { ...remote.connection, url: `${url}?\${HOME}` } };
    const bad = service.toolToManifest(tool as never, forged);
    const withVariable = { ...bad, provider: { ...bad.provider, serverUrl: forged.connection.url } };
    await expect(service.registerCapability(withVariable)).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
    await expect(service.registerCapability(service.toolToManifest(tool as never, 'nowhere'))).rejects.toMatchObject({
      code: 'SERVER_NOT_FOUND',
      message: 'The server "nowhere" is not known. Discover its tools first.',
    });
  });
});

describe('a discovery over HTTP', () => {
  it('greets the server, lists its tools and ends the session, in this order', async () => {
    await using server = await evilHttp({ era: 'legacy', transports: ['streamable'], ...ONE_TOOL });
    await using engine = new DiscoveryEngine({ servers: [] });
    await engine.service().discoverTools(http('s', server));
    const steps = () => server.journal().flatMap(({ frame, http: request }) => frame?.method ?? request?.method ?? []);
    await until(() => steps().includes('DELETE'));
    const wanted = ['initialize', 'tools/list', 'DELETE'];
    expect(steps().filter((step) => wanted.includes(step))).toEqual(wanted);
  });
});

describe('resources', () => {
  it('are discovered with templates and prompts, cached like tools, and obey the rules', async () => {
    using home = folder();
    const { entry: docs, journal } = itemsServer(home, WORLD);
    await using engine = new DiscoveryEngine({ servers: [] });
    const service = engine.service();
    expect(await service.discoverResources(docs as ServerConfig)).toEqual(WORLD);
    const asked = journal().length;
    expect(await service.discoverResources('docs', { useCache: true })).toEqual(WORLD);
    expect(journal()).toHaveLength(asked);
    const toolRules = [{ pattern: ['prompt:*'], enabled: false }];
    await using strict = new DiscoveryEngine({ servers: [docs as ServerConfig], toolRules });
    expect(await strict.service().discoverResources('docs')).toEqual({ ...WORLD, prompts: [] });
  });
});

describe('an engine that is switched off', () => {
  it('discovers nothing', async () => {
    using server = evil(ONE_TOOL);
    await using engine = new DiscoveryEngine({ enabled: false, servers: [] });
    await expect(engine.service().discoverTools(stdio('s', server))).rejects.toThrow('switched off');
    expect(server.journal()).toEqual([]);
  });
});

describe('a configured server', () => {
  it('is discovered by its name, and its tools are known to the engine then', async () => {
    using server = evil(ONE_TOOL);
    await using engine = new DiscoveryEngine({ servers: [stdio('mine', server)] });
    expect(names(await engine.service().discoverTools('mine'))).toEqual(['list_things']);
    expect((await engine.listTools('mine')).map(({ name }) => name)).toEqual(['list_things']);
    expect(server.received('tools/list')).toHaveLength(1);
    await expect(engine.service().discoverTools('yours')).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
  });
});

describe('the options of a discovery', () => {
  it('useCache: asks every time by default, and once with it, until the list is too old', async () => {
    using server = evil(ONE_TOOL);
    let now = Date.now();
    await using engine = new DiscoveryEngine({ servers: [], cache: { ttl: 60 } }, { now: () => now });
    const service = engine.service();
    const asked = () => server.received('tools/list').length;
    await service.discoverTools(stdio('s', server));
    await service.discoverTools(stdio('s', server));
    expect(asked()).toBe(2);
    expect(names(await service.discoverTools(stdio('s', server), { useCache: true }))).toEqual(['list_things']);
    expect(asked()).toBe(2);
    now += 61_000;
    await service.discoverTools('s', { useCache: true });
    expect(asked()).toBe(3);
  });

  it('useCache: asks again once the cache of the server, or of all, was cleared', async () => {
    using configured = evil(ONE_TOOL);
    using other = evil(ONE_TOOL);
    const { name, connection } = stdio('configured', configured);
    await using engine = new DiscoveryEngine({ servers: [{ name, connection }] });
    const service = engine.service();
    const discover = async () => {
      await service.discoverTools('configured', { useCache: true });
      await service.discoverTools(stdio('other', other), { useCache: true });
      return [configured, other].map((server) => server.received('tools/list').length);
    };
    expect([await discover(), await discover()]).toEqual([
      [1, 1],
      [1, 1],
    ]);
    await service.clearCache('other');
    expect(await discover()).toEqual([1, 2]);
    await service.clearCache('configured');
    expect(await discover()).toEqual([2, 2]);
    await service.clearCache();
    expect(await discover()).toEqual([3, 3]);
    await expect(service.clearCache('nobody')).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
  });

  it('authHeaders: replace the server’s own, and the list that they gave is not kept', async () => {
    await using server = await evilHttp(ONE_TOOL);
    const mine = http('s', server, { headers: { Authorization: 'Bearer configured-one' } });
    await using engine = new DiscoveryEngine({ servers: [mine] });
    const authHeaders = { authorization: 'Bearer other-one' };
    expect(names(await engine.service().discoverTools('s', { authHeaders }))).toEqual(['list_things']);
    expect(sent(server, 'authorization')).toEqual(new Set(['Bearer other-one']));
    expect((await engine.listServers())[0]?.listedAt).toBeUndefined();
    await engine.service().discoverTools('s');
    expect(sent(server, 'authorization')).toContain('Bearer configured-one');
  });

  it('retryPolicy: is followed', async () => {
    const refuse: EvilRule = { method: 'tools/list', nth: [1, 3], do: [{ http: { status: 503 } }] };
    await using server = await evilHttp({ ...ONE_TOOL, on: [refuse] });
    await using engine = new DiscoveryEngine({ servers: [http('s', server)] });
    const service = engine.service();
    const policy = { initialDelayMs: 1, jitterFactor: 0 };
    await expect(service.discoverTools('s', { retryPolicy: { ...policy, maxRetries: 0 } })).rejects.toThrow('503');
    await expect(service.discoverTools('s', { retryPolicy: { ...policy, maxRetries: 1 } })).rejects.toThrow('503');
    expect(server.received('tools/list')).toHaveLength(3);
    expect(names(await service.discoverTools('s', { retryPolicy: { ...policy, maxRetries: 1 } }))).toEqual([
      'list_things',
    ]);
  });

  it.each([
    ['429', [{ http: { status: 429 } }]],
    ['503', [{ http: { status: 503 } }]],
    ['a reset connection', [{ reset: true }]],
  ])('retryPolicy: %s is tried again, after pauses that grow', async (_what, steps) => {
    const failing: EvilRule = { method: 'tools/list', nth: [1, 2], do: steps };
    await using server = await evilHttp({ era: 'legacy', ...ONE_TOOL, on: [failing] });
    await using engine = new DiscoveryEngine({ servers: [http('s', server)] });
    const retryPolicy = { initialDelayMs: 60, backoffMultiplier: 3, jitterFactor: 0 };
    expect(names(await engine.service().discoverTools('s', { retryPolicy }))).toEqual(['list_things']);
    const [first = 0, second = 0, third = 0] = server.received('tools/list').map(({ t }) => t);
    expect(second - first).toBeGreaterThanOrEqual(55);
    expect(third - second).toBeGreaterThanOrEqual(175);
  });

  it('retryPolicy: a server that did not answer in time is tried again', async () => {
    const silent: EvilRule = { method: 'initialize', nth: 1, do: [] };
    await using server = await evilHttp({ era: 'legacy', ...ONE_TOOL, on: [silent] });
    await using engine = new DiscoveryEngine({ servers: [{ ...http('s', server), timeouts: { connect: 2_000 } }] });
    expect(names(await engine.service().discoverTools('s', QUICK))).toEqual(['list_things']);
    expect(server.received('initialize')).toHaveLength(2);
  });

  it('rateLimit: is kept between discoveries, also for a local server', async () => {
    using server = evil(ONE_TOOL);
    await using engine = new DiscoveryEngine({ servers: [stdio('s', server)] });
    const options = { rateLimit: { requestsPerSecond: 2, burstSize: 1 } };
    const began = performance.now();
    await Promise.all([1, 2].map(() => engine.service().discoverTools('s', options)));
    expect(performance.now() - began).toBeGreaterThan(480);
  });

  it('registerInMarketplace and exportToRtfs: register and write what was found', async () => {
    using home = folder();
    await using engine = new DiscoveryEngine({ servers: [] });
    const exportDirectory = join(home.path, 'out');
    const tools = await engine
      .service()
      .discoverTools(units, { registerInMarketplace: true, exportToRtfs: true, exportDirectory });
    expect((await engine.listTools('units')).map(({ name }) => name)).toEqual(names(tools).toSorted());
    expect(readdirSync(join(exportDirectory, 'units'))).toHaveLength(tools.length);
    const read = readCapability(readFileSync(join(exportDirectory, 'units/convert_length.rtfs'), 'utf8'));
    expect(read.id).toBe('mcp.units.convert_length');
  });

  it('have the defaults of 004', async () => {
    await using engine = new DiscoveryEngine({ servers: [] });
    const { retry } = await engine.getConfig();
    expect(retryOf(undefined, retry)).toEqual({ attempts: 3, initial: 1_000, max: 30_000, factor: 2, jitter: 0.1 });
    expect(rateOf({})).toEqual({ requestsPerSecond: 10, burst: 20 });
    expect(parallelOf({})).toBe(5);
    expect(withDefaultTtl({})).toEqual({ cache: { ttl: 86_400 } });
    expect(withDefaultTtl({ cache: { ttl: 5 } })).toEqual({ cache: { ttl: 5 } });
    expect(LIMITS.age.registry).toBe(3_600_000);
    expect(exportFolder('rtfs')).toBe('capabilities/servers/pending');
  });

  it.each([
    { rateLimit: { requestsPerSecond: 0 } },
    { rateLimit: { burstSize: Number.NaN } },
    { retryPolicy: { maxRetries: -1 } },
    { maxParallelDiscoveries: 0 },
  ])('are checked: %j is refused', async (options) => {
    await using engine = new DiscoveryEngine({ servers: [] });
    await expect(engine.service().discoverTools(units, options)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  it('are off by default: nothing is registered or written', async () => {
    using home = folder();
    await using engine = new DiscoveryEngine({ servers: [] }, { cwd: home.path });
    await engine.service().discoverTools(units);
    expect(await engine.listServers()).toEqual([]);
    expect(existsSync('capabilities')).toBe(false);
  });
});

describe('ports', () => {
  it('a marketplace and a catalogue of the program get what is registered, instead of the engine', async () => {
    const [sold, shown]: [string[], string[]] = [[], []];
    await using engine = new DiscoveryEngine({ servers: [] });
    const service = engine.service({
      marketplace: { register: ({ id }) => void sold.push(id) },
      catalog: { register: async (manifest) => void shown.push(Object.keys(manifest).join()) },
    });
    await service.discoverTools(units, { registerInMarketplace: true });
    expect(sold).toContain('mcp.units.convert_length');
    expect(shown).toHaveLength(sold.length);
    expect(shown.join()).not.toContain('problems');
    expect(await engine.listServers()).toEqual([]);
  });
});

describe('several servers', () => {
  it('are discovered at most five at a time, or as many as wanted', async () => {
    const busy = { now: 0, most: 0 };
    const slow: EvilRule = { method: 'tools/list', do: [{ delay: 100 }, { default: true }] };
    await using server = await evilHttp({ ...ONE_TOOL, on: [slow] });
    const entries = Array.from({ length: 8 }, (_, at) => http(`s${at}`, server));
    const counting: typeof fetch = async (input, init) => {
      const isList = String(init?.body).includes('"tools/list"');
      if (isList) busy.most = Math.max(busy.most, ++busy.now);
      try {
        return await fetch(input, init);
      } finally {
        if (isList) busy.now--;
      }
    };
    await using engine = new DiscoveryEngine({ servers: entries }, { fetch: counting });
    const most = async (options: object) => {
      busy.most = 0;
      await engine.service().warmCacheForServers(
        entries.map(({ name }) => name),
        { useCache: false, ...options },
      );
      return busy.most;
    };
    expect(await most({})).toBeLessThanOrEqual(5);
    expect(await most({ maxParallelDiscoveries: 1 })).toBe(1);
    expect(await most({ maxParallelDiscoveries: 2 })).toBe(2);
  });

  it('warm the cache: statistics count them, their sessions are closed, and a broken one costs only itself', async () => {
    using one = evil(ONE_TOOL);
    using two = evil(ONE_TOOL);
    const broken = stdio('broken', { command: process.execPath, args: ['-e', 'process.exit(1)'] });
    await using engine = new DiscoveryEngine({ servers: [stdio('one', one), broken] });
    const stats = await engine.service().warmCacheForAllConfiguredServers();
    expect(stats).toMatchObject({ successful: 1, failed: 1, cachedTools: 1 });
    expect(stats.errors.get('broken')).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', stage: 'session' });
    expect(await engine.service().warmCacheForServers(['one', stdio('two', two)])).toMatchObject({
      successful: 2,
      failed: 0,
      cachedTools: 2,
    });
    // The first was known already.
    expect([one, two].map((server) => server.received('tools/list').length)).toEqual([1, 1]);
    await until(() => [one, two].every((server) => server.journal().some(({ event }) => event === 'exit')));
    expect((await engine.listServers()).map(({ status }) => status)).toEqual(['disconnected', 'error']);
  });
});

describe('a service of its own', () => {
  it('keeps its lists where CCOS_MCP_CACHE_DIR says, as long as CCOS_MCP_CACHE_TTL says', async () => {
    using home = folder();
    using server = evil(ONE_TOOL);
    const env = { PATH: process.env.PATH, CCOS_MCP_CACHE_DIR: home.path, CCOS_MCP_CACHE_TTL: '60' };
    let now = Date.now();
    const discover = async () => {
      await using service = new DiscoveryService({}, { env, now: () => now });
      return names(await service.discoverTools(stdio('s', server), { useCache: true }));
    };
    expect(await discover()).toEqual(['list_things']);
    expect(await discover()).toEqual(['list_things']);
    expect(server.received('tools/list')).toHaveLength(1);
    expect(readdirSync(home.path)).toContain('cache');
    now += 61_000;
    await discover();
    expect(server.received('tools/list')).toHaveLength(2);
  });

  it('sends GITHUB_MCP_TOKEN to the server github and MCP_AUTH_TOKEN to others, unless they have a header', async () => {
    await using server = await evilHttp(ONE_TOOL);
    const env = { PATH: process.env.PATH, MCP_AUTH_TOKEN: 'generic-token-1', GITHUB_MCP_TOKEN: 'github-token-2' };
    await using service = new DiscoveryService({}, { env });
    await service.discoverTools(http('other', server));
    expect(sent(server, 'authorization')).toEqual(new Set(['Bearer generic-token-1']));
    await service.discoverTools(http('github', server));
    expect(sent(server, 'authorization')).toContain('Bearer github-token-2');
    const before = server.journal().length;
    await service.discoverTools(http('third', server, { headers: { authorization: 'Bearer own-one-3' } }));
    const after = server.journal().slice(before);
    expect(after.flatMap(({ http: request }) => request?.headers.authorization ?? [])).not.toContain(
      'Bearer generic-token-1',
    );
  });

  it('gives a provider whose lists and calls have its authHeaders', async () => {
    await using server = await evilHttp(ONE_TOOL);
    await using service = new DiscoveryService({ servers: [] });
    const authHeaders = { Authorization: 'Bearer provider-one' };
    const registry = new ToolRegistry();
    registry.addProvider(service.provider(http('s', server), { authHeaders }));
    await registry.callTool('list_things', {});
    expect(server.received('tools/call')).toHaveLength(1);
    expect(sent(server, 'authorization')).toEqual(new Set(['Bearer provider-one']));
    expect(() => service.provider('s', { authHeaders })).toThrow('authHeaders');
  });

  it('is a provider in both registries', async () => {
    await using service = new DiscoveryService({ servers: [] });
    const tools = new ToolRegistry();
    tools.addProvider(service.provider(units));
    const args = { value: 1, from: 'km', to: 'm' };
    expect(await tools.callTool('convert_length', args)).toMatchObject({ structuredContent: { value: 1000 } });
    expect((await tools.listToolMetadata()).map(({ name }) => name)).toContain('convert_weight');

    await using unified = new UnifiedToolRegistry({ servers: [], logger: memoryLog() });
    unified.addProvider(service.provider(units));
    await unified.discoverAllTools();
    expect(await unified.callTool('convert_length', args)).toMatchObject({
      success: true,
      data: { structuredContent: { value: 1000 } },
    });
  });
});

describe('an error of a discovery says at which stage it happened', () => {
  const stageOf = async (server: ServerConfig, options: object = QUICK) => {
    await using engine = new DiscoveryEngine({ servers: [{ timeouts: { connect: 2_000 }, ...server }] });
    const error = await engine
      .service()
      .discoverTools(server.name, options)
      .catch((thrown) => thrown.toInfo());
    return { code: error.code, stage: error.stage, ...(error.retryAfterMs && { retryAfterMs: error.retryAfterMs }) };
  };
  const withRule = async (rule: EvilRule, options?: object) => {
    await using server = await evilHttp({ era: 'legacy', ...ONE_TOOL, on: [rule] });
    return await stageOf(http('s', server), options);
  };

  it('connection: nothing listens there, or there is no such program', async () => {
    const nobody = { name: 's', connection: { type: 'http', url: 'http://127.0.0.1:9/mcp' } } as const;
    expect(await stageOf(nobody)).toEqual({ code: 'SERVER_CONNECTION_ERROR', stage: 'connection' });
    const missing = stdio('s', { command: 'no-such-program-4711', args: [] });
    expect(await stageOf(missing)).toEqual({ code: 'SERVER_CONNECTION_ERROR', stage: 'connection' });
  });

  it('session: it is there and refuses the greeting', async () => {
    const refusal = { error: { code: -32603, message: 'not today' } };
    expect(await withRule({ method: 'initialize', do: [refusal] })).toEqual({
      code: 'SERVER_CONNECTION_ERROR',
      stage: 'session',
    });
  });

  it('list: it is greeted and gives no list', async () => {
    const refusal = { error: { code: -32603, message: 'no list' } };
    expect(await withRule({ method: 'tools/list', do: [refusal] })).toMatchObject({ stage: 'list' });
  });

  it('rate-limit: with when to come back', async () => {
    const http429 = { http: { status: 429, headers: { 'retry-after': '7' } } };
    expect(await withRule({ method: 'tools/list', do: [http429] }, { retryPolicy: { maxRetries: 0 } })).toEqual({
      code: 'RATE_LIMITED',
      stage: 'rate-limit',
      retryAfterMs: 7_000,
    });
  });

  it('authentication: it wants a token', async () => {
    expect(await withRule({ method: '*', do: [{ http: { status: 401 } }] })).toEqual({
      code: 'SERVER_AUTH_REQUIRED',
      stage: 'authentication',
    });
  });

  it('timeout: it does not answer', async () => {
    const once = { retryPolicy: { maxRetries: 0 } };
    expect(await withRule({ method: 'initialize', do: [] }, once)).toEqual({
      code: 'SERVER_CONNECTION_ERROR',
      stage: 'timeout',
    });
  });

  it('conversion: what RTFS cannot say is :any, and the tool says why', async () => {
    const inputSchema = { type: 'object', properties: { id: { type: ['string', 'null'] } } };
    using server = evil({ tools: [{ name: 'get_thing', inputSchema }] });
    await using engine = new DiscoveryEngine({ servers: [stdio('s', server)] });
    const [tool] = await engine.service().discoverTools('s');
    expect(tool?.inputType).toContain('[:id {:optional true} :any]');
    expect(tool?.problems[0]).toMatchObject({ stage: 'conversion', tool: 'get_thing', message: 'input id: any: null' });
  });
});

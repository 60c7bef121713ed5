/**
 * Promises that no folder keeps alone, shown on the engine as a program uses it, with real servers behind it.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { serveGatewayOnStdio } from '../src/gateway/serve-stdio.ts';
import * as library from '../src/index.ts';
import { startTestServer } from '../src/testing/start-test-server.ts';
import { type EvilHttp, evil, evilHttp } from './fixtures/evil.ts';
import { engineWith, rawClient, tempFolder } from './fixtures/gateway/kit.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const never = { type: 'stdio', command: 'never-started' };

describe('an exact name', () => {
  const crowd = Array.from({ length: 60 }, (_, index) => ({
    name: `helper-${index}`,
    connection: never,
    tools: [{ name: `do_${index}`, description: 'Archive a note, archive notes, note archive: archives any note.' }],
  }));
  const wanted = { name: 'notes', connection: never, tools: [{ name: 'archive_note', description: 'Puts it away.' }] };

  it.each(['archive_note', 'notes:archive_note', 'notes__archive_note'])('%s always gets a slot', async (query) => {
    await using engine = engineWith({ servers: [...crowd, wanted] });
    for (const limit of [1, 3]) {
      const [first] = await engine.searchTools(query, { limit });
      expect(first).toMatchObject({ server: 'notes', tool: 'archive_note', relevance: 1 });
    }
    const limited = await engine.searchTools('use archive_note for my note', { limit: 3 });
    expect(limited.map(({ tool }) => tool)).toContain('archive_note');
  });
});

describe('the description of search_tools', () => {
  it('stays as it is while servers come, go and change, until a reload', async () => {
    await using server = await startTestServer({ title: 'First', tools: { one: { call: () => '' } } });
    const servers = [
      { name: 'late', connection: never, enabled: false },
      { name: 'b', connection: server.connection },
      { name: 'a', connection: never },
    ];
    await using engine = engineWith({ servers });
    const client = rawClient();
    const served = serveGatewayOnStdio(engine, client);
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    await client.ask(1, 'initialize', hello);
    const before = await client.ask(2, 'tools/list');
    expect(JSON.stringify(before)).toContain(' in a, b by what they do');
    await client.ask(3, 'tools/call', { name: 'list_tools', arguments: { server: 'b' } });
    server.setTools({ two: { call: () => '' } });
    await client.ask(4, 'tools/call', { name: 'list_tools', arguments: { server: 'a' } });
    expect((await client.ask(5, 'tools/list')).result).toEqual(before.result);
    servers.push({ name: 'c', connection: never });
    await engine.reload();
    expect(JSON.stringify(await client.ask(6, 'tools/list'))).toContain(' in a, b, c by what they do');
    await served.close();
  });
});

describe('enabled: false', () => {
  it('at the top leaves no servers, and says why', async () => {
    await using engine = engineWith({ enabled: false, servers: [{ name: 'a', connection: never, tools: [] }] });
    expect(await engine.listServers()).toEqual([]);
    expect((await engine.find('anything')).success).toBe(true);
    expect(engine.notes().join(' ')).toContain('enabled');
  });

  it('of one server keeps it out of everything, and nothing starts it', async () => {
    using hidden = evil();
    await using engine = engineWith({
      servers: [
        { name: 'off', enabled: false, connection: { type: 'stdio', command: hidden.command, args: hidden.args } },
        { name: 'on', connection: never, tools: [{ name: 'echo', description: 'Echo' }] },
      ],
    });
    expect((await engine.listServers()).map(({ name }) => name)).toEqual(['on']);
    expect((await engine.searchTools('echo')).map(({ server }) => server)).toEqual(['on']);
    expect(await engine.executeTool('off', 'echo', {})).toMatchObject({ error: { code: 'SERVER_NOT_FOUND' } });
    expect(hidden.journal()).toEqual([]);
  });
});

describe("auth: 'env'", () => {
  it('sends the bearer of the server, else the common one, and to no other server', async () => {
    await using first = await evilHttp();
    await using second = await evilHttp();
    await using third = await evilHttp();
    const remote = (name: string, { origin }: EvilHttp, auth?: 'env') => ({
      name,
      connection: { type: 'http' as const, url: `${origin}/mcp`, ...(auth && { auth }) },
    });
    const env = { GIT_HUB_MCP_TOKEN: 'own-bearer-1', MCP_AUTH_TOKEN: 'common-bearer-2' };
    using home = tempFolder();
    await using engine = new library.DiscoveryEngine(
      {
        cache: { enabled: false },
        servers: [remote('git-hub', first, 'env'), remote('other', second, 'env'), remote('plain', third)],
      },
      { env: { ...env, ANYGPT_HOME: home.path } },
    );
    for (const server of ['git-hub', 'other', 'plain']) await engine.listTools(server);
    const sent = (server: typeof first) => [
      ...new Set(server.journal().flatMap(({ http }) => (http ? [http.headers.authorization] : []))),
    ];
    expect(sent(first)).toEqual(['Bearer own-bearer-1']);
    expect(sent(second)).toEqual(['Bearer common-bearer-2']);
    expect(sent(third)).toEqual([undefined]);
  });
});

describe('a server that does not answer', () => {
  it('costs its callers the call time-out, then five of them open the breaker, and others go on', async () => {
    using silent = evil({ on: [{ method: 'tools/call', do: [] }] });
    await using good = await startTestServer({ tools: { echo: { call: () => 'hi' } } });
    await using engine = engineWith({
      servers: [
        {
          name: 'silent',
          connection: { type: 'stdio', command: silent.command, args: silent.args },
          timeouts: { call: 150 },
        },
        { name: 'good', connection: good.connection },
      ],
    });
    await engine.listTools('silent');
    for (let call = 0; call < 5; call++) {
      expect(await engine.executeTool('silent', 'echo', { text: 'x' })).toMatchObject({
        error: { code: 'TOOL_EXECUTION_TIMEOUT', outcome: 'unknown' },
      });
    }
    const refused = await engine.executeTool('silent', 'echo', { text: 'x' });
    expect(refused).toMatchObject({ error: { code: 'SERVER_UNAVAILABLE', outcome: 'not_sent' } });
    expect(silent.received('tools/call')).toHaveLength(5);
    expect(await engine.executeTool('good', 'echo', {})).toMatchObject({ success: true });
  });
});

describe('discovery', () => {
  it('asks again after 429 and 503, and waits as long as it is told', async () => {
    const busy = (status: number) => [{ http: { status, headers: { 'retry-after': '0' }, body: '' } }];
    await using server = await evilHttp({
      on: [
        { method: 'tools/list', nth: 1, do: busy(429) },
        { method: 'tools/list', nth: 2, do: busy(503) },
      ],
    });
    await using engine = engineWith({
      servers: [{ name: 'busy', connection: { type: 'http', url: `${server.origin}/mcp` } }],
      retry: { initial: 10 },
    });
    expect(await engine.listTools('busy')).toHaveLength(1);
    expect(server.received('tools/list')).toHaveLength(3);
  });

  it('asks one remote server at most ten times a second after a burst of twenty', async () => {
    await using server = await evilHttp({ tools: { count: 40 }, pageSize: 1 });
    await using engine = engineWith({
      servers: [{ name: 'paged', connection: { type: 'http', url: `${server.origin}/mcp` } }],
    });
    expect(await engine.listTools('paged')).toHaveLength(40);
    const times = server.received('tools/list').map(({ t }) => t);
    // The first twenty come at once; the twenty after them take two seconds, whatever the machine does meanwhile.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1_500);
  });
});

describe('the audit log', () => {
  it('has a line for each call that succeeded, with names and hashes and no values', async () => {
    using home = tempFolder();
    await using server = await startTestServer({ tools: { greet: { call: ({ name }) => `Hello, ${name}` } } });
    const file = join(home.path, 'audit.jsonl');
    const engine = engineWith({ servers: [{ name: 's', connection: server.connection }], audit: { file } });
    expect(await engine.executeTool('s', 'greet', { name: 'Ada Lovelace' })).toMatchObject({ success: true });
    await engine.close();
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(String(lines[0]))).toMatchObject({ server: 's', tool: 'greet', outcome: 'success' });
    expect(lines[0]).not.toContain('Lovelace');
  });
});

describe('the classes of the specification', () => {
  it('have the methods it names, and its errors their codes', () => {
    const exported = new Map(Object.entries(library as Record<string, unknown>));
    const methods = (owner: string) => {
      const { prototype } = exported.get(owner) as { prototype: object };
      return [prototype, Object.getPrototypeOf(prototype)].flatMap((one) => Object.getOwnPropertyNames(one));
    };
    const promised = {
      ConfigurationLoader: ['load', 'validate'],
      PatternMatcher: ['match', 'matchWithServer'],
      ToolMetadataManager: [
        'addTool',
        'applyRules',
        'getToolsByServer',
        'getTool',
        'getAllTools',
        'getToolCount',
        'getEnabledCount',
      ],
      SearchEngine: ['index', 'search'],
      CachingLayer: [
        'cacheServerList',
        'getServerList',
        'cacheToolSummaries',
        'getToolSummaries',
        'cacheToolDetails',
        'getToolDetails',
        'invalidate',
        'invalidateAll',
      ],
      ToolExecutionProxy: ['execute', 'connect', 'disconnect', 'isConnected', 'executeStream'],
      DiscoveryEngine: [
        'listServers',
        'searchTools',
        'listTools',
        'getToolDetails',
        'executeTool',
        'reload',
        'getConfig',
      ],
    } as const;
    for (const [owner, names] of Object.entries(promised))
      expect(methods(owner)).toEqual(expect.arrayContaining([...names]));
    expect(new library.ConfigurationError('x').code).toBe('CONFIGURATION_ERROR');
    expect(new library.ValidationError('x').code).toBe('VALIDATION_ERROR');
    expect(new library.ServerConnectionError('s', 'x')).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', server: 's' });
    const failed = { server: 's', tool: 't' };
    expect(new library.ToolExecutionError('s', 't', 'x')).toMatchObject({ code: 'TOOL_EXECUTION_ERROR', ...failed });
    expect(new library.ToolNotFoundError('s', 't')).toMatchObject({ code: 'TOOL_NOT_FOUND', ...failed });
  });

  it('give what it says: null for what is not there, never an exception', async () => {
    await using engine = engineWith({
      servers: [{ name: 's', connection: never, tools: [{ name: 't', description: 'Does it. Really.' }] }],
    });
    expect(await engine.getToolDetails('s', 't')).toMatchObject({ server: 's', name: 't', enabled: true, tags: [] });
    expect(await engine.getToolDetails('s', 'nope')).toBeNull();
    expect(await engine.listServers()).toMatchObject([{ name: 's', toolCount: 1, enabledCount: 1 }]);
    expect(await engine.executeTool('s', 'nope', {})).toMatchObject({
      success: false,
      error: { code: 'TOOL_NOT_FOUND', server: 's', tool: 'nope' },
    });
  });
});

describe('types', () => {
  it('are checked by the compiler: every use that is marked as wrong is an error without the mark', () => {
    const source = readFileSync(join(root, 'src/agent/registry/types.test.ts'), 'utf8');
    const marks = source.match(/\/\/ @ts-expect-error/g)?.length ?? 0;
    // Beside the packages that it imports.
    const folder = mkdtempSync(join(root, 'node_modules', '.types-test-'));
    const put = (name: string, text: string) =>
      writeFileSync(
        join(folder, name),
        text.replace(/from '(\.[^']+)'/g, (_, path) => `from '../../${join('src/agent/registry', path)}'`),
      );
    try {
      put('marked.ts', source);
      put('bare.ts', source.replaceAll('// @ts-expect-error', '//'));
      put('tsconfig.json', JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['*.ts'] }));
      const args = ['-p', folder, '--noEmit', '--pretty', 'false'];
      const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), args, { encoding: 'utf8' });
      const errors = stdout.split('\n').filter((line) => line.includes('error TS'));
      expect(errors.filter((line) => !line.includes('bare.ts'))).toEqual([]);
      expect(marks).toBeGreaterThan(10);
      expect(errors.length).toBeGreaterThanOrEqual(marks);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 120_000);
});

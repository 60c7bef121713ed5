import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BROKEN, engineIn, entry, folder, isAlive, memoryLog, sample, until } from '../../test/fixtures/engine.ts';
import { type EvilScenario, evil } from '../../test/fixtures/evil.ts';
import type { ExecutionEvent } from '../execution/tool-executor.ts';
import { EngineCore } from './engine-core.ts';

const echo = (name: string, description = 'Says it again.') => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
});
const tools = (...names: string[]): EvilScenario => ({ era: 'legacy', tools: names.map((name) => echo(name)) });

describe('the methods of the specification', () => {
  it('list, search, describe and execute a real server', async () => {
    using home = folder();
    await using engine = engineIn(home, {
      servers: [entry('units', sample('units')), entry('weather', sample('weather'), { description: 'Forecasts' })],
    });
    expect((await engine.listServers()).map(({ name, status }) => [name, status])).toEqual([
      ['units', 'disconnected'],
      ['weather', 'disconnected'],
    ]);
    expect((await engine.searchTools('convert a length or distance', { waitMs: 20_000 }))[0]).toMatchObject({
      server: 'units',
      tool: 'convert_length',
      args: expect.stringMatching(/^value: number, from: /),
    });
    const listed = await engine.listTools('units');
    expect(listed.map(({ name }) => name)).toContain('convert_weight');
    const details = await engine.getToolDetails('units', 'convert_length');
    expect(details?.parameters?.[0]).toMatchObject({ name: 'value', type: 'number', required: true });
    const result = await engine.executeTool('units', 'convert_length', { value: 1, from: 'km', to: 'm' });
    expect(result).toMatchObject({ success: true, result: { structuredContent: { value: 1000, unit: 'm' } } });
    const [units, weather] = await engine.listServers();
    expect(units).toMatchObject({ status: 'connected', description: 'Unit converter', toolCount: listed.length });
    expect(weather).toMatchObject({ description: 'Forecasts' });
    expect(await engine.serverNames()).toEqual(['units', 'weather']);
    const definitions = await engine.definitionsOf('units');
    expect(definitions.success && definitions.data[0]?.inputSchema.type).toBe('object');
    const { misses, hitRate } = await engine.cacheStats();
    expect(misses).toBe(1);
    expect(hitRate).toBeGreaterThan(0.7);
  });

  it('record and refuse a call without names, and a call that loops', async () => {
    using home = folder();
    using server = evil(tools('echo'));
    const engine = engineIn(home, { servers: [entry('s', server)] });
    const nameless = await engine.call({ server: 7 as never, tool: 'echo', arguments: { text: 'x' } });
    expect(nameless).toMatchObject({ success: false, error: { code: 'VALIDATION_ERROR', outcome: 'not_sent' } });
    const meta = { 'anygpt/hops': 'a,b,c,d,e,f,g,h' };
    const looped = await engine.call({ server: 's', tool: 'echo', meta });
    expect(looped).toMatchObject({ success: false, error: { code: 'CONFIGURATION_ERROR', outcome: 'not_sent' } });
    await engine.close();
    const lines = readFileSync(join(home.path, 'audit', 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { server: '', tool: 'echo', argumentNames: ['text'], outcome: 'refused', code: 'VALIDATION_ERROR' },
      { server: 's', tool: 'echo', outcome: 'refused', code: 'CONFIGURATION_ERROR' },
    ]);
    expect(server.received('tools/call')).toEqual([]);
  });

  it('stream progress and then exactly one result; leaving cancels', async () => {
    using home = folder();
    const token = { progressToken: '$progressToken' };
    using server = evil({
      ...tools('work', 'hang'),
      on: [
        {
          method: 'tools/call',
          tool: 'work',
          do: [
            { notify: { method: 'notifications/progress', params: { ...token, progress: 1, total: 2 } } },
            { delay: 100 },
            { default: true },
          ],
        },
        {
          method: 'tools/call',
          tool: 'hang',
          do: [{ notify: { method: 'notifications/progress', params: { ...token, progress: 1 } } }],
        },
      ],
    });
    await using engine = engineIn(home, { servers: [entry('evil', server)] });
    const events: ExecutionEvent[] = [];
    for await (const event of engine.executeStream('evil', 'evil__work', { text: 'x' })) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(['progress', 'result']);
    expect(server.received('tools/call')[0]?.frame?.params?.name).toBe('work');
    for await (const event of engine.executeStream('evil', 'hang')) {
      expect(event.type).toBe('progress');
      break;
    }
    await until(() => server.received('notifications/cancelled').length === 1);
  });

  it('return nothing, not an error, for unknown names', async () => {
    using home = folder();
    await using engine = engineIn(home, { servers: [] });
    expect(await engine.searchTools('x', { server: 'nowhere' })).toEqual([]);
    expect(await engine.listTools('nowhere')).toEqual([]);
    expect(await engine.getToolDetails('nowhere', 'nothing')).toBeNull();
    expect(await engine.executeTool('nowhere', 'nothing')).toMatchObject({
      success: false,
      error: { code: 'SERVER_NOT_FOUND' },
    });
    expect(engine.notes()[0]).toContain('anygpt mcp init');
    await expect(engine.connections.lease('nowhere', {})).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
  });
});

describe('what is switched off', () => {
  it('is everything: the answers say why, and nothing starts', async () => {
    using home = folder();
    using server = evil(tools('echo'));
    await using engine = engineIn(home, { enabled: false, servers: [entry('evil', server)] });
    expect(await engine.find('echo')).toMatchObject({
      data: { results: [], notes: ['Discovery is switched off (enabled: false).'] },
    });
    for (const answer of [
      await engine.toolsOf('evil'),
      await engine.describe('evil', 'echo'),
      await engine.call({ server: 'evil', tool: 'echo' }),
    ])
      expect(answer).toMatchObject({
        error: { code: 'SERVER_NOT_FOUND', message: expect.stringContaining('enabled: false') },
      });
    expect(await engine.listServers()).toEqual([]);
    expect(engine.notes()).toHaveLength(1);
    expect(server.journal()).toEqual([]);
  });

  it('is one server, by its entry or by the environment: the error says so', async () => {
    using home = folder();
    using server = evil(tools('echo'));
    const servers = [entry('off-one', server, { enabled: false }), entry('my-server', server), entry('on', server)];
    await using engine = engineIn(home, { servers }, { env: { MY_SERVER_MCP_ENABLED: 'false' } });
    expect(await engine.serverNames()).toEqual(['on']);
    for (const name of ['off-one', 'my-server'])
      expect(await engine.call({ server: name, tool: 'echo' })).toMatchObject({
        error: { code: 'SERVER_NOT_FOUND', message: expect.stringContaining('is disabled'), outcome: 'not_sent' },
      });
  });
});

describe('names', () => {
  it('that do not exist get the nearest existing ones', async () => {
    using home = folder();
    using server = evil(tools('create_issue', 'list_issues'));
    await using engine = engineIn(home, { servers: [entry('github', server), entry('gitlab', server)] });
    expect(await engine.toolsOf('githbu')).toMatchObject({
      error: {
        code: 'SERVER_NOT_FOUND',
        suggestions: ['github'],
        message: expect.stringContaining('"github"'),
      },
    });
    expect(await engine.find('x', { server: 'nope' })).toMatchObject({ error: { code: 'SERVER_NOT_FOUND' } });
    for (const answer of [
      await engine.describe('github', 'create_isue'),
      await engine.call({ server: 'github', tool: 'create_isue' }),
    ]) {
      expect(answer).toMatchObject({
        error: { code: 'TOOL_NOT_FOUND', outcome: 'not_sent', message: expect.stringContaining('list_tools') },
      });
      expect(answer.success || answer.error.suggestions?.[0]).toBe('create_issue');
    }
    const long = await engine.call({ server: 'github', tool: 'x'.repeat(100_000) });
    expect(long.success || long.error.message.length).toBeLessThan(400);
  });

  it('of a tool on another server lead there', async () => {
    using home = folder();
    using one = evil(tools('alpha'));
    using two = evil(tools('send_mail'));
    await using engine = engineIn(home, { servers: [entry('one', one), entry('two', two)] });
    await engine.toolsOf('two');
    expect(await engine.describe('one', 'send_mail')).toMatchObject({
      error: {
        code: 'TOOL_NOT_FOUND',
        suggestions: ['two:send_mail'],
        message: expect.stringContaining('"two" has one'),
      },
    });
  });

  it('may be written server:tool or server__tool in either field, also before the server was ever seen', async () => {
    using home = folder();
    using server = evil(tools('echo', 'odd:name', 'a__b'));
    const forms = [
      ['evil', 'echo'],
      ['evil', 'evil:echo'],
      ['evil', 'evil__echo'],
      ['', 'evil__echo'],
      ['evil:echo', ''],
      ['whatever', 'evil:echo'],
    ] as const;
    for (const [written, tool] of forms) {
      using fresh = folder();
      await using engine = engineIn(fresh, { servers: [entry('evil', server)], audit: { enabled: false } });
      expect(await engine.call({ server: written, tool, arguments: { text: 'hi' } })).toMatchObject({ success: true });
      expect(server.received('tools/call').at(-1)?.frame?.params?.name).toBe('echo');
    }
    await using engine = engineIn(home, { servers: [entry('evil', server)] });
    for (const [written, tool] of forms)
      expect(await engine.describe(written, tool)).toMatchObject({ data: { server: 'evil', name: 'echo' } });
    for (const tool of ['odd:name', 'a__b']) {
      expect(await engine.call({ server: 'evil', tool })).toMatchObject({ success: true });
      expect(server.received('tools/call').at(-1)?.frame?.params?.name).toBe(tool);
    }
    expect(await engine.describe('anygpt', 'read_result')).toMatchObject({ success: true });
  });

  it("of JavaScript's object members work for servers and tools", async () => {
    using home = folder();
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then'];
    using server = evil(tools(...names));
    await using engine = engineIn(home, { servers: [entry('constructor', server), entry('__proto__', server)] });
    for (const name of names) {
      expect(
        await engine.call({ server: 'constructor', tool: name, arguments: JSON.parse('{"__proto__":1}') }),
      ).toMatchObject({ success: true });
      expect(await engine.describe('__proto__', name)).toMatchObject({ data: { name } });
    }
    expect(await engine.call({ server: 'toString', tool: 'x' })).toMatchObject({ error: { code: 'SERVER_NOT_FOUND' } });
    expect(await engine.call({ server: 'constructor', tool: 'valueOf' })).toMatchObject({
      error: { code: 'TOOL_NOT_FOUND' },
    });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('are those of the configuration, whatever a server calls itself; a tool may be called like one of ours', async () => {
    using home = folder();
    using real = evil({ ...tools('search_tools', 'execute_tool'), name: 'github' });
    using github = evil(tools('echo'));
    await using engine = engineIn(home, { servers: [entry('impostor', real), entry('github', github)] });
    expect(await engine.call({ server: 'github', tool: 'search_tools' })).toMatchObject({
      error: { code: 'TOOL_NOT_FOUND' },
    });
    expect(await engine.call({ server: 'impostor', tool: 'search_tools' })).toMatchObject({ success: true });
  });
});

describe('a disabled tool', () => {
  const rules = [{ pattern: ['*delete*'], enabled: false }];

  it('cannot be reached by any path or spelling, also before its server was listed', async () => {
    using server = evil(tools('delete_file', 'read_file'));
    const servers = [entry('files', server)];
    for (const [written, tool] of [
      ['files', 'delete_file'],
      ['files', 'files:delete_file'],
      ['files', 'files__delete_file'],
      ['files__delete_file', ''],
      ['', 'files:delete_file'],
    ] as const) {
      using fresh = folder();
      await using engine = engineIn(fresh, { servers, toolRules: rules });
      const disabled = { success: false, error: { code: 'TOOL_DISABLED', outcome: 'not_sent' } };
      expect(await engine.call({ server: written, tool })).toMatchObject(disabled);
      expect(await engine.describe(written, tool)).toMatchObject(disabled);
      const events: ExecutionEvent[] = [];
      for await (const event of engine.executeStream(written, tool)) events.push(event);
      expect(events).toMatchObject([{ type: 'result', result: disabled }]);
    }
    expect(server.received('tools/call')).toEqual([]);
  });

  it('is shown only if a person asks for disabled tools, and is counted in searches', async () => {
    using home = folder();
    using server = evil(tools('delete_file', 'read_file'));
    await using engine = engineIn(home, { servers: [entry('files', server)], toolRules: rules });
    const names = async (includeDisabled: boolean) =>
      (await engine.listTools('files', includeDisabled)).map(({ name, enabled }) => [name, enabled]);
    expect(await names(false)).toEqual([['read_file', true]]);
    expect(await names(true)).toEqual([
      ['delete_file', false],
      ['read_file', true],
    ]);
    const found = await engine.find('delete_file');
    expect(found.success && found.data.results.map(({ tool }) => tool)).not.toContain('delete_file');
    expect(found.success && found.data.notes).toEqual(['1 matching tool is disabled']);
    expect(await engine.definitionsOf('files')).toMatchObject({ data: [{ name: 'read_file' }] });
    const [metadata] = await engine.listServers();
    expect(metadata).toMatchObject({ toolCount: 2, enabledCount: 1 });
    expect(await engine.definitionsOf('nowhere')).toMatchObject({ success: false });
  });
});

describe('rules that do not do what they seem to', () => {
  it('are logged after the first answer, not before', async () => {
    using home = folder();
    using server = evil(tools('github_delete', 'github_read'));
    const log = memoryLog();
    await using engine = engineIn(
      home,
      {
        servers: [entry('github', server)],
        toolRules: [
          { pattern: ['*github*'], enabled: true },
          { pattern: ['*delete*'], enabled: false },
          { pattern: ['nothing_like_it'], tags: ['x'] },
        ],
      },
      { logger: log },
    );
    expect(await engine.ruleWarnings()).toEqual([]);
    expect(log.lines).toEqual([]);
    await engine.find('read', { waitMs: 20_000 });
    await until(() => log.lines.length >= 2);
    expect(log.lines.join('\n')).toMatch(/github:github_delete/);
    expect(log.lines.join('\n')).toMatch(/matches none of the 2 tools/);
    await engine.find('read');
    expect((await engine.ruleWarnings()).map(({ kind }) => kind)).toEqual(['shadowed', 'unused-rule']);
    expect(log.lines).toHaveLength(2);
  });
});

describe('a search', () => {
  it('does not wait for a server that hangs, nor twice for one that failed', async () => {
    using home = folder();
    using hanging = evil({
      era: 'legacy',
      on: [
        { method: 'initialize', do: [] },
        { method: 'server/discover', do: [] },
      ],
    });
    using good = evil(tools('read_file'));
    await using engine = engineIn(home, {
      servers: [entry('hanging', hanging), entry('broken', BROKEN), entry('good', good)],
    });
    const first = await engine.find('read file', { waitMs: 1500 });
    expect(first.success && first.data.results[0]?.tool).toBe('read_file');
    const notes = first.success ? first.data.notes : [];
    expect(notes).toContain('hanging not searched: still starting, try again');
    expect(notes.find((note) => note.startsWith('broken not searched'))).toBeDefined();
    const started = performance.now();
    await engine.find('read file', { server: 'broken', waitMs: 25_000 });
    expect(performance.now() - started).toBeLessThan(20_000);
    const broken = (await engine.listServers()).find(({ name }) => name === 'broken');
    expect(broken).toMatchObject({ status: 'error', reason: expect.any(String) });
  });
});

describe('a tool list', () => {
  it('that a server refuses is requested once', async () => {
    using home = folder();
    using server = evil({
      ...tools('echo'),
      on: [{ method: 'tools/list', do: [{ error: { code: -32603, message: 'no list today' } }] }],
    });
    await using engine = engineIn(home, { servers: [entry('evil', server)] });
    const message = expect.stringContaining('no list today');
    expect(await engine.toolsOf('evil')).toMatchObject({
      error: { code: 'SERVER_CONNECTION_ERROR', message, retryable: false },
    });
    expect(server.received('tools/list')).toHaveLength(1);
  });

  it('holds no name that looks like another, in lists and in searches', async () => {
    using home = folder();
    const names = ['read_file', 'read_\u202eelif', 'read\u{e0066}_file', '読む_👩‍👩‍👧_שלום'];
    using server = evil(tools(...names));
    const log = memoryLog();
    await using engine = engineIn(home, { servers: [entry('evil', server)] }, { logger: log });
    const plain = ['read_file', '読む_👩‍👩‍👧_שלום'];
    expect((await engine.listTools('evil')).map(({ name }) => name)).toEqual(plain);
    expect((await engine.searchTools('read')).map(({ tool }) => tool)).not.toContain(names[1]);
    expect(await engine.call({ server: 'evil', tool: plain[1] ?? '' })).toMatchObject({ success: true });
    expect(log.lines.filter((line) => /left out.*"tool":"read_(elif|file)".*invisible/.test(line))).toHaveLength(2);
  });
});

describe('a result that is too large', () => {
  it('is cut and can be read on through the engine', async () => {
    using home = folder();
    using server = evil({ ...tools('dump'), on: [{ method: 'tools/call', do: [{ big: 30_000 }] }] });
    await using engine = engineIn(home, { servers: [entry('evil', server)], limits: { result: 10_000 } });
    const first = await engine.call({ server: 'evil', tool: 'dump' });
    const mark = first.success ? String(first.data.content?.at(-1)?.text) : '';
    const id = /"id":"([^"]+)"/.exec(mark)?.[1];
    expect(mark).toContain('read_result');
    const second = await engine.call({ server: 'anygpt', tool: 'read_result', arguments: { id, page: 2 } });
    expect(second).toMatchObject({ success: true });
    expect(await engine.call({ server: 'anygpt', tool: 'other' })).toMatchObject({ error: { code: 'TOOL_NOT_FOUND' } });
    await engine.reload();
    expect(await engine.call({ server: 'anygpt', tool: 'read_result', arguments: { id, page: 2 } })).toEqual(second);
  });
});

describe('the cache', () => {
  it('lets the next engine search without starting anything, and describe from disk', async () => {
    using home = folder();
    using server = evil(tools('read_file'));
    const config = { servers: [entry('files', server)] };
    {
      await using engine = engineIn(home, config);
      await engine.toolsOf('files');
    }
    const starts = server.journal().filter(({ event }) => event === 'start').length;
    await using engine = engineIn(home, config);
    expect((await engine.searchTools('read'))[0]?.tool).toBe('read_file');
    expect(await engine.describe('files', 'read_file')).toMatchObject({ success: true });
    expect((await engine.listServers())[0]).toMatchObject({ status: 'disconnected', toolCount: 1 });
    expect(server.journal().filter(({ event }) => event === 'start')).toHaveLength(starts);
    // The first engine had to ask once.
    expect(await engine.cacheStats()).toMatchObject({ hits: 2, misses: 1 });
  });

  it('with any content never causes a crash', async () => {
    using home = folder();
    using server = evil(tools('read_file'));
    const config = { servers: [entry('files', server)] };
    {
      await using engine = engineIn(home, config);
      await engine.toolsOf('files');
    }
    const cache = join(home.path, 'cache');
    for (const damage of [
      (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1),
      () => Buffer.alloc(0),
      (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('more')]),
      (bytes: Buffer) => bytes.fill(0x7b, bytes.length >> 1),
    ]) {
      for (const file of readdirSync(cache)) {
        const path = join(cache, file);
        writeFileSync(path, damage(readFileSync(path)));
      }
      await using engine = engineIn(home, config);
      expect((await engine.searchTools('read', { waitMs: 20_000 }))[0]?.tool).toBe('read_file');
    }
  });

  it('that cannot be written is reported, and answers come from memory', async () => {
    using home = folder();
    using server = evil(tools('read_file'));
    writeFileSync(join(home.path, 'file'), '');
    const log = memoryLog();
    const config = { servers: [entry('files', server)], cache: { dir: join(home.path, 'file', 'below') } };
    await using engine = engineIn(home, config, { logger: log });
    expect(await engine.toolsOf('files')).toMatchObject({ success: true });
    expect(await engine.call({ server: 'files', tool: 'read_file' })).toMatchObject({ success: true });
    await until(() => log.lines.some((line) => line.includes('STORAGE_ERROR')));
  });

  it('may be shared by two engines at the same time', async () => {
    using home = folder();
    using server = evil(tools('read_file'));
    const config = { servers: [entry('files', server)] };
    await using one = engineIn(home, config);
    await using two = engineIn(home, config);
    const lists = await Promise.all([one.listTools('files'), two.listTools('files')]);
    expect(lists.map((list) => list.length)).toEqual([1, 1]);
    await Promise.all([one.close(), two.close()]);
    await using three = engineIn(home, config);
    expect(await three.searchTools('read')).toHaveLength(1);
  });
});

describe('a server that changes its tools', () => {
  it('is read again, once for a burst, and the new tools are found', async () => {
    using home = folder();
    const notice = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    using server = evil({
      era: 'legacy',
      on: [
        { method: 'tools/list', nth: 1, do: [{ result: { tools: [echo('old'), echo('burst')] } }] },
        { method: 'tools/list', do: [{ result: { tools: [echo('fresh_one')] } }] },
        { method: 'tools/call', do: [{ frame: notice, repeat: 10_000, together: true }, { default: true }] },
      ],
    });
    await using engine = engineIn(home, { servers: [entry('evil', server)] });
    await engine.call({ server: 'evil', tool: 'burst' });
    await until(async () => (await engine.searchTools('fresh_one')).length === 1);
    expect(server.received('tools/list').length).toBeLessThanOrEqual(3);
    expect(await engine.describe('evil', 'old')).toMatchObject({ error: { code: 'TOOL_NOT_FOUND' } });
  });
});

describe('a call by an ambiguous name, to a server that hangs', () => {
  const hanging: EvilScenario = {
    on: [
      { method: 'initialize', do: [] },
      { method: 'server/discover', do: [] },
    ],
  };

  it('ends when the caller disconnects or its timeout passes', async () => {
    using home = folder();
    using server = evil(hanging);
    await using engine = engineIn(home, { servers: [entry('evil', server)] });
    const abort = new AbortController();
    const call = engine.call({ server: 'evil', tool: 'evil__echo', signal: abort.signal });
    await until(() => server.journal().length > 0);
    abort.abort();
    expect(await call).toMatchObject({ error: { code: 'CANCELLED', outcome: 'not_sent' } });
    expect(await engine.call({ server: 'evil', tool: 'evil__echo', signal: abort.signal })).toMatchObject({
      error: { code: 'CANCELLED' },
    });
    expect(await engine.call({ server: 'evil', tool: 'evil__echo', timeout: 30 })).toMatchObject({
      error: { code: 'TOOL_EXECUTION_TIMEOUT', outcome: 'not_sent' },
    });
  });
});

describe('a tool that is not in the list', () => {
  it('is looked up on the server if only the configuration gives the list', async () => {
    using home = folder();
    using server = evil(tools('known', 'new_one'));
    await using engine = engineIn(home, { servers: [entry('evil', server, { tools: [{ name: 'known' }] })] });
    expect(await engine.listTools('evil')).toHaveLength(1);
    expect(server.journal()).toEqual([]);
    expect(await engine.describe('evil', 'new_one')).toMatchObject({ success: true });
    expect(await engine.listTools('evil')).toHaveLength(2);
  });

  it('and is refused by the server makes the list be read again', async () => {
    using home = folder();
    using server = evil({
      era: 'legacy',
      on: [
        { method: 'tools/list', nth: 1, do: [{ result: { tools: [echo('gone')] } }] },
        { method: 'tools/list', do: [{ result: { tools: [echo('other')] } }] },
      ],
    });
    await using engine = engineIn(home, { servers: [entry('evil', server)] });
    expect(await engine.call({ server: 'evil', tool: 'gone' })).toMatchObject({ error: { code: 'TOOL_NOT_FOUND' } });
    await until(async () => (await engine.listTools('evil'))[0]?.name === 'other');
  });
});

describe('what may be repeated', () => {
  const flaky = (annotations?: object): EvilScenario => ({
    era: 'legacy',
    tools: [{ ...echo('get_it'), annotations }],
    on: [{ method: 'tools/call', spawn: 1, do: [{ exit: 1 }] }],
  });

  it.each([
    ['the operator marks it', { idempotent: ['get_*'] }, undefined, true],
    ['a trusted server says it only reads', { trusted: true }, { readOnlyHint: true }, true],
    ['a trusted server says it is idempotent', { trusted: true }, { idempotentHint: true }, true],
    ['only the server says so', {}, { readOnlyHint: true }, false],
  ])('when %s: %o', async (_why, more, annotations, repeated) => {
    using home = folder();
    using server = evil(flaky(annotations));
    await using engine = engineIn(home, { servers: [entry('evil', server, more)], retry: { initial: 1, max: 2000 } });
    expect((await engine.call({ server: 'evil', tool: 'get_it' })).success).toBe(repeated);
    expect(server.received('tools/call')).toHaveLength(repeated ? 2 : 1);
  });
});

describe('for programs that relay a server', () => {
  it('there are leases, notifications and the end of a session', async () => {
    using home = folder();
    const notice = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'hi' } };
    using server = evil({
      ...tools('echo'),
      on: [{ method: 'tools/call', do: [{ frame: notice }, { default: true }] }],
    });
    await using engine = engineIn(home, { servers: [entry('evil', server)] });
    const heard: string[] = [];
    const stop = engine.connections.onNotification((name, method) => heard.push(`${name} ${method}`));
    await engine.call({ server: 'evil', tool: 'echo' });
    await until(() => heard.includes('evil notifications/message'));
    stop();
    const lease = await engine.connections.lease('evil', {
      session: 'one',
      capabilities: { elicitation: {} },
      ask: async () => ({}),
    });
    expect((await lease.connection.listTools()).tools).toHaveLength(1);
    lease.release();
    engine.connections.endSession('one');
    await until(() => server.journal().some(({ event }) => event === 'exit' || event === 'eof'));
  });

  it('a server that does not know tools/list has no tools', async () => {
    using home = folder();
    using server = evil({
      era: 'legacy',
      on: [{ method: 'tools/list', do: [{ error: { code: -32601, message: 'Method not found' } }] }],
    });
    await using engine = engineIn(home, { servers: [entry('evil', server)] });
    expect(await engine.toolsOf('evil')).toEqual({ success: true, data: [] });
  });
});

describe('a configuration that cannot be used', () => {
  it('throws for the programmer, and fails a call', async () => {
    using home = folder();
    await using engine = new EngineCore({ servers: 'none' } as never, { home: home.path, env: {} });
    await expect(engine.listServers()).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    expect(await engine.call({ server: 'a', tool: 'b' })).toMatchObject({
      success: false,
      error: { code: 'CONFIGURATION_ERROR' },
    });
    const events = [];
    for await (const event of engine.executeStream('a', 'b')) events.push(event);
    const result = { success: false, error: { code: 'CONFIGURATION_ERROR', server: 'a', tool: 'b' } };
    expect(events).toMatchObject([{ type: 'result', result }]);
    expect(engine.notes()).toEqual([]);
  });
});

describe('closing', () => {
  it('leaves no process, ends running calls and accepts no more', async () => {
    using home = folder();
    using server = evil({ ...tools('hang', 'echo'), on: [{ method: 'tools/call', tool: 'hang', do: [] }] });
    const engine = engineIn(home, { servers: [entry('evil', server)], limits: { drain: 50 } });
    const hanging = engine.call({ server: 'evil', tool: 'hang' });
    await until(() => server.received('tools/call').length === 1);
    const pids = server.journal().map(({ pid }) => pid);
    await Promise.all([engine.close(), engine.close()]);
    expect(await hanging).toMatchObject({ error: { code: 'SHUTTING_DOWN' } });
    expect(await engine.call({ server: 'evil', tool: 'echo' })).toMatchObject({ error: { code: 'SHUTTING_DOWN' } });
    await expect(engine.reload()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('waits for a call that has just begun, with a timeout', async () => {
    using home = folder();
    using server = evil(tools('echo'));
    using mute = evil({
      on: [
        { method: 'initialize', do: [] },
        { method: 'server/discover', do: [] },
      ],
    });
    const config = { servers: [entry('evil', server)], limits: { drain: 5000 } };
    const engine = engineIn(home, config);
    const call = engine.call({ server: 'evil', tool: 'echo', arguments: { text: 'just in time' } });
    await engine.close();
    expect(await call).toMatchObject({ success: true });
    const streaming = engineIn(home, config);
    const streamed = streaming.executeStream('evil', 'echo', { text: 'so is this' }).next();
    await streaming.close();
    expect((await streamed).value).toMatchObject({ type: 'result', result: { success: true } });
    const impatient = engineIn(home, { servers: [entry('mute', mute)], limits: { drain: 50 } });
    // Which tool of which server is meant has to be asked.
    const lost = impatient.call({ server: 'mute', tool: 'this__that' });
    await impatient.close();
    expect(await lost).toMatchObject({ success: false, error: { outcome: 'not_sent' } });
  });

  it('does not wait for servers that are starting or between attempts', async () => {
    using home = folder();
    using hanging = evil({
      on: [
        { method: 'initialize', do: [] },
        { method: 'server/discover', do: [] },
      ],
    });
    const log = memoryLog();
    const engine = engineIn(home, { servers: [entry('hanging', hanging), entry('broken', BROKEN)] }, { logger: log });
    await engine.find('x', { waitMs: 500 });
    const started = performance.now();
    await engine.close();
    expect(performance.now() - started).toBeLessThan(20_000);
    await until(() => hanging.journal().every(({ pid }) => !isAlive(pid)));
    // The broken one was said to be so when it failed; closing itself says nothing more.
    expect(log.lines.filter((line) => !line.includes('broken'))).toEqual([]);
  });
});

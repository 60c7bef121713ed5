import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { engineIn, entry, type Folder, folder, isAlive, memoryLog, until } from '../../test/fixtures/engine.ts';
import { type Evil, evil } from '../../test/fixtures/evil.ts';
import { configFile } from './engine-world.ts';
import { reloadStamp, touchReloadStamp, watchConfig } from './watch-config.ts';

const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });
const server = (...names: string[]): Evil => evil({ era: 'legacy', tools: names.map(tool) });
const starts = (one: Evil) => one.journal().filter(({ event }) => event === 'start');

/** A configuration file in the folder that can be rewritten. */
const fileIn = (home: Folder) => {
  const path = join(home.path, 'test.config.json');
  const write = (config: unknown) =>
    writeFileSync(path, typeof config === 'string' ? config : JSON.stringify({ discovery: config }));
  return { path, write };
};

describe('what the first call needs', () => {
  it('is loaded ahead without starting a server', async () => {
    using home = folder();
    using one = server('one_tool');
    await using engine = engineIn(home, { servers: [entry('one', one)] });
    expect(engine.runtime.current?.execution).toBeUndefined();
    await engine.loadAhead();
    expect(engine.runtime.current?.execution).toBeDefined();
    expect(starts(one)).toEqual([]);
    expect(await engine.call({ server: 'one', tool: 'one_tool' })).toMatchObject({ success: true });
  });
});

describe('a reload', () => {
  it('keeps connections and lists of unchanged servers, and replaces changed ones', async () => {
    using home = folder();
    using same = server('same_tool');
    using old = server('old_tool');
    using fresh = server('fresh_tool');
    const { path, write } = fileIn(home);
    // Without a disk, so that what is known comes from memory alone.
    const cache = { enabled: false };
    write({ cache, servers: [entry('same', same), entry('other', old)] });
    await using engine = engineIn(home, configFile(path));
    await engine.find('x', { waitMs: 20_000 });
    const [oldPid] = starts(old).map(({ pid }) => pid);
    write({ cache, servers: [entry('same', same), entry('other', fresh), entry('third', fresh)] });
    let told = 0;
    const stop = engine.onReload(() => told++);
    await engine.reload();
    expect(told).toBe(1);
    expect((await engine.listServers()).map(({ name, status }) => [name, status])).toEqual([
      ['same', 'connected'],
      ['other', 'disconnected'],
      ['third', 'disconnected'],
    ]);
    expect(await engine.searchTools('same_tool', { server: 'same', waitMs: 0 })).toHaveLength(1);
    await until(() => !isAlive(oldPid as number));
    expect(await engine.call({ server: 'other', tool: 'fresh_tool' })).toMatchObject({ success: true });
    expect(await engine.call({ server: 'same', tool: 'same_tool' })).toMatchObject({ success: true });
    expect(starts(same)).toHaveLength(1);
    stop();
    await engine.reload();
    expect(told).toBe(1);
  });

  it('lets running calls finish under their old configuration', async () => {
    using home = folder();
    using slow = evil({
      era: 'legacy',
      tools: [tool('slow')],
      on: [{ method: 'tools/call', do: [{ delay: 200 }, { default: true }] }],
    });
    const { path, write } = fileIn(home);
    write({ servers: [entry('slow', slow)] });
    await using engine = engineIn(home, configFile(path));
    const running = engine.call({ server: 'slow', tool: 'slow' });
    await until(() => slow.received('tools/call').length === 1);
    write({ servers: [] });
    await engine.reload();
    expect(await engine.call({ server: 'slow', tool: 'slow' })).toMatchObject({ error: { code: 'SERVER_NOT_FOUND' } });
    expect(await running).toMatchObject({ success: true });
    await until(() => starts(slow).every(({ pid }) => !isAlive(pid)));
  });

  it('gives running calls the drain time when the engine closes, and records them', async () => {
    using home = folder();
    using slow = evil({
      era: 'legacy',
      tools: [tool('ends'), tool('hangs')],
      on: [
        { method: 'tools/call', tool: 'ends', do: [{ delay: 100 }, { default: true }] },
        { method: 'tools/call', tool: 'hangs', do: [] },
      ],
    });
    const engine = engineIn(home, { servers: [entry('slow', slow)], limits: { drain: 200 } });
    const running = ['ends', 'hangs'].map((name) => engine.call({ server: 'slow', tool: name }));
    await until(() => slow.received('tools/call').length === 2);
    await engine.reload();
    await engine.close();
    expect(await Promise.all(running)).toMatchObject([{ success: true }, { error: { code: 'SHUTTING_DOWN' } }]);
    const lines = readFileSync(join(home.path, 'audit', 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line).tool)).toEqual(['ends', 'hangs']);
  });

  it('answers callers that wait for the first list of an unchanged server', async () => {
    using home = folder();
    using slow = evil({
      era: 'legacy',
      tools: [tool('slow'), tool('other')],
      on: [{ method: 'tools/list', do: [{ delay: 200 }, { default: true }] }],
    });
    const { path, write } = fileIn(home);
    write({ servers: [entry('slow', slow)] });
    await using engine = engineIn(home, configFile(path));
    const waiting = Promise.all([
      engine.call({ server: 'slow', tool: 'slow' }),
      engine.call({ server: 'slow', tool: 'other' }),
      engine.toolsOf('slow'),
      engine.find('slow', { waitMs: 20_000 }),
    ]);
    await until(() => slow.received('tools/list').length === 1);
    write({ servers: [entry('slow', slow)], toolRules: [{ pattern: ['other'], enabled: false }] });
    await engine.reload();
    expect(await waiting).toMatchObject([
      { success: true },
      // What is forbidden when the call would leave does not leave.
      { error: { code: 'TOOL_DISABLED' } },
      { success: true },
      { data: { results: [{ tool: 'slow' }] } },
    ]);
    expect(slow.received('tools/call').map(({ frame }) => frame?.params?.name)).toEqual(['slow']);
    expect(await engine.listTools('slow')).toMatchObject([{ name: 'slow' }]);
    expect(slow.received('tools/list')).toHaveLength(1);
  });

  it('of an invalid configuration throws and changes nothing', async () => {
    using home = folder();
    using one = server('tool_one');
    const { path, write } = fileIn(home);
    write({ servers: [entry('one', one)], toolRules: [{ pattern: ['nothing'], enabled: false }] });
    await using engine = engineIn(home, configFile(path));
    await engine.toolsOf('one');
    const before = await engine.getConfig();
    for (const bad of ['{ not json', { servers: 5 }, { toolRules: [{ pattern: ['/(?=x)/'] }] }]) {
      write(bad);
      await expect(engine.reload()).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    }
    expect(await engine.getConfig()).toBe(before);
    expect(await engine.call({ server: 'one', tool: 'tool_one' })).toMatchObject({ success: true });
    write({ servers: [entry('one', one)], toolRules: [{ pattern: ['tool_*'], enabled: false }] });
    await Promise.all([engine.reload(), engine.reload()]);
    expect(await engine.call({ server: 'one', tool: 'tool_one' })).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
    expect(await engine.searchTools('tool_one')).toEqual([]);
  });

  it('fixes an engine whose first configuration was invalid', async () => {
    using home = folder();
    const { path, write } = fileIn(home);
    write('{');
    await using engine = engineIn(home, configFile(path));
    await expect(engine.getConfig()).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    write({ servers: [] });
    await engine.reload();
    expect((await engine.getConfig()).servers).toEqual([]);
  });

  it('changes limits at once', async () => {
    using home = folder();
    using big = evil({ era: 'legacy', tools: [tool('dump')], on: [{ method: 'tools/call', do: [{ big: 5000 }] }] });
    const { path, write } = fileIn(home);
    write({ servers: [entry('big', big)] });
    await using engine = engineIn(home, configFile(path));
    const size = async () => {
      const result = await engine.call({ server: 'big', tool: 'dump' });
      return result.success ? result.data.content?.length : result.error.code;
    };
    expect(await size()).toBe(1);
    write({ servers: [entry('big', big)], limits: { result: 2000 } });
    await engine.reload();
    expect(await size()).toBe(2);
    expect(starts(big)).toHaveLength(1);
  });

  it('with a hundred servers is quick', async () => {
    using home = folder();
    const tools = Array.from({ length: 20 }, (_, i) => ({ name: `tool_${i}`, description: `Number ${i}.` }));
    const servers = Array.from({ length: 100 }, (_, i) => ({
      name: `server_${i}`,
      connection: { type: 'stdio', command: 'nothing' },
      tools,
    }));
    const { path, write } = fileIn(home);
    write({ servers });
    await using engine = engineIn(home, configFile(path));
    await engine.searchTools('tool_7');
    write({ servers, toolRules: [{ pattern: ['*_7'], tags: ['seven'] }] });
    const started = performance.now();
    await engine.reload();
    expect(performance.now() - started).toBeLessThan(5_000);
    expect((await engine.searchTools('tool_7'))[0]?.tags).toEqual(['seven']);
  });
});

describe('a cache that could not be written', () => {
  it('is written once that works again: after a while, and at the end', async () => {
    using home = folder();
    using one = server('tool_one');
    const log = memoryLog();
    // A link into the void can be read like an empty folder, and written as little as a full disk.
    const [dir, target] = [join(home.path, 'link'), join(home.path, 'target')];
    symlinkSync(target, dir);
    const saved = () => (existsSync(target) ? readdirSync(target).filter((name) => name.endsWith('.entry')) : []);
    const known = { ...entry('known', one), tools: [{ name: 'tool_one', description: 'Does one.' }] };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await using engine = engineIn(home, { cache: { dir }, servers: [known] }, { logger: log });
      await engine.listServers();
      await vi.advanceTimersByTimeAsync(1000);
      await vi.waitUntil(() => log.lines.some((line) => line.includes('could not be written')));
      mkdirSync(target);
      await vi.waitUntil(() => vi.getTimerCount() > 0);
      await vi.advanceTimersByTimeAsync(600_000);
      await vi.waitUntil(() => saved().length === 1);
      vi.useRealTimers();
      rmSync(target, { recursive: true });
      expect(await engine.readLists({ again: true })).toEqual(new Map());
      mkdirSync(target);
    } finally {
      vi.useRealTimers();
    }
    expect(saved()).toHaveLength(2);
  });
});

describe('watchConfig', () => {
  it('reloads when a file changes or the stamp is touched, and logs when it cannot', async () => {
    using home = folder();
    const { path, write } = fileIn(home);
    const log = memoryLog();
    write({ servers: [] });
    await using engine = engineIn(home, configFile(path));
    const stop = await watchConfig(engine, { logger: log, files: true, settleMs: 20 });
    using one = server('a');
    write({ servers: [entry('one', one)] });
    await until(async () => (await engine.serverNames()).length === 1);
    write('{ nope');
    await until(() => log.lines.some((line) => line.includes('the current one stays')));
    expect(await engine.serverNames()).toEqual(['one']);
    write({ servers: [entry('two', one)] });
    await until(async () => (await engine.serverNames())[0] === 'two');
    const reloads = () => log.lines.filter((line) => line.includes('was reloaded')).length;
    const before = reloads();
    writeFileSync(reloadStamp(home.path), 'now');
    await until(() => reloads() > before);
    stop();
    write({ servers: [] });
    writeFileSync(reloadStamp(home.path), 'again');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await engine.serverNames()).toEqual(['two']);
  });

  it('without `files` watches only the stamp', async () => {
    using home = folder();
    const { path, write } = fileIn(home);
    write({ servers: [] });
    await using engine = engineIn(home, configFile(path), { env: { ANYGPT_HOME: join(home.path, 'state') } });
    const log = memoryLog();
    const stop = await watchConfig(engine, { logger: log, settleMs: 10 });
    write({ servers: [], cache: { ttl: 5 } });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(log.lines).toEqual([]);
    touchReloadStamp(join(home.path, 'state'));
    await until(async () => (await engine.getConfig()).cache.ttl === 5);
    stop();
  });
});

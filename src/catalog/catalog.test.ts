import { describe, expect, it } from 'vitest';
import { definition } from '../../test/fixtures/connections/harness.ts';
import { memoryLog } from '../../test/fixtures/engine.ts';
import { MemoryStore } from '../../test/fixtures/memory-store.ts';
import type { ServerDefinition, ToolDefinition, ToolRule } from '../core/types.ts';
import { compileRules } from '../rules/compile-rules.ts';
import { ToolPolicy } from '../rules/tool-policy.ts';
import { SearchEngine } from '../search/search-engine.ts';
import { Catalog } from './catalog.ts';
import { type ByteStore, CatalogStore } from './catalog-store.ts';
import type { Listing } from './listing.ts';

const tool = (name: string, description = `Does ${name}.`): ToolDefinition => ({
  name,
  description,
  inputSchema: { type: 'object' },
});

const server = (name: string, more: Partial<ServerDefinition> = {}): ServerDefinition =>
  definition(name, { type: 'stdio', command: name, args: [], env: {}, inheritEnv: [], cwd: undefined }, more);

const listing = (name: string, tools: readonly ToolDefinition[], more: Partial<Listing> = {}): Listing => ({
  server: name,
  fingerprint: `print-${name}`,
  fetchedAt: 1000,
  tools,
  skipped: [],
  ...more,
});

interface Setup {
  readonly servers?: readonly ServerDefinition[];
  readonly store?: ByteStore;
  readonly stamp?: string;
  readonly rules?: readonly ToolRule[];
  readonly prints?: ReadonlyMap<string, string>;
  readonly maxTools?: number;
}

/** A catalogue as a start of the engine builds it. */
async function start({
  servers = [server('files')],
  store,
  stamp = '',
  rules = [],
  prints = new Map(),
  maxTools,
}: Setup) {
  const disk = store && new CatalogStore(store, { owner: 'test', stamp, logger: memoryLog() });
  const ready = await disk?.readIndex();
  const search = ready && SearchEngine.fromSnapshot(ready.snapshot);
  const catalog = new Catalog({
    servers: new Map(
      servers.map((one) => [one.name, { definition: one, fingerprint: prints.get(one.name) ?? `print-${one.name}` }]),
    ),
    policy: new ToolPolicy(await compileRules(rules, 'first-match')),
    store: disk,
    search: search ?? new SearchEngine(),
    indexed: new Map(search && ready.entries.map((entry) => [entry.name, entry])),
    maxTools,
  });
  await catalog.adopt();
  return catalog;
}

const found = (catalog: Catalog, query: string) => catalog.search.search(query).map(({ tool: name }) => name);

/** A store that counts what is read. */
class WatchedStore extends MemoryStore {
  readonly reads: string[] = [];
  override read(key: string) {
    this.reads.push(key);
    return super.read(key);
  }
}

it('gives the same list of tools until it changes', async () => {
  const catalog = await start({ rules: [{ pattern: ['b'], enabled: false }] });
  await catalog.put(listing('files', [tool('c'), tool('a'), tool('b')]));
  const tools = catalog.tools('files');
  expect(tools.map(({ name }) => name)).toEqual(['a', 'c']);
  expect(catalog.tools('files')).toBe(tools);
  expect(catalog.tools('files', true)).toHaveLength(3);
  await catalog.put(listing('files', [tool('d')]));
  expect(catalog.tools('files').map(({ name }) => name)).toEqual(['d']);
  await catalog.forget('files');
  expect(catalog.tools('files')).toEqual([]);
});

describe('a list that changes', () => {
  it('leaves tools that stay as they are alone, and finds the others as they are now', async () => {
    const catalog = await start({});
    await catalog.put(listing('files', [tool('copy'), tool('move'), tool('paint')]));
    expect(found(catalog, 'paint')).toEqual(['paint']);
    const kept = catalog.tool('files', 'copy');
    expect(await catalog.put(listing('files', [tool('copy'), tool('move', 'Sings.'), tool('dance')]))).toBe(true);
    expect(catalog.tool('files', 'copy')).toBe(kept);
    expect(['paint', 'sing', 'dance', 'copy'].map((query) => found(catalog, query))).toEqual([
      [],
      ['move'],
      ['dance'],
      ['copy'],
    ]);
    const { version } = catalog;
    expect(await catalog.put(listing('files', [tool('copy'), tool('move', 'Sings.'), tool('dance')]))).toBe(false);
    expect(catalog.version).toBe(version);
  });

  it('may have names that UTF-8 cannot hold', async () => {
    const catalog = await start({});
    await catalog.put(listing('files', [tool('\ud800'), tool('\ud801'), tool('\ue000')]));
    expect(catalog.search.size).toBe(3);
    await catalog.put(listing('files', [tool('\ud800', 'Sings.'), tool('\ud801'), tool('a\udc00')]));
    expect(catalog.search.size).toBe(3);
    await catalog.put(listing('files', [tool('plain')]));
    expect(catalog.search.size).toBe(1);
  });
});

describe('a warm start', () => {
  it('reads the ready index and no definitions, and knows everything a search needs', async () => {
    const store = new WatchedStore();
    const first = await start({ store, servers: [server('files', { description: 'Files of this machine' })] });
    await first.put(listing('files', [tool('read_file'), tool('write_file')], { introduction: { title: 'Files' } }));
    await first.save();
    store.reads.length = 0;
    const second = await start({ store, servers: [server('files', { description: 'Files of this machine' })] });
    expect(store.reads).toEqual(['index:test']);
    expect(found(second, 'read file')[0]).toBe('read_file');
    expect(second.isSeen('files')).toBe(true);
    expect(second.isLoaded('files')).toBe(false);
    expect(second.state('files')).toMatchObject({ toolCount: 2, enabledCount: 2, fetchedAt: 1000 });
    expect(second.about('files')).toBe('Files of this machine');
    await second.load('files');
    expect(second.definition('files', 'read_file')?.description).toBe('Does read_file.');
    expect(second.dirty).toBe(false);
  });

  it('with an unchanged list finds that nothing changed, without having the definitions', async () => {
    const store = new MemoryStore();
    const first = await start({ store });
    expect(await first.put(listing('files', [tool('a')]))).toBe(true);
    await first.save();
    const second = await start({ store });
    expect(await second.put(listing('files', [tool('a')], { fetchedAt: 2000 }))).toBe(false);
    expect(second.fetchedAt('files')).toBe(2000);
    expect(second.isLoaded('files')).toBe(false);
    await second.save();
    expect((await start({ store })).fetchedAt('files')).toBe(2000);
  });

  it('with other rules decides again from the lists on disk', async () => {
    const store = new MemoryStore();
    const first = await start({ store, stamp: 'one' });
    await first.put(listing('files', [tool('read_file'), tool('delete_file')]));
    await first.save();
    const rules = [{ pattern: ['*delete*'], enabled: false, tags: ['dangerous'] }];
    const second = await start({ store, stamp: 'two', rules });
    expect(found(second, 'file')).toEqual(['read_file']);
    expect(second.state('files')).toMatchObject({ toolCount: 2, enabledCount: 1 });
    expect(second.tools('files').map(({ name }) => name)).toEqual(['read_file']);
    expect(second.tool('files', 'delete_file')).toMatchObject({ enabled: false, tags: ['dangerous'] });
    expect(second.dirty).toBe(true);
  });

  it('with another connection under the same name starts over, and drops the old list', async () => {
    const store = new MemoryStore();
    const first = await start({ store });
    await first.put(listing('files', [tool('read_file')]));
    await first.save();
    const second = await start({ store, prints: new Map([['files', 'changed']]) });
    expect(second.isSeen('files')).toBe(false);
    expect(found(second, 'read')).toEqual([]);
    await second.save();
    expect(await store.keys()).toEqual(['index:test']);
  });

  it('without a server that was removed does not find its tools', async () => {
    const store = new MemoryStore();
    const both = [server('files'), server('mail')];
    const first = await start({ store, servers: both });
    await first.put(listing('files', [tool('read_file')]));
    await first.put(listing('mail', [tool('read_mail')]));
    await first.save();
    const second = await start({ store, servers: [server('mail')] });
    expect(found(second, 'read')).toEqual(['read_mail']);
    expect(second.dirty).toBe(true);
    await second.save();
    expect((await start({ store, servers: [server('mail')] })).dirty).toBe(false);
  });

  it('whose list is gone from disk forgets the server, so that it is asked again', async () => {
    const store = new MemoryStore();
    const first = await start({ store });
    await first.put(listing('files', [tool('read_file')]));
    await first.save();
    await store.delete('server:print-files:files');
    const second = await start({ store });
    expect(second.isSeen('files')).toBe(true);
    await second.load('files');
    expect(second.isSeen('files')).toBe(false);
    expect(found(second, 'read')).toEqual([]);
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['garbage', Buffer.from('x'.repeat(500))],
    ['JSON of something else', Buffer.from('{"version":99,"entries":[null]}')],
  ])('from files that hold %s is a cold start', async (_what, bytes) => {
    const store = new MemoryStore();
    const first = await start({ store });
    await first.put(listing('files', [tool('read_file')]));
    await first.save();
    await store.write('index:test', bytes);
    expect(found(await start({ store }), 'read')).toEqual(['read_file']);
    await store.write('server:print-files:files', bytes);
    expect((await start({ store })).isSeen('files')).toBe(false);
  });

  it('from an index that was cut off rebuilds it from the lists', async () => {
    const store = new MemoryStore();
    const first = await start({ store });
    await first.put(listing('files', [tool('read_file')]));
    await first.save();
    const whole = (await store.read('index:test')) as Uint8Array;
    for (let length = 0; length < whole.length; length += 37) {
      await store.write('index:test', whole.slice(0, length));
      expect(found(await start({ store }), 'read')).toEqual(['read_file']);
    }
  });
});

/** A disk that is full until there is room. */
class FullStore extends MemoryStore {
  full = true;
  override async write(key: string, bytes: Uint8Array) {
    if (this.full) throw new Error('ENOSPC');
    await super.write(key, bytes);
  }
}

describe('what a full disk refuses', () => {
  it('is written by the next save when there is room', async () => {
    const store = new FullStore();
    const catalog = await start({ store });
    await catalog.put(listing('files', [tool('read_file')]));
    await catalog.save();
    expect([catalog.dirty, await store.keys()]).toEqual([true, []]);
    store.full = false;
    await catalog.save();
    expect([catalog.dirty, await store.keys()]).toEqual([false, ['index:test', 'server:print-files:files']]);
    const next = await start({ store });
    await next.load('files');
    expect(next.definition('files', 'read_file')).toBeDefined();
  });

  it('is written by the next catalogue', async () => {
    const store = new FullStore();
    const first = await start({ store });
    await first.put(listing('files', [tool('read_file')]));
    await first.save();
    const second = await start({ store });
    await second.inherit(first);
    store.full = false;
    await second.save();
    expect(await store.keys()).toEqual(['index:test', 'server:print-files:files']);
  });

  it('is not written once it is forgotten', async () => {
    const store = new FullStore();
    const catalog = await start({ store });
    await catalog.put(listing('files', [tool('read_file')]));
    await catalog.save();
    await catalog.forget('files');
    store.full = false;
    await catalog.save();
    expect(await store.keys()).toEqual(['index:test']);
  });
});

describe('tools from the configuration', () => {
  const configured = server('files', {
    tools: [
      { name: 'find_text', description: 'Finds text.', keywords: ['grep'], examples: [{ parameters: { text: 'x' } }] },
      { name: 'bare' },
    ],
  });

  it('are known at once and do not age', async () => {
    const catalog = await start({ servers: [configured] });
    expect(catalog.isSeen('files')).toBe(true);
    expect(catalog.fetchedAt('files')).toBe(0);
    expect(found(catalog, 'grep')[0]).toBe('find_text');
    expect(catalog.definition('files', 'bare')?.inputSchema).toEqual({ type: 'object' });
  });

  it('give way to the real list, to which their keywords and examples are added', async () => {
    const store = new MemoryStore();
    const catalog = await start({ servers: [configured], store });
    await catalog.put(listing('files', [tool('find_text', 'Searches in files.'), tool('other')]));
    expect(found(catalog, 'grep')[0]).toBe('find_text');
    expect(catalog.tool('files', 'find_text')).toMatchObject({
      description: 'Searches in files.',
      keywords: ['grep'],
      examples: [{ parameters: { text: 'x' } }],
    });
    expect(catalog.tool('files', 'bare')).toBeUndefined();
    await catalog.save();
    const again = await start({ servers: [configured], store });
    expect(found(again, 'grep')[0]).toBe('find_text');
    expect(found(again, 'other')).toContain('other');
  });

  it('do not hide a list on disk when the index has to be rebuilt', async () => {
    const store = new MemoryStore();
    const first = await start({ servers: [configured], store, stamp: 'one' });
    await first.put(listing('files', [tool('find_text'), tool('other')]));
    await first.save();
    const second = await start({ servers: [configured], store, stamp: 'two' });
    expect(second.fetchedAt('files')).toBe(1000);
    expect(second.tool('files', 'other')).toBeDefined();
  });

  it('come back when the rest is forgotten', async () => {
    const store = new MemoryStore();
    const catalog = await start({ servers: [configured, server('mail')], store });
    await catalog.put(listing('files', [tool('other')]));
    await catalog.put(listing('mail', [tool('send')]));
    await catalog.forget('files');
    expect(catalog.tools('files').map(({ name }) => name)).toEqual(['bare', 'find_text']);
    expect(catalog.isSeen('mail')).toBe(true);
    await catalog.forget();
    expect(catalog.isSeen('mail')).toBe(false);
    expect(found(catalog, 'send')).toEqual([]);
    expect(await store.keys()).toEqual([]);
  });

  it('are not loaded if only the index knows them', async () => {
    const store = new MemoryStore();
    const first = await start({ servers: [configured], store });
    await first.save();
    const second = await start({ servers: [configured], store });
    expect(second.isLoaded('files')).toBe(false);
    await second.load('files');
    expect(second.tool('files', 'find_text')?.keywords).toEqual(['grep']);
    expect(second.dirty).toBe(false);
  });
});

describe('replacing a list', () => {
  it('reports whether tools changed, not whether they were read again', async () => {
    const catalog = await start({});
    expect(await catalog.put(listing('files', [tool('a')]))).toBe(true);
    expect(await catalog.put(listing('files', [tool('a')], { fetchedAt: 2000, introduction: { title: 'New' } }))).toBe(
      false,
    );
    expect(catalog.about('files')).toBe('New');
    expect(await catalog.put(listing('files', [tool('a', 'Other.')]))).toBe(true);
    expect(await catalog.put(listing('files', []))).toBe(true);
    expect(catalog.state('files')?.toolCount).toBe(0);
  });

  it('of a server or connection that is not ours does nothing', async () => {
    const catalog = await start({});
    expect(await catalog.put(listing('unknown', [tool('a')]))).toBe(false);
    expect(await catalog.put(listing('files', [tool('a')], { fingerprint: 'other' }))).toBe(false);
    expect(catalog.isSeen('files')).toBe(false);
    expect(catalog.about('unknown')).toBe('');
    expect(await catalog.names('unknown')).toEqual([]);
    await catalog.load('unknown');
  });

  it('in turn: the last one asked for is the one that stays', async () => {
    const catalog = await start({ store: new MemoryStore() });
    const many = Array.from({ length: 300 }, (_, i) => tool(`tool_${i}`));
    await Promise.all([catalog.put(listing('files', many)), catalog.put(listing('files', [tool('last')]))]);
    expect(catalog.tools('files').map(({ name }) => name)).toEqual(['last']);
    expect(found(catalog, 'tool_7')).not.toContain('tool_7');
  });

  it('of ten thousand tools does not block other work, and shows the old list until the last step', async () => {
    const catalog = await start({ servers: [server('files'), server('mail')], store: new MemoryStore() });
    await catalog.put(listing('files', [tool('old_tool')]));
    await catalog.put(listing('mail', [tool('send_mail')]));
    catalog.search.search('x');
    const many = Array.from({ length: 10_000 }, (_, i) => tool(`tool_${i}`, `Number ${i}. `.repeat(10)));
    const seen = new Set<string>();
    let ticks = 0;
    const ticker = setInterval(() => {
      ticks++;
      seen.add(`${catalog.state('files')?.toolCount} ${catalog.isLoaded('files')} ${found(catalog, 'send_mail')[0]}`);
    }, 1);
    await catalog.put(listing('files', many));
    clearInterval(ticker);
    expect(seen).toEqual(new Set(['1 true send_mail']));
    // Done in one piece, it would block the event loop.
    expect(ticks).toBeGreaterThan(5);
    expect(catalog.state('files')?.toolCount).toBe(10_000);
  });

  it('stops at the number of tools that all servers may have together', async () => {
    const catalog = await start({ servers: [server('files'), server('mail')], maxTools: 5 });
    await catalog.put(listing('files', [tool('a'), tool('b'), tool('c')]));
    await catalog.put(listing('mail', [tool('d'), tool('e'), tool('f')]));
    expect(catalog.state('mail')).toMatchObject({ toolCount: 2, incomplete: expect.stringContaining('more than 5') });
    expect(catalog.state('files')?.toolCount).toBe(3);
  });

  it("takes names of JavaScript's object members", async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', '../x', 'CON'];
    const store = new MemoryStore();
    const catalog = await start({ servers: names.map((name) => server(name)), store });
    for (const name of names)
      await catalog.put(
        listing(
          name,
          names.map((one) => tool(one)),
        ),
      );
    for (const name of names) {
      expect(catalog.tools(name)).toHaveLength(names.length);
      expect(catalog.definition(name, name)?.name).toBe(name);
    }
    expect(catalog.definition('valueOf', 'valueOf')).toBeUndefined();
    await catalog.save();
    const again = await start({ servers: names.map((name) => server(name)), store });
    expect(again.search.size).toBe(names.length ** 2);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('a reload', () => {
  it('keeps what was learnt of unchanged servers, also without a disk', async () => {
    const servers = [server('files'), server('mail'), server('gone')];
    const before = await start({ servers });
    for (const name of ['files', 'mail', 'gone']) await before.put(listing(name, [tool(`${name}_tool`)]));
    const after = await start({ servers: [server('files'), server('mail')], prints: new Map([['mail', 'changed']]) });
    await after.inherit(before);
    expect(after.tools('files').map(({ name }) => name)).toEqual(['files_tool']);
    expect(after.isSeen('mail')).toBe(false);
    expect(found(after, 'files_tool')).toEqual(['files_tool']);
    expect(await after.put(listing('files', [tool('files_tool')]))).toBe(false);
  });

  it('does not go back to an older list', async () => {
    const before = await start({});
    await before.put(listing('files', [tool('old')], { fetchedAt: 1 }));
    const after = await start({});
    await after.put(listing('files', [tool('new')], { fetchedAt: 2 }));
    await after.inherit(before);
    expect(after.tools('files').map(({ name }) => name)).toEqual(['new']);
  });
});

describe('two catalogues on one disk', () => {
  it('each write whole files; the last writer of a file wins, and both go on', async () => {
    const store = new MemoryStore();
    const [one, two] = await Promise.all([start({ store }), start({ store })]);
    for (let round = 0; round < 20; round++) {
      await Promise.all([
        one.put(listing('files', [tool(`one_${round}`)], { fetchedAt: round + 1 })),
        two.put(listing('files', [tool(`two_${round}`)], { fetchedAt: round + 1 })),
      ]);
      await Promise.all([one.save(), two.save()]);
      const reader = await start({ store });
      await reader.load('files');
      expect(reader.tools('files')).toHaveLength(1);
    }
  });

  it('a list on disk that is newer than the index is taken into the index', async () => {
    const store = new MemoryStore();
    const first = await start({ store });
    await first.put(listing('files', [tool('old')]));
    await first.save();
    await first.put(listing('files', [tool('newer')], { fetchedAt: 2000 }));
    // The process ended before the index was written.
    const second = await start({ store });
    await second.load('files');
    expect(found(second, 'newer')).toEqual(['newer']);
    expect(second.dirty).toBe(true);
    expect(await second.names('files')).toMatchObject([{ server: 'files', tool: 'newer' }]);
  });

  it('names are read from disk without being kept', async () => {
    const store = new MemoryStore();
    const first = await start({ store });
    await first.put(listing('files', [tool('a'), tool('b')]));
    await first.save();
    const second = await start({ store });
    expect((await second.names('files')).map(({ tool }) => tool)).toEqual(['a', 'b']);
    expect(second.isLoaded('files')).toBe(false);
  });
});

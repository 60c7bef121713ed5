import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { published, startRegistry } from '../../test/fixtures/mcp-registry-service.mjs';
import { McpRegistries } from './mcp-registries.ts';
import { compareVersions } from './newer-version.ts';

const HOUR = 3600_000;
const fixture = async (name: string) =>
  JSON.parse(await readFile(new URL(`../../test/fixtures/mcp-registry/${name}.json`, import.meta.url), 'utf8'));
const listed = async (): Promise<unknown[]> => [
  ...(await fixture('list.page1')).servers,
  ...(await fixture('list.page2')).servers,
];
const server = (name: string, more: object = {}) => ({ name, description: `About ${name}`, version: '1.0.0', ...more });

let folder: string;
let now: number;
let pauses: number[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'registries-'));
  now = Date.parse('2026-06-01T00:00:00Z');
  pauses = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (...urls: string[]): McpRegistries =>
  new McpRegistries({
    registries: urls.map((url, at) => ({ url, name: `registry ${at + 1}` })),
    folder,
    now: () => now,
    world: { requestMs: 1_000, pause: async (ms) => void pauses.push(ms) },
  });
const names = async (registries: McpRegistries, query: string) =>
  (await registries.search(query, { offline: true })).results.map(({ name }) => name);

describe('a sync', () => {
  it('reads all pages, keeps the latest of each server, hides deleted and ranks deprecated ones last', async () => {
    await using registry = await startRegistry({ entries: await listed(), largestPage: 2 });
    const registries = open(registry.url);
    const { reports, failures } = await registries.sync();
    expect(failures).toEqual([]);
    expect(reports).toEqual([
      { registry: 'registry 1', full: true, total: 5, added: 5, changed: 0, removed: 0, skipped: 0, reasons: [] },
    ]);
    expect(registry.journal.length).toBeGreaterThan(2);
    const { results } = await registries.search('current time', { offline: true });
    expect(results[0]?.name).toBe('io.github.domdomegg/time-mcp-pypi');
    expect(results.at(-1)).toMatchObject({
      name: 'io.github.domdomegg/time-mcp-nuget',
      tags: expect.arrayContaining(['deprecated']),
    });
    expect(await names(registries, 'blockchain identity')).not.toContain('io.github.getcyphrex/cyphrex-mcp');
    const { entry } = await registries.show('io.github.domdomegg/airtable-mcp-server', { offline: true });
    expect(entry.server.version).toBe('1.7.3');
    // A new process needs no registry and no indexing.
    expect(await names(open(registry.url), 'spreadsheet database records')).toContain(
      'io.github.domdomegg/airtable-mcp-server',
    );
  });

  it('then reads only what has changed: new, changed, deleted', async () => {
    const entries = [published(server('a/one')), published(server('a/two')), published(server('b/three'))];
    await using registry = await startRegistry({ entries });
    const registries = open(registry.url);
    await registries.sync();
    now += 2 * HOUR;
    const later = { updatedAt: new Date(Date.now()).toISOString() };
    registry.entries = [
      published(server('a/one', { version: '1.1.0', description: 'Bakes bread' }), later),
      published(server('a/two'), { ...later, status: 'deleted' }),
      ...entries.slice(2),
      published(server('c/four', { description: 'Waters plants' }), later),
    ];
    const { reports } = await registries.sync();
    expect(reports).toMatchObject([{ full: false, total: 3, added: 1, changed: 1, removed: 1 }]);
    expect(registry.journal.at(-1)?.path).toContain('updated_since=');
    expect(await names(registries, 'bread')).toEqual(['a/one']);
    expect(await names(registries, 'plants')).toEqual(['c/four']);
    expect((await registries.show('a/one', { offline: true })).entry.server.version).toBe('1.1.0');
    await expect(registries.show('a/two', { offline: true })).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
    // Half a name is never asked for, so the answer says why.
    await expect(registries.show('zzz', { offline: true })).rejects.toThrow(
      'No registry has "zzz". Names there have two parts, such as io.github.owner/server.',
    );
  });

  it('reads no other servers of a publisher whose one server has changed', async () => {
    const long = { _meta: { text: 'x'.repeat(60_000) } };
    const entries = Array.from({ length: 12 }, (_, at) => published(server(`a/number-${at}`, long)));
    await using registry = await startRegistry({ entries });
    const registries = open(registry.url);
    await registries.sync();
    const [store = ''] = await readdir(folder);
    const chunks = (await readdir(join(folder, store))).filter((name) => name.startsWith('chunk-'));
    expect(chunks).toHaveLength(2);
    for (const name of chunks) {
      const path = join(folder, store, name);
      if (!(await readFile(path, 'utf8')).includes('a/number-0\t')) await rm(path);
    }
    const later = { updatedAt: new Date(Date.now()).toISOString() };
    const changed = server('a/number-0', { version: '1.1.0', description: 'Bakes bread' });
    registry.entries = [published(changed, later), ...entries.slice(1)];
    expect((await registries.sync()).reports).toMatchObject([{ full: false, total: 12, changed: 1 }]);
    expect(await names(registries, 'bread')).toEqual(['a/number-0']);
    expect(await names(registries, 'About number-11')).toContain('a/number-11');
  });

  it('sends the ETag of the last answer, and 304 means that nothing has changed', async () => {
    await using registry = await startRegistry({ entries: [published(server('a/one'))] });
    const registries = open(registry.url);
    await registries.sync();
    await registries.sync();
    await registries.sync();
    expect(registry.journal.at(-1)?.headers['if-none-match']).toMatch(/^"/);
    expect(await names(registries, 'one')).toEqual(['a/one']);
  });

  it('ignores a date far in the future, which would hide all changes until then', async () => {
    const asked = async (date: number) => {
      await using registry = await startRegistry();
      const body = { servers: [published(server('a/one'))], metadata: {} };
      registry.on = () => ({ status: 200, body, headers: { date: new Date(date).toUTCString() } });
      const registries = open(registry.url);
      await registries.sync();
      await registries.sync();
      return new URL(registry.journal.at(-1)?.path ?? '', registry.url).searchParams.get('updated_since');
    };
    const overlapOf = (time: number) => new Date(time - 120_000).toISOString();
    expect(await asked(now - HOUR)).toBe(overlapOf(now - HOUR));
    expect(await asked(now + 20 * 365 * 24 * HOUR)).toBe(overlapOf(now));
  });

  it('reads everything again if more is said to have changed than is kept', async () => {
    await using registry = await startRegistry({ entries: [published(server('a/one'))] });
    const registries = open(registry.url);
    await registries.sync();
    const page = Array.from({ length: 26_000 }, () => server('a/one'));
    let pages = 0;
    registry.on = ({ request }) =>
      request.url?.includes('updated_since=')
        ? { status: 200, body: { servers: page, metadata: { nextCursor: `page ${++pages}` } } }
        : undefined;
    expect((await registries.sync()).reports).toMatchObject([{ full: true, total: 1 }]);
    expect(pages).toBeLessThan(6);
  });

  it('needs no official data, and of several versions keeps the highest', async () => {
    const entries = ['1.9.0', '1.10.0', '1.10.0-beta'].map((version) => ({ server: server('a/one', { version }) }));
    await using registry = await startRegistry({ entries });
    const registries = open(registry.url);
    await registries.sync();
    expect((await registries.show('a/one', { offline: true })).entry.server.version).toBe('1.10.0');
  });

  it('leaves out entries that cannot be used, and says why', async () => {
    const bad = published(server('a/\u001b[2J'));
    const huge = published(server('a/huge', { extra: 'x'.repeat(100_000) }));
    await using registry = await startRegistry({ entries: [bad, huge, published(server('a/one'))] });
    const { reports } = await open(registry.url).sync();
    expect(reports[0]).toMatchObject({
      total: 1,
      skipped: 2,
      reasons: expect.arrayContaining(['a/huge is too large']),
    });
  });

  it('waits as long as a busy registry asks for, and tries again after errors', async () => {
    await using registry = await startRegistry({
      entries: [published(server('a/one'))],
      on: ({ count }) =>
        count === 1
          ? { status: 429, body: {}, headers: { 'retry-after': '7' } }
          : count === 2
            ? { status: 503, body: {} }
            : count === 3
              ? { status: 500, body: { title: 'Oh' } }
              : undefined,
    });
    const { reports } = await open(registry.url).sync();
    expect(reports).toMatchObject([{ total: 1 }]);
    expect(pauses[0]).toBe(7_000);
    expect(pauses).toHaveLength(3);
  });

  it.each([
    ['repeats its cursor', { body: { servers: [], metadata: { nextCursor: 'x' } } }, /same cursor twice/],
    ['answers with a page of HTML', { body: '<html>' }, /not JSON/],
    ['answers with something else', { body: { tools: [] } }, /not a list of servers/],
    ['sends too much', { body: `{"servers":[${'"x",'.repeat(5_000_000)}"x"]}` }, /too large|large|bytes|values/i],
  ])('ends when a registry %s, and keeps what was there', async (_what, fault, message) => {
    await using registry = await startRegistry({ entries: [published(server('a/one'))] });
    const registries = open(registry.url);
    await registries.sync();
    registry.on = () => ({ status: 200, ...fault });
    const { failures } = await registries.sync({ full: true });
    expect(failures[0]?.message).toMatch(message);
    expect(await names(registries, 'one')).toEqual(['a/one']);
  });

  it('ends when a registry drips', async () => {
    await using registry = await startRegistry({
      on: ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(timer));
        return true;
      },
    });
    const world = { requestMs: 200, retry: { attempts: 0, initial: 1, max: 1, factor: 1, jitter: 0 } };
    const registries = new McpRegistries({ registries: [{ url: registry.url }], folder, world });
    const { failures } = await registries.sync();
    expect(failures[0]?.message).toContain('did not answer within 200 ms');
  });

  it('notices damaged files and reads everything again', async () => {
    await using registry = await startRegistry({ entries: [published(server('a/one'))] });
    await open(registry.url).sync();
    const [own = ''] = await readdir(folder);
    for (const file of await readdir(join(folder, own))) await writeFile(join(folder, own, file), 'garbage');
    const registries = open(registry.url);
    expect((await registries.sync()).reports).toMatchObject([{ full: true, total: 1 }]);
    expect(await names(registries, 'one')).toEqual(['a/one']);
  });
});

it('of two registries with one name the first wins, in searches and by name', async () => {
  await using first = await startRegistry({
    entries: [published(server('a/one', { description: 'Ours, bakes bread' }))],
  });
  await using second = await startRegistry({
    entries: [
      published(server('a/one', { description: 'Theirs, paints walls' })),
      published(server('b/two', { description: 'Paints walls too' })),
    ],
  });
  const registries = open(first.url, second.url);
  await registries.sync();
  expect(await names(registries, 'paint walls')).toEqual(['b/two']);
  expect((await registries.show('a/one')).entry.server.description).toBe('Ours, bakes bread');
});

it('a later registry does not answer in the place of one that is away', async () => {
  const first = await startRegistry();
  await using second = await startRegistry({ entries: [published(server('a/one'))] });
  await first.close();
  await expect(open(first.url, second.url).show('a/one')).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR' });
});

it('what was synced is used while a registry is away, and that is said', async () => {
  const registry = await startRegistry({ entries: [published(server('a/one'))] });
  const registries = open(registry.url);
  await registries.sync();
  await registry.close();
  expect((await registries.search('one')).notes).toEqual([]);
  now += 2 * HOUR;
  const { results, notes } = await registries.search('one');
  expect(results).toHaveLength(1);
  expect(notes[0]).toContain('What was synced before is used.');
});

it('a reader during the sync of another process uses what is there, and is not told to sync', async () => {
  await using registry = await startRegistry({ entries: [published(server('a/one'))] });
  const [reader, writer] = [open(registry.url), open(registry.url)];
  const held = async (work: () => Promise<void>) => {
    let release = () => {};
    let isAsked = false;
    registry.on = () =>
      new Promise<undefined>((resolve) => {
        isAsked = true;
        release = () => resolve(undefined);
      });
    const syncing = writer.sync();
    await expect
      .poll(async () => (await readdir(folder, { recursive: true })).some((name) => name.endsWith('anygpt-lock')))
      .toBe(true);
    await work();
    await expect.poll(() => isAsked).toBe(true);
    registry.on = () => undefined;
    release();
    await syncing;
  };
  await held(async () => {
    const { notes } = await reader.search('one', { offline: true });
    expect(notes).toEqual([expect.stringContaining('is being synced by another process for the first time')]);
  });
  now += 2 * HOUR;
  await held(async () => {
    const { results, notes } = await reader.search('one');
    expect([results.length, notes]).toEqual([1, [expect.stringContaining('is being synced by another process. What')]]);
  });
});

it('a slow registry is not waited for where a copy exists, unless fresh answers are wanted', async () => {
  await using registry = await startRegistry({ entries: [published(server('a/one'))] });
  const world = { requestMs: 60_000, refreshMs: 50 };
  const registries = new McpRegistries({
    registries: [{ url: registry.url, name: 'ours' }],
    folder,
    now: () => now,
    world,
  });
  await registries.sync();
  registry.on = () => true;
  now += 2 * HOUR;
  const { results, notes } = await registries.search('one');
  expect(results).toHaveLength(1);
  expect(notes).toEqual([
    'The registry ours was not read within 0.05 s; `anygpt mcp registry sync` waits for it. What was synced before is used.',
  ]);
  expect((await registries.show('a/one')).entry.server.name).toBe('a/one');
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    registry.on = async () => {
      resolve();
      await new Promise<void>((go) => {
        answer = go;
      });
      return undefined;
    };
  });
  const fresh = registries.search('one', { useCache: false });
  await asked;
  await new Promise((resolve) => setTimeout(resolve, 100));
  answer();
  expect(await fresh).toMatchObject({ results: [{ name: 'a/one' }], notes: [] });
});

it('a registry that was never synced is asked directly; answers are kept for an hour, and longer while it is away', async () => {
  const registry = await startRegistry({ entries: await listed() });
  const registries = open(registry.url);
  const { results } = await registries.search('airtable');
  expect(results.map(({ name }) => name)).toEqual(['io.github.domdomegg/airtable-mcp-server']);
  const asked = registry.journal.length;
  await registries.search('airtable');
  expect(registry.journal).toHaveLength(asked);
  now += 2 * HOUR;
  await registries.search('airtable');
  expect(registry.journal.at(-1)?.headers['if-none-match']).toMatch(/^"/);
  expect(
    (await registries.show('io.github.domdomegg/airtable-mcp-server', { version: '1.7.2' })).entry.server.version,
  ).toBe('1.7.2');
  await registry.close();
  now += 2 * HOUR;
  expect((await registries.search('airtable')).notes.join()).toContain('An earlier answer is used.');
  await expect(open(registry.url).search('something else')).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR' });
});

it('headers are expanded when they are sent, and never appear in errors', async () => {
  await using registry = await startRegistry({
    on: ({ request }) => ({ status: 400, body: { detail: `bad ${request.headers.authorization}` } }),
  });
  const registries = new McpRegistries({
    registries: [{ url: registry.url, headers: { Authorization: 'Bearer ${TOKEN}' } }],
    folder,
    world: { expand: (text) => text.replace('${TOKEN}', 'k3y-9f8a7b6c5d4e') },
  });
  const { failures } = await registries.sync();
  expect(registry.journal[0]?.headers.authorization).toBe('Bearer k3y-9f8a7b6c5d4e');
  expect(failures[0]?.message).toContain('HTTP 400');
  expect(failures[0]?.message).not.toContain('k3y-9f8a7b6c5d4e');
});

it('orders versions as semantic versioning does', () => {
  const ordered = ['0.9', '1.0.0-alpha', '1.0.0-beta', '1.0.0', 'v1.2.0', '1.10.0', '2025.1.1'];
  for (let at = 1; at < ordered.length; at++)
    expect(compareVersions(ordered[at - 1] as string, ordered[at] as string)).toBeLessThan(0);
});

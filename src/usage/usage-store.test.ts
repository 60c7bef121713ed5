import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, folder, memoryLog, until } from '../../test/fixtures/engine.ts';
import { silentLogger } from '../core/log.ts';
import { lockPath } from '../disk/file-lock.ts';
import { forgetUsage } from './usage-learning.ts';
import { UsageStore, type UsageStoreOptions, type Use } from './usage-store.ts';

const NOW = 1_700_000_000_000;
const use = (query: string, tool: string, weight = 1): Use => ({ query, server: 'tracker', tool, at: NOW, weight });
const storeIn = (home: Folder, more: Partial<UsageStoreOptions> = {}) =>
  new UsageStore({
    folder: join(home.path, 'usage'),
    keepQueries: false,
    logger: silentLogger,
    now: () => NOW,
    writeAfterMs: 3_600_000,
    ...more,
  });
const usesOf = async (store: UsageStore, query: string, principal?: string): Promise<[string, number][]> =>
  (await store.recordOf(principal)).learntFor(query, NOW).map(({ tool, uses }) => [tool, uses]);
/** A lock file exists only during a write. */
const filesIn = (home: Folder) => readdirSync(join(home.path, 'usage')).filter((name) => !name.includes(lockPath('')));

describe('a use', () => {
  it('counts at once, and in the next process when it was written', async () => {
    using home = folder();
    const store = storeIn(home);
    await store.add(undefined, use('open ticket', 'create_issue'));
    expect(await usesOf(store, 'open a ticket')).toEqual([['create_issue', 1]]);
    expect(await usesOf(storeIn(home), 'open a ticket')).toEqual([]);
    await store.flush();
    expect(await usesOf(storeIn(home), 'open a ticket')).toEqual([['create_issue', 1]]);
    await store.flush();
    expect(await usesOf(storeIn(home), 'open a ticket')).toEqual([['create_issue', 1]]);
  });

  it('is written by itself after a while, in one file that only its owner can read', async () => {
    using home = folder();
    const store = storeIn(home, { writeAfterMs: 20 });
    await store.add(undefined, use('open ticket', 'create_issue'));
    await store.add(undefined, use('close ticket', 'close_issue'));
    await until(() => home.contents().includes('close_issue'));
    expect(filesIn(home)).toHaveLength(1);
    if (process.platform === 'win32') return;
    expect(statSync(join(home.path, 'usage', filesIn(home)[0] as string)).mode & 0o777).toBe(0o600);
    expect(statSync(join(home.path, 'usage')).mode & 0o777).toBe(0o700);
  });

  it('belongs to one principal and is shown to no other', async () => {
    using home = folder();
    const store = storeIn(home);
    await store.add('ann@example.com', use('open ticket', 'create_issue'));
    await store.add(undefined, use('open ticket', 'local_tool'));
    await store.flush();
    for (const one of [store, storeIn(home)]) {
      expect(await usesOf(one, 'open ticket', 'ann@example.com')).toEqual([['create_issue', 1]]);
      expect(await usesOf(one, 'open ticket', 'bob@example.com')).toEqual([]);
      expect(await usesOf(one, 'open ticket')).toEqual([['local_tool', 1]]);
    }
    expect(filesIn(home)).toHaveLength(2);
  });

  it('leaves no word of the request and no name of the principal on disk', async () => {
    using home = folder();
    const store = storeIn(home);
    await store.add('ann@example.com', use('fire Ms. Lindqvist', 'remove_person'));
    await store.flush();
    expect(home.contents()).toContain('remove_person');
    expect(home.contents()).not.toMatch(/lindqvist|fire|ann@|example/i);
  });

  it('is hashed differently in every home, and kept as written where that is wanted', async () => {
    using one = folder();
    using other = folder();
    const words: unknown[] = [];
    for (const home of [one, other]) {
      const store = storeIn(home, { keepQueries: home === other });
      await store.add(undefined, use('open ticket', 'create_issue'));
      await store.flush();
      const text = readFileSync(join(home.path, 'usage', filesIn(home)[0] as string), 'utf8');
      words.push(JSON.parse(text.slice(text.indexOf('\n'))).data.record.queries[0].words);
    }
    expect(words[0]).not.toEqual(words[1]);
    expect(one.contents()).not.toContain('open ticket');
    expect(other.contents()).toContain('open ticket');
  });
});

describe('several processes', () => {
  it('add to one another instead of writing over one another', async () => {
    using home = folder();
    const stores = Array.from({ length: 6 }, () => storeIn(home));
    // All have started before any has written, so each has its own salt.
    for (const store of stores) await store.recordOf(undefined);
    for (const [at, store] of stores.entries()) {
      await store.add(undefined, use('open ticket', 'create_issue'));
      await store.add(undefined, use(`own word${at}`, `own_${at}`));
    }
    await Promise.all(stores.map((store) => store.flush()));
    const fresh = storeIn(home);
    expect(await usesOf(fresh, 'open ticket')).toEqual([['create_issue', 6]]);
    for (const at of stores.keys()) expect(await usesOf(fresh, `own word${at}`)).toContainEqual([`own_${at}`, 1]);
  });

  it('hear of one another within a minute, and of what was forgotten', async () => {
    using home = folder();
    let now = NOW;
    const [one, other] = [storeIn(home, { now: () => now }), storeIn(home)];
    expect(await usesOf(one, 'open ticket')).toEqual([]);
    await other.add(undefined, use('open ticket', 'create_issue'));
    await other.flush();
    expect(await usesOf(one, 'open ticket')).toEqual([]);
    now += 61_000;
    await until(async () => (await usesOf(one, 'open ticket')).length === 1);
    await forgetUsage(home.path);
    now += 61_000;
    await until(async () => (await usesOf(one, 'open ticket')).length === 0);
  });

  it('wait for one that writes, and not for one that died', async () => {
    using home = folder();
    const store = storeIn(home);
    await store.add(undefined, use('open ticket', 'create_issue'));
    await store.flush();
    const [file = ''] = filesIn(home);
    const lock = lockPath(join(home.path, 'usage', file));
    writeFileSync(lock, '');
    await store.add(undefined, use('open ticket', 'create_issue'));
    const flushed = store.flush();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await usesOf(storeIn(home), 'open ticket')).toEqual([['create_issue', 1]]);
    const old = new Date(Date.now() - 60_000);
    utimesSync(lock, old, old);
    await flushed;
    expect(readdirSync(join(home.path, 'usage'))).toEqual([file]);
    expect(await usesOf(storeIn(home), 'open ticket')).toEqual([['create_issue', 2]]);
  });
});

describe('a disk that fails', () => {
  it('costs what was learnt, never the answer, and is said once', async () => {
    using home = folder();
    writeFileSync(join(home.path, 'usage'), 'in the way');
    const logger = memoryLog();
    const store = storeIn(home, { logger });
    expect(await usesOf(store, 'open ticket')).toEqual([]);
    await store.add(undefined, use('open ticket', 'create_issue'));
    await store.flush();
    await store.flush();
    expect(await usesOf(store, 'open ticket')).toEqual([['create_issue', 1]]);
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toMatch(/^warn what was learnt from use could not be (read|written)/);
  });

  it('or a file that is damaged is taken for an empty one and replaced', async () => {
    using home = folder();
    const store = storeIn(home);
    await store.add(undefined, use('open ticket', 'create_issue'));
    await store.flush();
    const [name = ''] = filesIn(home);
    writeFileSync(join(home.path, 'usage', name), '{"version":');
    const next = storeIn(home);
    expect(await usesOf(next, 'open ticket')).toEqual([]);
    await next.add(undefined, use('open ticket', 'other'));
    await next.flush();
    expect(await usesOf(storeIn(home), 'open ticket')).toEqual([['other', 1]]);
  });

  it('keeps no more principals in memory than it should, and loses none', async () => {
    using home = folder();
    const store = storeIn(home);
    await store.add('first', use('open ticket', 'create_issue'));
    for (let at = 0; at < 260; at++) await store.recordOf(`principal ${at}`);
    await until(() => home.contents().includes('create_issue'));
    expect(await usesOf(store, 'open ticket', 'first')).toEqual([['create_issue', 1]]);
  });
});

import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { published, startRegistry } from '../../test/fixtures/mcp-registry-service.mjs';
import { RegistryClient } from './registry-client.ts';
import { RegistryStore } from './registry-store.ts';
import { openIndex, syncRegistry } from './sync-registry.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'registry-store-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A reader that has read the first table of contents; `swap` then puts the files of the next sync into its folder. */
async function readingDuringSync() {
  const [here, next] = [join(folder, 'here'), join(folder, 'next')];
  const server = (version: string) =>
    published(
      { name: 'a/one', description: `Bakes bread, ${version}`, version },
      { updatedAt: '2026-01-05T10:00:00Z' },
    );
  await using registry = await startRegistry({ entries: [server('1.0.0')] });
  const client = new RegistryClient({ url: registry.url });
  await syncRegistry(client, new RegistryStore(here, registry.url));
  cpSync(here, next, { recursive: true });
  registry.entries = [server('2.0.0')];
  await syncRegistry(client, new RegistryStore(next, registry.url), { full: true });
  const store = new RegistryStore(here, registry.url);
  const contents = await store.contents();
  if (contents === undefined) throw new Error('nothing was synced');
  return {
    store,
    contents,
    swap: () => {
      renameSync(here, join(folder, 'before'));
      cpSync(next, here, { recursive: true });
    },
  };
}

it('reads what another process synced in the meantime', async () => {
  const { store, swap } = await readingDuringSync();
  let isSwapped = false;
  // Asked for after the table of contents was read, and before the entries are.
  const names = {
    *[Symbol.iterator]() {
      if (!isSwapped) swap();
      isSwapped = true;
      yield 'a/one';
    },
  };
  expect((await store.entries(names)).get('a/one')?.server.version).toBe('2.0.0');
});

it('opens the index that another process wrote in the meantime', async () => {
  const { store, contents, swap } = await readingDuringSync();
  swap();
  expect((await openIndex(store, contents)).search('bread')).toMatchObject([{ name: 'a/one', version: '2.0.0' }]);
});

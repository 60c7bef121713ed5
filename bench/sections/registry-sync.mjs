// Measures sync and search of a registry. Each step runs in a process of its own, so that memory counts from zero.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startRegistry } from '../../test/fixtures/mcp-registry-service.mjs';
import { entryOf, registryEntries } from '../parts/registry-entries.mjs';

export const title = 'A registry on disk';

const CHANGES = 100;

const inOwnProcess = async (...args) => {
  const script = fileURLToPath(new URL('./registry-sync-child.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, ...args.map(String)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [document, [code]] = await Promise.all([json(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}`);
  return document;
};

export const measure = async ({ entries: count }) => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-registry-'));
  const entries = registryEntries(count);
  const registry = await startRegistry({ entries });
  try {
    const full = await inOwnProcess('sync', folder, registry.url);
    const search = await inOwnProcess('search', folder, registry.url, count);
    const now = new Date(Date.now()).toISOString();
    const step = Math.floor(count / CHANGES);
    registry.entries = entries.map((entry, at) => {
      const { name, description, packages } = entry.server;
      const { identifier } = packages[0];
      return at % step === 0
        ? entryOf({ name, description: `changed ${description}`, identifier, version: '9.0.0' }, now)
        : entry;
    });
    const changes = await inOwnProcess('sync', folder, registry.url);
    const again = await inOwnProcess('sync', folder, registry.url);
    if (full.total !== count || changes.changed < CHANGES) throw new Error(JSON.stringify({ full, changes }));
    return [
      {
        what: `full sync of ${count} entries, index included`,
        value: full.ms / 1000,
        unit: 's',
        budget: 60,
        note: `${(full.cpu / 1000).toFixed(1)} s of processor`,
      },
      { what: 'resident memory of it, at most', value: full.rss, unit: 'MB', budget: 250 },
      { what: 'on disk', value: (await sizeOf(folder)) / 2 ** 20, unit: 'MB' },
      { what: 'search, first answer in a new process', value: search.first, unit: 'ms', note: 'index read from disk' },
      { what: 'search, median', value: search.p50, unit: 'ms' },
      {
        what: 'search, 99th percentile',
        value: search.p99,
        unit: 'ms',
        budget: 10,
        note: `${search.cpu.toFixed(2)} ms of processor each, ${search.cpu99.toFixed(2)} at the 99th percentile`,
      },
      { what: 'resident memory of search, at most', value: search.rss, unit: 'MB', budget: 250 },
      {
        what: `incremental sync of ${changes.changed} changes`,
        value: changes.ms / 1000,
        unit: 's',
        budget: 1,
        note: `${(changes.cpu / 1000).toFixed(2)} s of processor`,
      },
      { what: 'resident memory of it, at most', value: changes.rss, unit: 'MB', budget: 250 },
      { what: 'incremental sync without changes', value: again.ms / 1000, unit: 's' },
    ];
  } finally {
    await registry.close();
    await rm(folder, { recursive: true, force: true });
  }
};

const sizeOf = async (folder) => {
  let size = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    const info = await stat(join(folder, name));
    if (info.isFile()) size += info.size;
  }
  return size;
};

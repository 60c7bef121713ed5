import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileStore } from './file-store.ts';
import { sweepEntries } from './sweep-entries.ts';

const temporary = () => {
  const path = mkdtempSync(join(tmpdir(), 'sweep-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
};

describe('sweeping a store', () => {
  it('removes what is old, then the oldest beyond the room there is, and nothing that is not its own', async () => {
    using folder = temporary();
    const store = new FileStore(folder.path);
    const now = Date.now();
    for (const [key, days] of [
      ['a', 1],
      ['b', 2],
      ['c', 3],
      ['d', 40],
    ] as const) {
      await store.write(key, new Uint8Array(1000));
      const time = (now - days * 24 * 3600_000) / 1000;
      utimesSync(store.pathOf(key), time, time);
    }
    writeFileSync(join(folder.path, 'note.txt'), 'mine');
    const olderThanMs = 30 * 24 * 3600_000;
    await sweepEntries(folder.path, { olderThanMs, maxBytes: 1_000_000, now: () => now });
    expect(await store.keys()).toEqual(['a', 'b', 'c']);
    await sweepEntries(folder.path, { olderThanMs, maxBytes: 2_500 });
    expect(await store.keys()).toEqual(['a', 'b']);
    expect(existsSync(join(folder.path, 'note.txt'))).toBe(true);
  });

  it('finds nothing to do in a folder that is not there, and fails where it cannot look', async () => {
    using folder = temporary();
    await sweepEntries(join(folder.path, 'nowhere'), { olderThanMs: 0, maxBytes: 0 });
    writeFileSync(join(folder.path, 'file'), '');
    await expect(sweepEntries(join(folder.path, 'file'), { olderThanMs: 0, maxBytes: 0 })).rejects.toThrow('ENOTDIR');
    expect(readdirSync(folder.path)).toEqual(['file']);
  });
});

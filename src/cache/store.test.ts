import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { MemoryStore } from '../../test/fixtures/memory-store.ts';
import { FileStore } from './file-store.ts';
import type { Store } from './store.ts';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

async function newFileStore(): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'store-'));
  folders.push(folder);
  return new FileStore(join(folder, 'a', 'b'));
}

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (value: Uint8Array | undefined): string | undefined => value && Buffer.from(value).toString();

/** The contract of the port; every store passes it. */
describe.each([
  ['MemoryStore', async (): Promise<Store> => new MemoryStore()],
  ['FileStore', newFileStore],
])('%s', (_name, newStore) => {
  test('returns what was last written', async () => {
    const store = await newStore();
    expect(await store.read('a')).toBeUndefined();
    await store.write('a', bytes('one'));
    await store.write('a', bytes('two'));
    await store.write('empty', new Uint8Array());
    expect(text(await store.read('a'))).toBe('two');
    expect(text(await store.read('empty'))).toBe('');
  });

  test('is empty before anything was written', async () => {
    const store = await newStore();
    expect(await store.keys()).toEqual([]);
    await store.delete('a');
    await store.setAside('a');
    await store.clear();
    expect(await store.keys()).toEqual([]);
  });

  test('forgets one key, or all', async () => {
    const store = await newStore();
    for (const key of ['b', 'a', 'c', 'd']) await store.write(key, bytes(key));
    await store.delete('b');
    await store.setAside('d');
    expect(await store.keys()).toEqual(['a', 'c']);
    expect(await store.read('b')).toBeUndefined();
    expect(await store.read('d')).toBeUndefined();
    await store.clear();
    expect(await store.keys()).toEqual([]);
    expect(await store.read('a')).toBeUndefined();
  });

  test('keeps odd and similar names apart', async () => {
    const store = await newStore();
    const names = [
      '__proto__',
      'constructor',
      '..',
      '../x',
      'a/b',
      'a\\b',
      '\0',
      '',
      'nul',
      'NUL',
      'é',
      'e\u0301',
      '\ud800',
      '\ud801',
      'x'.repeat(300),
      `${'x'.repeat(300)}y`,
      'line\nbreak',
    ];
    for (const [index, name] of names.entries()) await store.write(name, bytes(`${index}`));
    for (const [index, name] of names.entries()) expect(text(await store.read(name))).toBe(`${index}`);
    expect(await store.keys()).toEqual([...names].sort());
  });

  test('keeps a copy: later changes to the bytes do not reach it', async () => {
    const store = await newStore();
    const value = Uint8Array.from([1, 2, 3]);
    await store.write('a', value);
    value[0] = 9;
    const first = await store.read('a');
    first?.fill(7);
    expect([...((await store.read('a')) ?? [])]).toEqual([1, 2, 3]);
  });

  test('does things to one key in the order they were asked for', async () => {
    const store = await newStore();
    const asked = [];
    for (let i = 0; i < 20; i++) asked.push(store.write('a', bytes(`${i}`)));
    await Promise.all(asked);
    expect(text(await store.read('a'))).toBe('19');
    await Promise.all([store.write('b', bytes('x')), store.delete('b')]);
    expect(await store.read('b')).toBeUndefined();
  });

  test('keeps any bytes under any name', async () => {
    const store = await newStore();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 200 }), async (key, value) => {
        await store.write(key, value);
        expect([...((await store.read(key)) ?? [])]).toEqual([...value]);
      }),
      { numRuns: 50 },
    );
  });
});

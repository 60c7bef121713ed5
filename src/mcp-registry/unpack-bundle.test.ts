import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Zipped, zip } from '../../test/fixtures/zip.ts';
import { checkBundle, unpackBundle } from './unpack-bundle.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'unpack-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const data = Buffer.from('text');
const UTF8 = 0x800;
const archive = (files: readonly Partial<Zipped>[]): string => {
  const path = join(home, 'bundle.mcpb');
  writeFileSync(path, zip(files.map((file) => ({ name: 'file', data, ...file }))));
  return path;
};

it('unpacks files, folders and executables, and leaves an existing folder', async () => {
  const folder = join(home, 'out');
  const path = archive([{ name: 'a/' }, { name: 'a/run', mode: 0o100755 }, { name: 'b.js', mode: 0o104644 }]);
  await unpackBundle(path, folder);
  expect(readFileSync(join(folder, 'a/run'), 'utf8')).toBe('text');
  if (process.platform !== 'win32')
    expect([statSync(join(folder, 'a/run')).mode & 0o7777, statSync(join(folder, 'b.js')).mode & 0o7777]).toEqual([
      0o700, 0o600,
    ]);
  writeFileSync(join(folder, 'b.js'), 'changed');
  await unpackBundle(path, folder);
  expect(readFileSync(join(folder, 'b.js'), 'utf8')).toBe('changed');
  expect(readdirSync(home).sort()).toEqual(['bundle.mcpb', 'out']);
});

it.each<[string, readonly Partial<Zipped>[], RegExp]>([
  ['a path that leads out', [{ name: '../evil' }], /invalid relative path|not allowed/],
  ['a path that leads out later', [{ name: 'a/../../evil' }], /invalid relative path|not allowed/],
  ['an absolute path', [{ name: '/etc/evil' }], /absolute path|not allowed/],
  ['a drive of Windows', [{ name: 'C:evil' }], /absolute path|not allowed/],
  ['a path of Windows', [{ name: 'a\\..\\..\\evil' }], /invalid characters|not allowed/],
  ['a stream of Windows', [{ name: 'a.js:evil' }], /not allowed/],
  ['a device of Windows', [{ name: 'a/NUL.txt' }], /not allowed/],
  ['a link', [{ name: 'link', data: Buffer.from('/etc'), mode: 0o120777 }], /is a link/],
  ['a pipe', [{ name: 'pipe', mode: 0o010644 }], /is a link or a device/],
  ['a name that comes twice', [{}, {}], /comes twice/],
  ['names that differ by case', [{ name: 'Index.js' }, { name: 'index.js' }], /comes twice/],
  [
    'names that differ by the form of a letter',
    [
      { name: 'caf\u00e9', flags: UTF8 },
      { name: 'cafe\u0301', flags: UTF8 },
    ],
    /comes twice/,
  ],
  ['a file that is also a folder', [{ name: 'a' }, { name: 'a/b' }], /both a file and a folder/],
  ['a hidden character', [{ name: 'a\u202ejs.exe', flags: UTF8 }], /hidden characters/],
  ['an encrypted file', [{ flags: 1 }], /encrypted/],
  ['more bytes than it says', [{ data: Buffer.alloc(1_000_000), size: 10 }], /too many bytes|cannot be unpacked/],
  ['more bytes than are allowed', [{ size: 2 ** 30 }, { name: 'b', size: 2 ** 30 }], /1024 MiB/],
])('refuses %s and leaves nothing', async (_, files, reason) => {
  const path = archive(files);
  await expect(unpackBundle(path, join(home, 'out'))).rejects.toThrow(reason);
  expect(readdirSync(home)).toEqual(['bundle.mcpb']);
});

it('writes nothing outside its folder, whatever the bytes are', async () => {
  const whole = zip([
    { name: 'manifest.json', data },
    { name: 'a/b.js', data },
  ]);
  const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
  const cases = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
    const bytes = Buffer.from(whole);
    for (const [at, value] of changes) bytes[at] = value;
    const path = join(home, 'bundle.mcpb');
    writeFileSync(path, bytes);
    const why = await unpackBundle(path, join(home, 'out')).catch((error: Error) => error.message);
    if (why !== undefined) expect(why).toMatch(/cannot be unpacked/);
    rmSync(join(home, 'out'), { recursive: true, force: true });
    expect(readdirSync(home)).toEqual(['bundle.mcpb']);
  });
  await fc.assert(cases, { numRuns: 100 });
});

it('fails before anything is written', async () => {
  await expect(checkBundle(archive([{ name: '../evil' }]))).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
  await expect(checkBundle(join(home, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  expect(existsSync(join(home, '..', 'evil'))).toBe(false);
});

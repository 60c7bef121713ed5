import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeFolder } from './make-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'folder-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('makes a folder and those it lies in for their owner only, however many make it at once', async () => {
  const path = join(folder, 'a', 'b', 'c');
  await Promise.all(Array.from({ length: 8 }, () => makeFolder(path)));
  await makeFolder(path);
  for (const made of [path, join(folder, 'a')])
    if (process.platform !== 'win32') expect((await stat(made)).mode & 0o777).toBe(0o700);
});

it('leaves what is there as it is', async () => {
  const path = join(folder, 'a');
  await mkdir(path, { mode: 0o755 });
  await writeFile(join(path, 'file'), 'x');
  await makeFolder(path);
  expect(await readdir(path)).toEqual(['file']);
  await expect(makeFolder(join(path, 'file', 'below'))).rejects.toThrow(/ENOTDIR|EEXIST|ENOENT/);
});

it.runIf(process.platform === 'linux')('gives up where the system knows no folders', async () => {
  await expect(makeFolder('/proc/anygpt/deep/down')).rejects.toMatchObject({ code: 'ENOENT' });
});

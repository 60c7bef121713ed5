import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadSalt } from './salt-file.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'salt-'));
  file = join(folder, 'salt');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test.runIf(process.platform !== 'win32')('a salt that does not fit on the disk leaves nothing behind', async () => {
  const script = `process.on('SIGXFSZ', () => {});
    const { createJiti } = await import('jiti');
    const { loadSalt } = await createJiti(process.argv[1], { fsCache: false }).import(process.argv[1]);
    await loadSalt(process.argv[2]).then(() => process.exit(1), () => {});`;
  const command = [
    process.execPath,
    '--input-type=module',
    '-e',
    script,
    join(import.meta.dirname, 'salt-file.ts'),
    file,
  ];
  // No file may have a byte, as on a full disk.
  const child = spawn('bash', ['-c', 'ulimit -f 0; exec "$@"', 'bash', ...command], {
    cwd: import.meta.dirname,
    stdio: 'ignore',
  });
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(await readdir(folder)).toEqual([]);
});

test('what a process left behind that died while it made a salt is swept', async () => {
  await loadSalt(file);
  for (const left of ['salt.1.aa.tmp', 'salt.2.bb.tmp', 'other.tmp']) await writeFile(join(folder, left), '');
  for (const old of ['salt.1.aa.tmp', 'other.tmp']) await utimes(join(folder, old), 0, 0);
  await loadSalt(file);
  expect((await readdir(folder)).sort()).toEqual(['other.tmp', 'salt', 'salt.2.bb.tmp']);
});

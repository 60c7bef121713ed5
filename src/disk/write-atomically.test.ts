import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeAtomically } from './write-atomically.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'write-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a write sweeps the temporary files of killed processes, and leaves those of others', async () => {
  const { pid: dead } = spawnSync(process.execPath, ['--version']);
  const before = new Date(Date.now() - 15_000);
  const temporary = (name: string, pid: number | undefined, time: Date) => {
    const path = join(folder, `${name}.${pid}.0123456789ab.tmp`);
    writeFileSync(path, '');
    utimesSync(path, time, time);
  };
  temporary('a.json', dead, before);
  temporary('a.json', process.pid, before);
  temporary('other.json', dead, before);
  await writeAtomically(join(folder, 'a.json'), '{}');
  expect(readdirSync(folder).sort()).toEqual([
    'a.json',
    `a.json.${process.pid}.0123456789ab.tmp`,
    `other.json.${dead}.0123456789ab.tmp`,
  ]);
});

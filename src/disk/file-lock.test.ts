import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lockPath, withLock } from './file-lock.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'anygpt-lock-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

it('lets one at a time do its work, and leaves nothing behind', async () => {
  const file = join(root, 'new', 'a.json');
  let inside = 0;
  let most = 0;
  const order: number[] = [];
  await Promise.all(
    [1, 2, 3, 4, 5, 6].map((number) =>
      withLock(file, async () => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, 2));
        order.push(number);
        inside--;
      }),
    ),
  );
  expect(most).toBe(1);
  expect(order.sort()).toEqual([1, 2, 3, 4, 5, 6]);
  expect(readdirSync(join(root, 'new'))).toEqual([]);
  if (process.platform !== 'win32') expect(statSync(join(root, 'new')).mode & 0o777).toBe(0o700);
});

it('gives what the work gives, and is free again after it failed', async () => {
  const file = join(root, 'b.json');
  await expect(withLock(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLock(file, async () => 7)).toBe(7);
  expect(existsSync(lockPath(file))).toBe(false);
});

it('takes over the lock of a dead process, once for all that wait', async () => {
  const file = join(root, 'c.json');
  writeFileSync(lockPath(file), '1 dead\n');
  const long = new Date(Date.now() - 11_000);
  utimesSync(lockPath(file), long, long);
  let inside = 0;
  const results = await Promise.all(
    [1, 2, 3, 4, 5, 6, 7, 8].map((number) =>
      withLock(file, async () => {
        expect(++inside).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 1));
        inside--;
        return number;
      }),
    ),
  );
  expect(results).toHaveLength(8);
  expect(readdirSync(root).filter((name) => name.startsWith('c.json'))).toEqual([]);
});

it('waits no longer than it is told for one that is alive', async () => {
  const file = join(root, 'd.json');
  await withLock(file, async () => {
    await expect(withLock(file, async () => undefined, { waitMs: 20 })).rejects.toMatchObject({
      code: 'STORAGE_ERROR',
      message: expect.stringContaining('Another anygpt process holds the lock'),
    });
  });
});

it('does not remove the lock of a process that took it over', async () => {
  const file = join(root, 'e.json');
  await withLock(file, async () => writeFileSync(lockPath(file), '2 other\n'));
  expect(existsSync(lockPath(file))).toBe(true);
});

it('long work shows that it is alive', async () => {
  const file = join(root, 'f.json');
  await withLock(
    file,
    async () => {
      const old = new Date(0);
      utimesSync(lockPath(file), old, old);
      await expect.poll(() => statSync(lockPath(file)).mtimeMs).toBeGreaterThan(0);
    },
    { staleMs: 20 },
  );
});

it('says where it cannot write', async () => {
  writeFileSync(join(root, 'g'), '');
  await expect(withLock(join(root, 'g', 'x.json'), async () => undefined)).rejects.toMatchObject({
    code: 'STORAGE_ERROR',
  });
});

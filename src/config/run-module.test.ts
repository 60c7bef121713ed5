import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runModule } from './run-module.ts';

describe.skipIf(process.platform === 'win32')('compiled copies of a configuration', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'run-module-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const run = (cacheFolder: string) =>
    runModule(join(root, 'config.ts'), 'const key: string = "sk-inline"; export default { key };', { cacheFolder });

  test('lie in folders of the user alone', async () => {
    const state = join(root, 'state');
    const cacheFolder = join(state, 'cache', 'jiti');
    expect(await run(cacheFolder)).toEqual({ key: 'sk-inline' });
    expect([state, dirname(cacheFolder), cacheFolder].map(modeOf)).toEqual(['700', '700', '700']);
    expect(readdirSync(cacheFolder)).not.toEqual([]);
  });

  test('are put out of others’ sight where the folder was open before', async () => {
    const cacheFolder = join(root, 'jiti');
    mkdirSync(cacheFolder);
    chmodSync(cacheFolder, 0o755);
    await run(cacheFolder);
    expect(modeOf(cacheFolder)).toBe('700');
  });

  test('are not kept where no such folder can be made', async () => {
    writeFileSync(join(root, 'in-the-way'), '');
    expect(await run(join(root, 'in-the-way', 'jiti'))).toEqual({ key: 'sk-inline' });
  });
});

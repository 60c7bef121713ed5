import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Snapshot } from './project-snapshot.ts';
import { runModule } from './run-module.ts';

describe.skipIf(process.platform === 'win32')('compiled copies of a configuration', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'run-module-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const run = async (cacheFolder: string) => {
    const files = new Snapshot('open');
    const path = join(root, 'config.ts');
    files.remember(path, 'const key: string = "sk-inline"; export default { key };');
    return runModule(path, { files, cacheFolder });
  };

  test('lie in folders of the user alone, and hold no secret that can be read', async () => {
    const state = join(root, 'state');
    const cacheFolder = join(state, 'cache');
    mkdirSync(join(cacheFolder, 'jiti'), { recursive: true, mode: 0o700 });
    writeFileSync(join(cacheFolder, 'jiti', 'old.mjs'), 'sk-inline');
    chmodSync(state, 0o700);
    expect(await run(cacheFolder)).toEqual({ key: 'sk-inline' });
    expect([state, cacheFolder, join(cacheFolder, 'compiled')].map(modeOf)).toEqual(['700', '700', '700']);
    expect(readdirSync(cacheFolder)).toEqual(['compiled']);
    const [copy = ''] = readdirSync(join(cacheFolder, 'compiled'));
    const bytes = readFileSync(join(cacheFolder, 'compiled', copy));
    expect(bytes.length).toBeGreaterThan(50);
    expect(bytes.toString('latin1')).not.toMatch(/sk-inline|exports/);
    expect(await run(cacheFolder)).toEqual({ key: 'sk-inline' });
  });

  test('are compiled again if one was changed', async () => {
    const cacheFolder = join(root, 'cache');
    await run(cacheFolder);
    const [copy = ''] = readdirSync(join(cacheFolder, 'compiled'));
    writeFileSync(join(cacheFolder, 'compiled', copy), 'exports.default = { key: "evil" }');
    expect(await run(cacheFolder)).toEqual({ key: 'sk-inline' });
  });

  test('are put out of others’ sight where the folder was open before', async () => {
    const cacheFolder = join(root, 'cache');
    mkdirSync(join(cacheFolder, 'compiled'), { recursive: true });
    chmodSync(join(cacheFolder, 'compiled'), 0o755);
    await run(cacheFolder);
    expect(modeOf(join(cacheFolder, 'compiled'))).toBe('700');
  });

  test('are not kept where no such folder can be made', async () => {
    writeFileSync(join(root, 'in-the-way'), '');
    expect(await run(join(root, 'in-the-way', 'cache'))).toEqual({ key: 'sk-inline' });
  });
});

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { engineIn, entry, folder } from '../../test/fixtures/engine.ts';
import { evil } from '../../test/fixtures/evil.ts';
import { FileStore } from '../cache/file-store.ts';
import { DiscoveryEngine } from './discovery-engine.ts';
import { configFile } from './engine-world.ts';

const server = (name: string) => evil({ era: 'legacy', tools: [{ name, inputSchema: { type: 'object' } }] });

test('engines without a file keep an index each in a shared cache, named by their servers', async () => {
  using home = folder();
  using one = server('tool_one');
  using two = server('tool_two');
  const keys = new Set<string>();
  for (const servers of [[entry('s', one)], [entry('s', two)], [entry('s', one)]]) {
    await using engine = engineIn(home, { servers });
    await engine.toolsOf('s');
    const { dir } = (await engine.getConfig()).cache;
    await engine.close();
    for (const key of await new FileStore(dir).keys()) if (key.startsWith('index:')) keys.add(key);
  }
  expect(keys.size).toBe(2);
  expect(keys).not.toContain('index:');
});

test('an engine that keeps its state in memory leaves no compiled copy of its configuration on disk', async () => {
  using home = folder();
  const file = join(home.path, 'own.ts');
  writeFileSync(file, 'export default { servers: [] as object[] }');
  const options = { env: {}, home: home.path };
  await using engine = new DiscoveryEngine({ ...configFile(file), state: 'memory' }, options);
  expect((await engine.getConfig()).origin).toBe(file);
  expect(readdirSync(home.path)).toEqual(['own.ts']);
  await using kept = new DiscoveryEngine({ ...configFile(file), state: join(home.path, 'state') }, options);
  await kept.getConfig();
  expect(existsSync(join(home.path, 'state', 'cache', 'compiled'))).toBe(true);
});

test('a folder for the state has the cache too, whatever the environment says', async () => {
  using home = folder();
  const elsewhere = join(home.path, 'elsewhere');
  mkdirSync(elsewhere);
  const state = join(home.path, 'state');
  const options = { env: { ANYGPT_CACHE_DIR: elsewhere }, home: home.path };
  await using engine = new DiscoveryEngine({ servers: [], state }, options);
  expect((await engine.getConfig()).cache.dir).toBe(join(state, 'cache'));
});

test('a file of the state folder is moved with it, also one whose name begins with two dots', async () => {
  using home = folder();
  const [state, own] = [join(home.path, 'state'), join(home.path, '.anygpt')];
  const { ConfigurationLoader } = await import('../config/configuration-loader.ts');
  const loaded = await new ConfigurationLoader({ env: {}, home: home.path }).resolve({
    audit: { file: join(own, '..audit') },
    cache: { dir: join(home.path, 'cache') },
  });
  await using engine = new DiscoveryEngine({ ...loaded, state }, { env: {}, home: home.path });
  expect(await engine.getConfig()).toMatchObject({
    audit: { file: join(state, '..audit') },
    cache: { dir: join(home.path, 'cache') },
  });
});

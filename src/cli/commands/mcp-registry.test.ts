import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { documentOf, runHere } from '../../../test/fixtures/cli.ts';
import { type RegistryService, startRegistry } from '../../../test/fixtures/mcp-registry-service.mjs';

let home: string;
let registry: RegistryService;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'registry-command-'));
  const pages = await Promise.all(
    ['list.page1', 'list.page2'].map(async (name) =>
      JSON.parse(await readFile(new URL(`../../../test/fixtures/mcp-registry/${name}.json`, import.meta.url), 'utf8')),
    ),
  );
  registry = await startRegistry({ entries: pages.flatMap(({ servers }) => servers), largestPage: 2 });
  const config = { discovery: { registries: [{ name: 'ours', url: registry.url }], retry: { attempts: 0 } } };
  await writeFile(join(home, 'config.json'), JSON.stringify(config));
});
afterAll(async () => {
  await registry.close();
  await rm(home, { recursive: true, force: true });
});

const run = (...argv: string[]) =>
  runHere(['registry', ...argv, '--config', join(home, 'config.json')], { cwd: home, env: { ANYGPT_HOME: home } });

it('syncs, searches and shows, as text and as documents, and works without the registry afterwards', async () => {
  const synced = await run('sync');
  expect(synced).toMatchObject({ code: 0, out: 'ours: 5 servers (5 new)\n' });
  const again = await documentOf('registry-sync', (await run('sync', '--json')).out);
  expect(again.registries).toMatchObject([{ registry: 'ours', total: 5, added: 0 }]);
  await registry.close();

  const found = await documentOf(
    'registry-search',
    (await run('search', 'airtable tables', '--json', '--offline')).out,
  );
  expect(found.results[0]).toMatchObject({
    name: 'io.github.domdomegg/airtable-mcp-server',
    version: '1.7.3',
    registry: 'ours',
  });
  expect((await run('search', 'airtable tables', '--offline')).out).toContain(
    '1. io.github.domdomegg/airtable-mcp-server 1.7.3',
  );

  const name = 'io.github.domdomegg/airtable-mcp-server';
  const shown = await documentOf('registry-show', (await run('show', name, '--json', '--offline')).out);
  expect(shown.ways[0]).toMatchObject({
    kind: 'npm',
    command: ['npx', '-y', 'airtable-mcp-server@1.7.3'],
    connection: { type: 'stdio', command: 'npx', env: { AIRTABLE_API_KEY: '${AIRTABLE_API_KEY}' } },
    inputs: [{ id: 'AIRTABLE_API_KEY', isSecret: true, isRequired: true }],
  });
  const text = await run('show', name, '--offline');
  expect(text.out).toContain('npx -y airtable-mcp-server@1.7.3');
  expect(text.out).toContain('Asks for AIRTABLE_API_KEY (required, secret)');

  expect(await run('show', 'io.github.nobody/nothing', '--offline')).toMatchObject({ code: 2 });
  expect(await run('sync')).toMatchObject({ code: 3 });
});

it('refuses what it does not know', async () => {
  expect((await run('serach', 'x')).err).toContain('Did you mean "search"?');
  expect(await run('search')).toMatchObject({ code: 1 });
  expect(await run('search', 'x', '--registry', 'file:///etc')).toMatchObject({ code: 1 });
});

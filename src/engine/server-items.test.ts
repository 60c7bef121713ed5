import { describe, expect, it } from 'vitest';
import { engineIn, type Folder, folder, memoryLog, until } from '../../test/fixtures/engine.ts';
import { overHttp, RESOURCES, itemsServer as server, WORLD } from '../../test/fixtures/items-world.ts';
import type { EngineOptions } from './engine-world.ts';

const engineOf = (home: Folder, entry: object, more: object = {}, options: EngineOptions = {}) =>
  engineIn(home, { servers: [entry], ...more }, options);

describe('resources and prompts of a server', () => {
  it.each([
    ['stdio, new era', '--modern-only'],
    ['stdio, old era', '--legacy-only'],
  ])('are listed over %s', async (_era, ...flags) => {
    using home = folder();
    const { entry } = server(home, WORLD, ...flags);
    await using engine = engineOf(home, entry);
    expect(await engine.items.list('docs')).toEqual({ success: true, data: WORLD });
  });

  it('are listed over HTTP', async () => {
    using home = folder();
    const { file } = server(home, WORLD);
    using http = await overHttp(file);
    await using engine = engineOf(home, { name: 'docs', connection: http.connection });
    expect(await engine.items.list('docs')).toEqual({ success: true, data: WORLD });
  });

  it('are read page by page, up to a limit', async () => {
    using home = folder();
    const resources = Array.from({ length: 1_100 }, (_, at) => ({ uri: `docs://${at}`, name: `${at}` }));
    const { entry } = server(home, { resources, pageSize: 300 });
    await using engine = engineOf(home, entry);
    const items = await engine.items.list('docs');
    expect(items.success && items.data.resources).toHaveLength(1_000);
    expect(items.success && items.data.resources.at(-1)).toEqual(resources[999]);
  });

  it('are not asked for where a server does not announce them', async () => {
    using home = folder();
    const { entry, journal } = server(home, { ...WORLD, silent: true });
    await using engine = engineOf(home, entry);
    const items = await engine.items.list('docs');
    expect(items).toEqual({ success: true, data: { resources: [], resourceTemplates: [], prompts: [] } });
    expect(journal().filter(([method]) => !method.startsWith('tools/'))).toEqual([]);
  });

  it('that fail lose neither the tools nor the other lists, and keep what was known', async () => {
    using home = folder();
    const { entry, write } = server(home, WORLD);
    {
      await using engine = engineOf(home, entry);
      await engine.items.list('docs');
    }
    write({ ...WORLD, prompts: [], fail: ['resources/list'], resourceTemplates: [] });
    await using engine = engineOf(home, entry);
    await engine.readLists({ again: true });
    expect((await engine.listTools('docs')).map(({ name }) => name)).toEqual(['changed', 'nothing']);
    expect(await engine.items.list('docs')).toEqual({
      success: true,
      data: { resources: RESOURCES, resourceTemplates: [], prompts: [] },
    });
  });

  it('are kept on disk and known to the next process without asking the server', async () => {
    using home = folder();
    const { entry, journal } = server(home, WORLD);
    {
      await using engine = engineOf(home, entry);
      await engine.items.list('docs');
    }
    const before = journal().length;
    await using engine = engineOf(home, entry, {}, { offline: true });
    expect(await engine.items.list('docs')).toEqual({ success: true, data: WORLD });
    expect(journal()).toHaveLength(before);
  });

  it.each([
    ['the new era', '--modern-only'],
    ['the old era', '--legacy-only'],
  ])('are read again when a server of %s says so', async (_era, ...flags) => {
    using home = folder();
    const { entry, write } = server(home, WORLD, ...flags);
    await using engine = engineOf(home, entry);
    await engine.items.list('docs');
    write({ ...WORLD, resources: RESOURCES.slice(1), prompts: [] });
    await engine.executeTool('docs', 'changed');
    await until(async () => {
      const items = await engine.items.list('docs');
      return items.success && items.data.resources.length === 1 && items.data.prompts.length === 0;
    });
  });

  it('are left out one by one where they cannot be used, with the reason in the log', async () => {
    using home = folder();
    const resources = [
      ...RESOURCES,
      { name: 'no URI' },
      { uri: 'docs://hidden\u200b' },
      { uri: `docs://${'x'.repeat(3_000)}` },
      { uri: 'docs://s3cret-value-of-the-server/x' },
      RESOURCES[0],
    ];
    const { entry } = server(home, { resources });
    const logger = memoryLog();
    const connection = { ...entry.connection, env: { TOKEN: '$' + '{DOCS_TOKEN}' } };
    const env = { DOCS_TOKEN: 's3cret-value-of-the-server' };
    await using engine = engineOf(home, { ...entry, connection }, {}, { env, logger });
    const items = await engine.items.list('docs');
    expect(items.success && items.data.resources).toEqual(RESOURCES);
    expect(logger.lines.filter((line) => line.includes('left out'))).toHaveLength(5);
    expect(logger.lines.join('\n')).not.toContain('s3cret-value');
  });
});

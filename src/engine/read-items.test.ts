import { describe, expect, it } from 'vitest';
import { engineIn, type Folder, folder } from '../../test/fixtures/engine.ts';
import { itemsServer, overHttp, RESOURCES, WORLD } from '../../test/fixtures/items-world.ts';
import { createMetaToolRunner } from '../meta-tools/meta-tool-runner.ts';
import type { EngineCore } from './engine-core.ts';

const HOLIDAYS = 'docs://handbook/holidays';
const TEXT = { contents: [{ uri: HOLIDAYS, mimeType: 'text/plain', text: 'Thirty days.' }] };
const SUMMARY = {
  description: 'd',
  messages: [
    { role: 'user', content: { type: 'text', text: 'Summarise {chapter} in a {tone} tone.' } },
    { role: 'assistant', content: { type: 'text', text: 'Gladly.' } },
  ],
};
const FULL = { ...WORLD, contents: { [HOLIDAYS]: TEXT, 'docs://handbook/travel': TEXT, summarise: SUMMARY } };

const engineOf = (home: Folder, entry: object, more: object = {}) => engineIn(home, { servers: [entry], ...more });

const read = (engine: EngineCore, args: object) => engine.executeTool('anygpt', 'read_resource', args);
const get = (engine: EngineCore, args: object) => engine.executeTool('anygpt', 'get_prompt', args);

describe('read_resource', () => {
  it.each([
    ['stdio, new era', '--modern-only'],
    ['stdio, old era', '--legacy-only'],
  ])('reads over %s', async (_era, ...flags) => {
    using home = folder();
    const { entry, journal } = itemsServer(home, FULL, ...flags);
    await using engine = engineOf(home, entry);
    const result = await read(engine, { server: 'docs', uri: HOLIDAYS });
    expect(result).toMatchObject({ success: true, result: { content: [{ type: 'text', text: 'Thirty days.' }] } });
    expect(journal().filter(([method]) => method === 'resources/read')).toEqual([
      ['resources/read', expect.objectContaining({ uri: HOLIDAYS })],
    ]);
  });

  it('reads over HTTP, and what no list but a template names', async () => {
    using home = folder();
    const { file } = itemsServer(home, FULL);
    using http = await overHttp(file);
    await using engine = engineOf(home, { name: 'docs', connection: http.connection });
    for (const uri of [HOLIDAYS, 'docs://handbook/travel'])
      expect(await read(engine, { server: 'docs', uri })).toMatchObject({
        success: true,
        result: { content: [{ text: 'Thirty days.' }] },
      });
  });

  it('gives images as images, and several parts with their URIs', async () => {
    using home = folder();
    const image = { uri: 'a://1', mimeType: 'image/png', blob: 'aGk=' };
    const file = { uri: 'a://2', mimeType: 'application/zip', blob: 'aGk=' };
    const text = { uri: 'a://3', text: 'x' };
    const { entry } = itemsServer(home, { contents: { 'a://': { contents: [image, file, text] } } });
    await using engine = engineOf(home, entry);
    expect(await read(engine, { server: 'docs', uri: 'a://' })).toMatchObject({
      success: true,
      result: {
        content: [
          { type: 'image', mimeType: 'image/png', data: 'aGk=' },
          { type: 'resource', resource: file },
          { type: 'resource', resource: text },
        ],
      },
    });
  });

  it('says which server or resource there is not, and what is wrong with the arguments', async () => {
    using home = folder();
    const { entry, journal } = itemsServer(home, FULL);
    await using engine = engineOf(home, entry);
    const codeOf = async (args: object) => {
      const result = await read(engine, args);
      return result.success ? result.result : [result.error.code, result.error.message];
    };
    expect(await codeOf({ server: 'doc', uri: HOLIDAYS })).toEqual([
      'SERVER_NOT_FOUND',
      expect.stringContaining('"docs"'),
    ]);
    expect(await codeOf({ server: 'anygpt', uri: HOLIDAYS })).toEqual(['SERVER_NOT_FOUND', expect.any(String)]);
    expect(await codeOf({ server: 'docs', uri: 'docs://none' })).toEqual([
      'TOOL_NOT_FOUND',
      expect.stringMatching(/docs has no resource "docs:\/\/none"/),
    ]);
    expect(await codeOf({ server: 'docs', uri: 'docs://handbook/{chapter}' })).toEqual([
      'TOOL_VALIDATION_ERROR',
      expect.stringContaining('{chapter}'),
    ]);
    for (const wrong of [{ server: 'docs' }, { server: 'docs', uri: '' }, { server: 'docs', uri: 'x'.repeat(3_000) }])
      expect(await codeOf(wrong)).toEqual(['TOOL_VALIDATION_ERROR', expect.any(String)]);
    expect(journal().filter(([method]) => method === 'resources/read')).toHaveLength(1);
  });

  it('never asks a server that announced no resources', async () => {
    using home = folder();
    const { entry, journal } = itemsServer(home, { ...FULL, silent: true });
    await using engine = engineOf(home, entry);
    const result = await read(engine, { server: 'docs', uri: HOLIDAYS });
    expect(result).toMatchObject({ success: false, error: { code: 'TOOL_NOT_FOUND', outcome: 'not_sent' } });
    expect(journal().filter(([method]) => !method.startsWith('tools/'))).toEqual([]);
  });

  it('cuts a large text into pages that read_result continues, and is ended by its timeout', async () => {
    using home = folder();
    const text = 'é'.repeat(60_000);
    const { entry, write } = itemsServer(home, { contents: { 'a://': { contents: [{ uri: 'a://', text }] } } });
    await using engine = engineOf(home, entry, { limits: { result: 64_000 } });
    let page = await read(engine, { server: 'docs', uri: 'a://' });
    let whole = '';
    for (;;) {
      if (!page.success) throw new Error(page.error.message);
      const blocks = page.result.content ?? [];
      whole += blocks
        .slice(0, -1)
        .map((block) => block.text)
        .join('');
      const meta = (blocks.at(-1)?._meta ?? {}) as Record<string, Record<string, number>>;
      const { id, page: number, pages } = meta['anygpt/page'] ?? {};
      if (number === pages) break;
      page = await engine.executeTool('anygpt', 'read_result', { id, page: Number(number) + 1 });
    }
    expect(whole).toBe(text);
    write({ hang: ['resources/read'] });
    const late = await engine.executeTool('anygpt', 'read_resource', { server: 'docs', uri: 'a://' }, { timeout: 300 });
    expect(late).toMatchObject({ success: false, error: { code: 'TOOL_EXECUTION_TIMEOUT', server: 'docs' } });
  });

  it('is recorded under the server that was asked, once', async () => {
    using home = folder();
    const { entry } = itemsServer(home, FULL);
    {
      await using engine = engineOf(home, entry);
      await read(engine, { server: 'docs', uri: HOLIDAYS });
      await read(engine, { server: 'docs' });
    }
    const lines = home
      .contents()
      .split('\n')
      .filter((line) => line.includes('"traceId"'))
      .map((line) => JSON.parse(line));
    expect(lines.map(({ server, tool, outcome }) => [server, tool, outcome])).toEqual([
      ['docs', `resource:${HOLIDAYS}`, 'success'],
      ['anygpt', 'read_resource', 'refused'],
    ]);
  });
});

describe('get_prompt', () => {
  it.each([
    ['the new era', '--modern-only'],
    ['the old era', '--legacy-only'],
  ])('fills a prompt in, in %s', async (_era, ...flags) => {
    using home = folder();
    const { entry } = itemsServer(home, FULL, ...flags);
    await using engine = engineOf(home, entry);
    const result = await get(engine, { server: 'docs', name: 'summarise', arguments: { chapter: 7, tone: 'dry' } });
    expect(result).toMatchObject({
      success: true,
      result: {
        content: [{ text: 'Summarise 7 in a dry tone.' }, { text: '[assistant]' }, { text: 'Gladly.' }],
      },
    });
  });

  it('refuses a prompt without a required argument before it is sent, and names the nearest prompt', async () => {
    using home = folder();
    const { entry, journal } = itemsServer(home, FULL);
    await using engine = engineOf(home, entry);
    expect(await get(engine, { server: 'docs', name: 'summarise' })).toMatchObject({
      success: false,
      error: { code: 'TOOL_VALIDATION_ERROR', message: expect.stringContaining('chapter') },
    });
    expect(await get(engine, { server: 'docs', name: 'sumarise' })).toMatchObject({
      success: false,
      error: { code: 'TOOL_NOT_FOUND', suggestions: ['summarise'] },
    });
    expect(journal().map(([method]) => method)).not.toContain('prompts/get');
  });
});

describe('rules for resources and prompts', () => {
  const rules = (...toolRules: object[]) => ({ toolRules });
  const seen = async (engine: EngineCore) => {
    const items = await engine.items.list('docs');
    if (!items.success) throw new Error(items.error.message);
    const { resources, resourceTemplates, prompts } = items.data;
    return [resources.length, resourceTemplates.length, prompts.length];
  };
  const isHit = async (engine: EngineCore, query: string) =>
    (await engine.searchTools(query, { items: true })).some(({ kind }) => kind !== undefined);

  it('hide what they deny from lists and searches, and refuse to read it in any spelling', async () => {
    using home = folder();
    const { entry, journal } = itemsServer(home, FULL);
    const deny = { pattern: ['resource:docs:docs://handbook/h*', 'prompt:*'], enabled: false };
    await using engine = engineOf(home, entry, rules(deny));
    expect(await seen(engine)).toEqual([1, 1, 0]);
    expect(await isHit(engine, 'how many days of leave')).toBe(false);
    expect(await isHit(engine, 'which expenses are refunded')).toBe(true);
    for (const uri of [HOLIDAYS, 'docs://handbook/x/../holidays', 'docs://handbook/%68olidays'])
      expect(await read(engine, { server: 'docs', uri })).toMatchObject({
        success: false,
        error: { code: 'TOOL_DISABLED', outcome: 'not_sent' },
      });
    expect(await get(engine, { server: 'docs', name: 'summarise', arguments: { chapter: '1' } })).toMatchObject({
      success: false,
      error: { code: 'TOOL_DISABLED' },
    });
    expect(journal().filter(([method]) => /read|get/.test(method))).toEqual([]);
    expect(await engine.ruleWarnings()).toEqual([]);
  });

  it('deny what a server whose tools are all denied has', async () => {
    using home = folder();
    const { entry } = itemsServer(home, FULL);
    for (const deny of [['docs:*'], ['*'], ['changed', 'nothing']]) {
      await using engine = engineOf(home, entry, {
        ...rules({ pattern: deny, enabled: false }),
        cache: { enabled: false },
      });
      expect(await read(engine, { server: 'docs', uri: HOLIDAYS })).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
      expect(await seen(engine)).toEqual([0, 0, 0]);
    }
  });

  it('make an allow-list that names what may be read', async () => {
    using home = folder();
    const { entry } = itemsServer(home, FULL);
    const tools = { pattern: ['changed'], enabled: true };
    {
      await using engine = engineOf(home, entry, rules(tools));
      expect(await seen(engine)).toEqual([0, 0, 0]);
    }
    const some = { pattern: ['resource:docs:*holidays'], enabled: true };
    {
      await using engine = engineOf(home, entry, rules(tools, some));
      expect(await seen(engine)).toEqual([1, 0, 0]);
      expect(await read(engine, { server: 'docs', uri: HOLIDAYS })).toMatchObject({ success: true });
      expect(await read(engine, { server: 'docs', uri: RESOURCES[1]?.uri })).toMatchObject({ success: false });
    }
    await using engine = engineOf(home, entry, rules(some));
    expect(await seen(engine)).toEqual([1, 0, 1]);
    expect(await engine.listTools('docs')).toHaveLength(2);
  });
});

describe('search', () => {
  const answerTo = async (engine: EngineCore, query: string) => {
    const result = await createMetaToolRunner(engine)('search_tools', { query }, { caller: {} } as never);
    return JSON.parse(String(result.content?.[0]?.text));
  };

  it('finds resources, templates and prompts, says what they are and how to read them', async () => {
    using home = folder();
    const { entry } = itemsServer(home, FULL);
    await using engine = engineOf(home, entry);
    expect(await answerTo(engine, 'how many days of leave does everybody get')).toMatchObject({
      results: [{ kind: 'resource', server: 'docs', uri: HOLIDAYS, summary: expect.any(String) }],
      notes: ['read a resource: execute_tool anygpt read_resource {server,uri}'],
    });
    expect(await answerTo(engine, 'summarise a chapter')).toMatchObject({
      results: expect.arrayContaining([
        expect.objectContaining({ kind: 'prompt', server: 'docs', name: 'summarise', args: 'chapter, tone?' }),
      ]),
      notes: expect.arrayContaining(['get a prompt: execute_tool anygpt get_prompt {server,name,arguments}']),
    });
    const { results } = await answerTo(engine, HOLIDAYS);
    expect(results[0]).toMatchObject({ uri: HOLIDAYS, relevance: 1 });
    expect((await answerTo(engine, 'tag:prompt')).results).toEqual([expect.objectContaining({ name: 'summarise' })]);
  });

  it('finds them after a restart without asking the server, and only where they are wanted', async () => {
    using home = folder();
    const { entry } = itemsServer(home, FULL);
    {
      await using engine = engineOf(home, entry);
      await engine.items.list('docs');
    }
    await using engine = engineIn(home, { servers: [entry] }, { offline: true });
    const find = (items: boolean) => engine.searchTools('days of leave', { items });
    expect((await find(true)).map(({ tool }) => tool)).toContain(HOLIDAYS);
    expect((await find(false)).every(({ kind }) => kind === undefined)).toBe(true);
  });
});

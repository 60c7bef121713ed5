import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentOf, type Ran } from '../../../test/fixtures/cli.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { itemsServer, WORLD } from '../../../test/fixtures/items-world.ts';
import { main } from '../main.ts';

const HOLIDAYS = 'docs://handbook/holidays';
const LOGO = 'docs://logo';
let folder: ReturnType<typeof tempFolder>;

beforeAll(() => {
  folder = tempFolder();
  const contents = {
    [HOLIDAYS]: { contents: [{ uri: HOLIDAYS, text: 'Thirty days.' }] },
    [LOGO]: { contents: [{ uri: LOGO, mimeType: 'image/png', blob: 'aGk=' }] },
  };
  const { entry } = itemsServer(folder, { ...WORLD, contents });
  const servers = [entry, { name: 'away', connection: { type: 'http', url: 'http://127.0.0.1:9/mcp' } }];
  const toolRules = [{ pattern: ['resource:docs:*expenses'], enabled: false }];
  writeFileSync(join(folder.path, 'config.json'), JSON.stringify({ servers, toolRules }));
});
afterAll(() => folder[Symbol.dispose]());

async function run(...argv: string[]): Promise<Ran> {
  const path = (name: string) => join(folder.path, name);
  const env = { HOME: folder.path, ANYGPT_HOME: path('home'), ANYGPT_CONFIG: path('config.json'), NO_COLOR: '1' };
  const io = fakeIo({ cwd: folder.path, env });
  const code = await main(['mcp', ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

describe('anygpt mcp resources and prompts', () => {
  it('list what one server has, without what rules disable', async () => {
    const { code, out } = await run('resources', 'docs');
    expect(code).toBe(0);
    expect(out).toBe(
      [
        'Resources of docs (2):',
        `${HOLIDAYS}\n  How many days of leave everybody gets.`,
        'docs://handbook/{chapter}\n  Any chapter.\n',
      ].join('\n\n'),
    );
    const prompts = await run('prompts', 'docs');
    expect(prompts).toMatchObject({
      code: 0,
      out: 'Prompts of docs (1):\n\nsummarise (chapter, tone?)\n  Summarises a chapter.\n',
    });
  });

  it('list what all servers have, as documents of their schemas, and name servers that fail', async () => {
    const resources = await run('resources', '--json', '--timeout', '2');
    expect(await documentOf('resources', resources.out)).toMatchObject({
      servers: [
        {
          server: 'docs',
          resources: [{ uri: HOLIDAYS, name: 'holidays' }],
          resourceTemplates: [{ uriTemplate: 'docs://handbook/{chapter}' }],
        },
      ],
    });
    expect(resources.err).toContain('away');
    const prompts = await run('prompts', '--json', '--offline');
    expect(await documentOf('prompts', prompts.out)).toMatchObject({
      servers: [
        { prompts: [{ name: 'summarise', arguments: [{ name: 'chapter', required: true }, { name: 'tone' }] }] },
      ],
    });
  });

  it('say which server is unknown or cannot be reached', async () => {
    expect(await run('resources', 'doc')).toMatchObject({ code: 2, err: expect.stringContaining('"docs"') });
    const failed = await run('prompts', 'away', '--json', '--timeout', '2');
    expect(failed.code).toBe(3);
    await documentOf('failure', failed.out);
    expect((await run('prompts', 'docs', 'more')).code).toBe(1);
  });
});

describe('anygpt mcp read', () => {
  it('prints the text alone, saves files, and gives a document of its schema', async () => {
    expect(await run('read', 'docs', HOLIDAYS)).toMatchObject({ code: 0, out: 'Thirty days.', err: '' });
    const json = await run('read', 'docs', HOLIDAYS, '--json');
    expect(await documentOf('read', json.out)).toEqual({ success: true, result: 'Thirty days.' });
    const saved = await run('read', 'docs', LOGO, '--output', 'saved', '--json');
    const { files } = await documentOf('read', saved.out);
    expect(readFileSync(files[0].path, 'utf8')).toBe('hi');
  });

  it('ends with the codes of the contract', async () => {
    const codeOf = async (...argv: string[]) => {
      const { code, out } = await run('read', ...argv, '--json');
      return [code, (await documentOf('read', out)).error?.code];
    };
    expect(await codeOf('docs', 'docs://none')).toEqual([2, 'TOOL_NOT_FOUND']);
    expect(await codeOf('nowhere', HOLIDAYS)).toEqual([2, 'SERVER_NOT_FOUND']);
    expect(await codeOf('docs', 'docs://handbook/expenses')).toEqual([4, 'TOOL_DISABLED']);
    expect(await codeOf('docs', 'docs://{x}')).toEqual([1, 'TOOL_VALIDATION_ERROR']);
    expect((await run('read', 'docs')).code).toBe(1);
  });
});

describe('anygpt mcp search', () => {
  it('finds resources and prompts and says what they are', async () => {
    const text = await run('search', 'days of leave', '--offline');
    expect(text.out).toContain(`1. docs resource ${HOLIDAYS} (`);
    const json = await run('search', 'summarise a chapter', '--explain', '--offline', '--json');
    expect((await documentOf('search', json.out)).results).toContainEqual(
      expect.objectContaining({ kind: 'prompt', server: 'docs', name: 'summarise' }),
    );
  });
});

describe('completion', () => {
  it('knows the resources of a server', async () => {
    const { out } = await run('completion', '--words', '--', 'mcp', 'read', 'docs', 'docs:');
    expect(out).toBe(`${HOLIDAYS}\tHow many days of leave everybody gets.\n`);
    expect((await run('completion', '--words', '--', 'mcp', 'resources', 'd')).out).toMatch(/^docs/);
  });
});

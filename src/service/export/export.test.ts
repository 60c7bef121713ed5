import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { readCapability } from '../../../test/fixtures/rtfs/read-capability.ts';
import type { ToolDefinition } from '../../core/types.ts';
import { toolToManifest } from '../manifest.ts';
import { exportFiles } from './export-files.ts';
import { EXPORT_FORMATS } from './export-formats.ts';
import { fileNames } from './file-names.ts';
import { writeFiles } from './write-files.ts';

const tool = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object', properties: { owner: { type: 'string' } }, required: ['owner'] },
  ...more,
});
const remote = (name: string, url: string) => ({
  name,
  connection: { type: 'http' as const, url, headers: { Authorization: 'Bearer secret' }, auth: undefined },
});
const github = remote('github', 'https://api.github.com/mcp');
const outputSchema = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };
const MANIFESTS = [
  toolToManifest(tool('list_issues', { outputSchema }), github),
  toolToManifest(tool('delete'), github),
  toolToManifest(tool('say', { inputSchema: { type: 'object' } }), { name: 'my "server" */' }),
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'anygpt-export-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a manifest', () => {
  it('says what a tool is called, belongs to and does', () => {
    expect(MANIFESTS[0]).toEqual({
      id: 'mcp.github.list_issues',
      version: '1.0.0',
      description: 'Does list_issues',
      inputSchema: { type: 'object', properties: { owner: { type: 'string' } }, required: ['owner'] },
      outputSchema,
      provider: {
        type: 'mcp',
        server: 'github',
        serverUrl: 'https://api.github.com/mcp',
        toolName: 'list_issues',
      },
      domains: ['github', 'github.issues'],
      categories: ['crud.read'],
    });
  });

  test.each([
    ['https://user:password@example.org/mcp', 'https://example.org/mcp'],
    ['https://example.org/mcp?api_key=abc123def456#x', 'https://example.org/mcp'],
    ['https://example.org/mcp/${TOKEN}', 'https://example.org/mcp/${TOKEN}'],
  ])('of %s has no credentials', (url, shown) => {
    expect(toolToManifest(tool('x'), remote('s', url)).provider.serverUrl).toBe(shown);
  });

  it('masks a key in the path of a URL', () => {
    const { serverUrl } = toolToManifest(
      tool('x'),
      remote('s', 'https://example.org/s/9f8e7d6c5b4a39281706f5e4d3c2b1a0/mcp'),
    ).provider;
    expect(serverUrl).not.toContain('9f8e7d6c5b4a');
  });

  it('takes any definition', () => {
    const odd = { name: '', description: 7, inputSchema: null, outputSchema: [], annotations: 'x' } as unknown;
    expect(toolToManifest(odd as ToolDefinition, { name: '' })).toMatchObject({
      id: 'mcp..',
      inputSchema: { type: 'object' },
    });
  });
});

describe('an export', () => {
  it('writes RTFS in the layout of 004, which reads back', async () => {
    const { files } = exportFiles(MANIFESTS.slice(0, 2), 'rtfs');
    await writeFiles(folder, files);
    expect(readdirSync(join(folder, 'github')).sort()).toEqual(['delete.rtfs', 'list_issues.rtfs']);
    const text = readFileSync(join(folder, 'github/list_issues.rtfs'), 'utf8');
    expect(readCapability(text)).toEqual(MANIFESTS[0]);
  });

  it('writes manifests as JSON', () => {
    expect(JSON.parse(exportFiles(MANIFESTS, 'json').files[0]?.text ?? '')).toEqual(MANIFESTS[0]);
  });

  it('writes a catalogue in which no name breaks a table', () => {
    const evil = toolToManifest(tool('a|b`c', { description: '<script>alert(1)</script> | [x](y)\n# z' }), {
      name: '# s\n| x',
    });
    const [file] = exportFiles([...MANIFESTS, evil], 'markdown').files;
    expect(file?.text).toContain(
      '| `list_issues` | Does list\\_issues | `owner` | `github` `github.issues` | `crud.read` |',
    );
    const rows = file?.text.split('\n').filter((line) => line.startsWith('| `')) ?? [];
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(row.match(/(?<!\\)\|/g)).toHaveLength(6);
    expect(file?.text).not.toContain('<script');
  });

  it.each(['anthropic', 'openai'] as const)('writes tools for %s, and which tool a name means', (format) => {
    const [tools, names] = exportFiles(MANIFESTS, format).files.map(({ text }) => JSON.parse(text));
    expect(tools[0]).toMatchObject({ name: 'github__list_issues', description: 'Does list_issues' });
    expect(names.github__list_issues).toEqual({ server: 'github', tool: 'list_issues' });
  });

  it('gives no two types of a client, and no two zod schemas, one name, whatever schemas call their parts', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/Output' } } };
    const inputSchema = {
      type: 'object' as const,
      properties: { first: { $ref: '#/$defs/Output' } },
      $defs: { Output: node },
    };
    const manifests = [
      toolToManifest(tool('get', { inputSchema }), github),
      toolToManifest(tool('get_input', { outputSchema }), github),
    ];
    const { files } = exportFiles(manifests, 'typescript');
    const text = files.find(({ path }) => path.startsWith('servers/'))?.text ?? '';
    const names = [...text.matchAll(/^export type (\w+)/gm)].map(([, name]) => name);
    expect(names).toContain('GetInputOutput');
    expect(new Set(names).size).toBe(names.length);
    expect(text).toContain('Promise<GetInputOutput2>');
    const zod = exportFiles(manifests, 'zod').files[0]?.text ?? '';
    const schemas = [...zod.matchAll(/^(?:export )?const (\w+)/gm)].map(([, name]) => name);
    expect(schemas).toContain('GetInputOutput2');
    expect(new Set(schemas).size).toBe(schemas.length);
  });

  it('writes a TypeScript client and zod schemas that compile in strict mode, and a client that calls', async () => {
    await writeFiles(join(folder, 'client'), exportFiles(MANIFESTS, 'typescript').files);
    await writeFiles(join(folder, 'zod'), exportFiles(MANIFESTS, 'zod').files);
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const use = `import { createClient, callThroughGateway } from './client/index.js';
const asked: unknown[] = [];
const call = callThroughGateway({ callTool: async (request) => { asked.push(request); return { structuredContent: { total: 3 } }; } });
const client = createClient(call);
const total: number = (await client.github.listIssues({ owner: 'x' })).total;
// @ts-expect-error: the owner is missing
void (() => client.github.listIssues({}));
console.log(JSON.stringify([total, asked]));
`;
    writeFileSync(join(folder, 'use.ts'), use);
    const compilerOptions = {
      strict: true,
      skipLibCheck: true,
      module: 'nodenext',
      target: 'es2022',
      outDir: 'out',
      types: ['node'],
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      erasableSyntaxOnly: true,
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['use.ts', 'client', 'zod'] }),
    );
    const built = spawnSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder], {
      encoding: 'utf8',
    });
    expect([built.status, built.stdout]).toEqual([0, '']);
    const ran = spawnSync(process.execPath, [join(folder, 'out/use.js')], { encoding: 'utf8' });
    expect(JSON.parse(ran.stdout)).toEqual([
      3,
      [{ name: 'execute_tool', arguments: { server: 'github', tool: 'list_issues', arguments: { owner: 'x' } } }],
    ]);
  }, 120_000);

  it('keeps every path inside its folder and apart from the others, whatever the names', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), { maxLength: 6 }),
        (pairs) => {
          const manifests = pairs.map(([server, name]) => toolToManifest(tool(name), { name: server }));
          for (const format of EXPORT_FORMATS) {
            const paths = exportFiles(manifests, format).files.map(({ path }) => path);
            for (const path of paths)
              expect(path).toMatch(/^(?:[A-Za-z0-9_][A-Za-z0-9._-]*\/){0,2}[A-Za-z0-9_][A-Za-z0-9._-]*\.\w+$/);
            expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(paths.length);
          }
        },
      ),
    );
  });

  it('names files apart where capital letters do not count, and as no device of Windows', () => {
    const names = fileNames(['Get', 'get', 'con', 'nul.x', '..', '../../etc', 'a/b', 'a_b', 'x'.repeat(500), 'ok']);
    const made = [...names.values()].map((one) => one.toLowerCase());
    expect(new Set(made).size).toBe(made.length);
    expect(names.get('ok')).toBe('ok');
    expect(names.get('a_b')).toMatch(/^a_b-/);
    expect(made.filter((one) => /^(con|nul)(\.|$)|^\.|\//.test(one))).toEqual([]);
  });

  it('stays in a given folder, even if a folder on the way is a link', async () => {
    const outside = join(folder, 'outside');
    const within = join(folder, 'work');
    mkdirSync(outside);
    mkdirSync(join(within, 'real'), { recursive: true });
    symlinkSync(outside, join(within, 'capabilities'));
    symlinkSync(join(within, 'real'), join(within, 'inside'));
    const files = [{ path: 'a.md', text: 'x' }];
    for (const name of ['capabilities', 'capabilities/json'])
      await expect(writeFiles(join(within, name), files, { within })).rejects.toThrow('is a link that leads out of');
    expect(readdirSync(outside)).toEqual([]);
    await writeFiles(join(within, 'inside/new'), files, { within });
    expect(readdirSync(join(within, 'real/new'))).toEqual(['a.md']);
  });

  it('does not follow a link out of its folder', async () => {
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    mkdirSync(join(folder, 'export'));
    symlinkSync(outside, join(folder, 'export/github'));
    const { files } = exportFiles(MANIFESTS.slice(0, 1), 'rtfs');
    await expect(writeFiles(join(folder, 'export'), files)).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    await expect(writeFiles(folder, [{ path: '../x', text: '' }])).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    expect(readdirSync(outside)).toEqual([]);
  });
});

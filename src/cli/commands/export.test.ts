import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { documentOf, type Ran, root } from '../../../test/fixtures/cli.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { readCapability } from '../../../test/fixtures/rtfs/read-capability.ts';
import { EXPORT_FORMATS } from '../../service/export/export-formats.ts';
import { startTestServer, type TestServer } from '../../testing/index.ts';
import { main } from '../main.ts';

let github: TestServer;
let folder: ReturnType<typeof tempFolder>;
const inputSchema = {
  type: 'object',
  properties: {
    owner: { type: 'string' },
    repo: { type: 'string' },
    state: { type: 'string', enum: ['open', 'closed', 'all'] },
  },
  required: ['owner', 'repo'],
};
const outputSchema = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };

beforeAll(async () => {
  github = await startTestServer({
    tools: {
      list_issues: {
        description: 'List issues in a GitHub repository',
        inputSchema,
        outputSchema,
        call: ({ owner }) => ({ content: [], structuredContent: { total: String(owner).length } }),
      },
      search_code: { description: 'Searches code', call: () => 'found' },
      '../../escape': { description: 'Fails', call: () => Promise.reject(new Error('no such thing')) },
      delete_repository: { call: () => 'gone' },
    },
  });
});
afterAll(() => github.close());
beforeEach(() => {
  folder = tempFolder();
  write('config.json', {
    servers: [
      { name: 'github', connection: github.connection },
      { name: 'away', connection: { type: 'http', url: 'http://127.0.0.1:9/mcp' } },
    ],
    toolRules: [{ pattern: ['delete_*'], enabled: false }],
  });
});
afterEach(() => folder[Symbol.dispose]());

const path = (...parts: string[]): string => join(folder.path, ...parts);
const write = (name: string, value: unknown): void => writeFileSync(path(name), JSON.stringify(value));
const env = () => ({ ANYGPT_HOME: path('home'), ANYGPT_CONFIG: path('config.json'), HOME: folder.path });

async function run(...argv: string[]): Promise<Ran> {
  const io = fakeIo({ cwd: folder.path, env: { ...env(), NO_COLOR: '1' } });
  const code = await main(['mcp', 'export', ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

describe('export', () => {
  it('writes usable tools in the layout and the format of 004, which reads back, and says what it wrote', async () => {
    const { code, out, err } = await run();
    expect(code).toBe(0);
    const written = path('capabilities/servers/pending/github');
    const names = readdirSync(written).sort();
    expect(names.slice(1)).toEqual(['list_issues.rtfs', 'search_code.rtfs']);
    expect(names[0]).toMatch(/^_[\w.-]*escape-[0-9a-f]{8}\.rtfs$/);
    expect(out).toBe(
      `Wrote 3 tools of 1 server as rtfs to capabilities/servers/pending (3 files):\n${[...names]
        .map((name) => `  github/${name}\n`)
        .join('')}`,
    );
    expect(err).toMatch(/^anygpt: away was left out: (?!away )/);
    const text = readFileSync(join(written, 'list_issues.rtfs'), 'utf8');
    expect(text).toContain(`(capability :mcp.github.list_issues
  :version "1.0.0"
  :description "List issues in a GitHub repository"
  :input-schema [:map
    [:owner :string]
    [:repo :string]
    [:state {:optional true} :string]]
  :output-schema [:map`);
    expect(readCapability(text)).toMatchObject({
      id: 'mcp.github.list_issues',
      provider: { server: 'github', serverUrl: github.url, toolName: 'list_issues' },
      outputSchema,
      domains: ['github', 'github.issues'],
      categories: ['crud.read'],
    });
    for (const name of names)
      expect(readCapability(readFileSync(join(written, name), 'utf8'))).toHaveProperty('provider.server', 'github');
  });

  it.each(EXPORT_FORMATS)('writes %s and lists the files as JSON', async (format) => {
    const { code, out } = await run('github', '--format', format, '--out', 'there', '--json');
    expect(code).toBe(0);
    const { files, ...rest } = await documentOf('export', out);
    expect(rest).toMatchObject({ format, folder: path('there'), servers: 1, tools: 3 });
    const written = readdirSync(path('there'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(path('there/').length));
    expect(written.sort()).toEqual([...files].sort());
  });

  it('leaves disabled tools out unless asked for them', async () => {
    const tools = async (...argv: string[]) =>
      (await documentOf('export', (await run('github', '--json', ...argv)).out)).tools;
    expect([await tools(), await tools('--include-disabled')]).toEqual([3, 4]);
    expect(readdirSync(path('capabilities/servers/pending/github'))).toContain('delete_repository.rtfs');
  });

  it('says which servers were left out, and fails for one that was named', async () => {
    const { out } = await run('--json');
    expect((await documentOf('export', out)).skipped).toMatchObject([{ server: 'away' }]);
    const named = await run('github', 'away', '--out', 'named', '--json');
    expect([named.code, (await documentOf('failure', named.out)).error.code]).toEqual([3, 'SERVER_CONNECTION_ERROR']);
    expect(readdirSync(folder.path)).not.toContain('named');
  });

  it('fails with a code of its own for each mistake', async () => {
    expect(await run('--format', 'typscript')).toMatchObject({ code: 1, err: expect.stringContaining('"typescript"') });
    expect((await run('--out', '')).code).toBe(1);
    expect(await run('githb')).toMatchObject({ code: 2, err: expect.stringContaining('github') });
    write('config.json', { servers: [] });
    expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('no usable tools') });
  });

  it('does not write through a link that leads out of its folder', async () => {
    mkdirSync(path('out'));
    mkdirSync(path('elsewhere'));
    symlinkSync(path('elsewhere'), path('out/github'));
    const { code, err } = await run('github', '--out', 'out');
    expect(code).toBe(3);
    expect(err).toContain('is a link that leads out');
    expect(readdirSync(path('elsewhere'))).toEqual([]);
  });

  it('writes a TypeScript client that calls tools through a real gateway', async () => {
    await run('github', '--format', 'typescript', '--out', 'client');
    writeFileSync(path('package.json'), '{"type":"module"}');
    symlinkSync(join(root, 'node_modules'), path('node_modules'));
    const options = [
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--types',
      'node',
      '--outDir',
      path('built'),
    ];
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const built = spawnSync(process.execPath, [compiler, ...options, path('client/index.ts')], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    expect([built.status, built.stdout]).toEqual([0, '']);
    const { createClient, callThroughGateway } = await import(
      /* @vite-ignore */ pathToFileURL(path('built/index.js')).href
    );
    const gateway = new Client({ name: 'test', version: '0' });
    await gateway.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [join(root, 'dist/bin/anygpt.js'), 'mcp', 'serve'],
        env: { PATH: process.env.PATH ?? '', ...env() },
        cwd: folder.path,
      }),
    );
    try {
      const client = createClient(callThroughGateway(gateway));
      expect(await client.github.listIssues({ owner: 'octocat', repo: 'x' })).toEqual({ total: 7 });
      expect(await client.github.searchCode()).toBe('found');
      await expect(client.github.escape()).rejects.toMatchObject({
        name: 'ToolError',
        message: expect.stringContaining('no such thing'),
      });
      await expect(client.github.listIssues({ owner: 7 })).rejects.toMatchObject({ name: 'ToolError' });
      expect(github.calls.at(0)).toEqual({ tool: 'list_issues', arguments: { owner: 'octocat', repo: 'x' } });
    } finally {
      await gateway.close();
    }
  }, 120_000);
});

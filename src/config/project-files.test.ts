import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { LIMITS } from '../core/limits.ts';
import { ConfigurationLoader } from './configuration-loader.ts';
import { type FilePreview, findTrustableFiles, previewFile, trustableFileAt } from './project-files.ts';
import { realWorld, type World } from './world.ts';

let folder: ReturnType<typeof tempFolder>;
let world: World;
beforeEach(() => {
  folder = tempFolder();
  world = realWorld({ home: join(folder.path, 'home'), cwd: join(folder.path, 'repo', 'sub'), env: {} });
  mkdirSync(world.cwd, { recursive: true });
  mkdirSync(join(folder.path, 'repo', '.git'));
});
afterEach(() => folder[Symbol.dispose]());

const write = (name: string, value: unknown): string => {
  const path = join(folder.path, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};
const look = (path: string) => previewFile(trustableFileAt(path, world), world);
const serversOf = ({ readings }: FilePreview) => readings.flatMap(({ servers }) => servers);
const names = async (path: string) => serversOf(await look(path)).map(({ name }) => name);

describe('files that came with a project', () => {
  it('are found up to the repository, ours first, each once', () => {
    const client = write('repo/.mcp.json', { mcpServers: {} });
    const nearer = write('repo/sub/.vscode/mcp.json', { servers: {} });
    const own = write('repo/.anygpt/mcp-discovery.config.json', {});
    write('.cursor/mcp.json', {});
    expect(findTrustableFiles(world).map(({ path, type }) => [path, type])).toEqual([
      [own, 'configuration'],
      [nearer, 'vscode'],
      [client, 'claude-code'],
    ]);
  });

  it('are known by where they are, also in another project', async () => {
    const kinds = Object.entries({
      'other/.cursor/mcp.json': 'cursor',
      'other/.continue/mcpServers/one.yaml': 'continue',
      'other/.anygpt/mcp-discovery.config.yaml': 'configuration',
      'other/bundle/manifest.json': 'mcpb',
      'other/servers.json': 'configuration',
    });
    for (const [name, type] of kinds) expect(trustableFileAt(write(name, {}), world).type, name).toBe(type);
    const own = trustableFileAt(join(folder.path, 'other/.anygpt/mcp-discovery.config.yaml'), world);
    expect(own.base).toBe(join(folder.path, 'other'));
  });

  it('are known by their names alone, so that nothing is listed for each of them', () => {
    const path = join(folder.path, 'repo', '.continue', 'mcpServers', 'absent.yaml');
    expect(trustableFileAt(path, world)).toMatchObject({ type: 'continue', root: join(folder.path, 'repo') });
    expect(trustableFileAt(join(path, 'deeper.yaml'), world).type).toBe('configuration');
  });

  it('are looked at up to a limit, and those left out are counted and neither used nor trusted', async () => {
    const server = { name: 'x', version: '1', schema: 'v1', mcpServers: [{ name: 'a', command: 'x' }] };
    for (let at = 0; at < LIMITS.files.configuration + 3; at++) write(`repo/.continue/mcpServers/${at}.json`, server);
    const files = findTrustableFiles(world);
    expect(files).toHaveLength(LIMITS.files.configuration);
    const last = files.at(-1);
    const said = '3 more files of this kind than the 64 that are looked at; they are neither used nor trusted';
    expect(last && (await previewFile(last, world)).notes.join()).toContain(said);
    const config = await new ConfigurationLoader(world).resolve({ sources: [{ type: 'continue' }] });
    expect(config.warnings.join()).toContain(said);
  });

  it('have the hash under which the loader looks them up', async () => {
    const path = write('repo/sub/.mcp.json', { mcpServers: { a: { command: 'x' } } });
    const { hash = '' } = await look(path);
    const loader = new ConfigurationLoader(world);
    const load = () => loader.resolve({ sources: [{ type: 'claude-code' }] });
    expect((await load()).sources).toMatchObject([{ status: 'untrusted', serverCount: 0 }]);
    await loader.trustStore.trust(path, hash);
    expect((await load()).servers).toMatchObject([{ name: 'a' }]);
  });

  it('need no trust when there is no server in them', async () => {
    write('repo/sub/.zed/settings.json', { theme: 'dark' });
    const { sources, warnings } = await new ConfigurationLoader(world).resolve({ sources: [{ type: 'zed' }] });
    expect([sources.map(({ status }) => status), warnings]).toEqual([['ok'], []]);
  });

  it('are shown with what they take in: sources, what they extend, bundles, lists of servers', async () => {
    write('repo/list.json', { mcpServers: { listed: { command: 'x' } } });
    write('repo/base.json', { servers: [{ name: 'below', connection: { type: 'stdio', command: './x' } }] });
    const own = write('repo/.anygpt/mcp-discovery.config.json', {
      extends: ['../base.json', '../gone.json', '../.anygpt/mcp-discovery.config.json'],
      servers: [
        { name: 'own', connection: { type: 'stdio', command: './x' } },
        { name: 'below', enabled: false },
      ],
      sources: [
        { type: 'custom', path: './list.json' },
        { type: 'custom', path: '${NOT_SET}/x.json' },
        { type: 'custom', path: './off.json', enabled: false },
      ],
    });
    const preview = await look(own);
    const shown = serversOf(preview).map(({ name, enabled, connection }) => [
      name,
      enabled,
      'command' in connection && connection.command,
    ]);
    expect(shown).toEqual([
      ['own', true, join(folder.path, 'repo/x')],
      ['below', false, join(folder.path, 'repo/x')],
      ['listed', true, 'x'],
    ]);
    const notes = preview.notes.join('\n');
    for (const said of ['NOT_SET', 'gone.json was not found', 'forms a cycle']) expect(notes).toContain(said);
    expect(await names(join(folder.path, 'repo/list.json'))).toEqual(['listed']);
    const manifest = { name: 'bundled', server: { type: 'node', mcp_config: { command: 'node', args: ['x.js'] } } };
    expect(await names(write('repo/bundle/manifest.json', manifest))).toEqual(['bundled']);
    expect(await names(write('repo/anygpt.config.json', { other: 1 }))).toEqual([]);
  });

  it('say where tools and queries would be sent', async () => {
    const embedder = { type: 'openai', url: 'https://elsewhere.example/v1', model: 'm', apiKey: '${OPENAI_API_KEY}' };
    const path = write('repo/.anygpt/mcp-discovery.config.json', { search: { embedder } });
    expect((await look(path)).sends).toEqual([
      'Names and descriptions of tools, and every query, would be sent to https://elsewhere.example/v1 (reads OPENAI_API_KEY).',
    ]);
  });

  it('say what is wrong with them', async () => {
    const wrong = write('repo/.anygpt/mcp-discovery.config.json', { servrs: [] });
    expect((await look(wrong)).notes.join()).toContain('servrs');
    expect((await look(write('repo/anygpt.config.json', { discovery: 5 }))).notes.join()).toContain(
      'expected an object',
    );
    const gone = await look(join(folder.path, 'repo/gone.json'));
    expect([gone.hash, gone.notes.join()]).toEqual([undefined, expect.stringContaining('was not found')]);
    expect((await look(join(folder.path, 'repo'))).notes.join()).toContain('is a folder');
  });
});

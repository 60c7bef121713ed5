import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationLoader } from '../../config/configuration-loader.ts';
import type { World } from '../../config/world.ts';
import { type EntryContext, toServer } from './client-entry.ts';
import { entriesIn } from './containers.ts';
import { fromCustom } from './custom.ts';
import { PLAIN } from './dialect.ts';
import { joinImported } from './imported-entry.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'anygpt-import-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function write(path: string, content: unknown): Promise<string> {
  const full = join(home, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, typeof content === 'string' ? content : JSON.stringify(content));
  return full;
}
const resolve = (config: unknown, world: Partial<World> = {}) =>
  new ConfigurationLoader({ home, cwd: home, env: {}, platform: 'linux', ...world }).resolve(config);
const custom = (path: string) => ({ type: 'custom', path });
const context: EntryContext = {
  world: { home: '/h', cwd: '/c', env: {}, platform: 'linux' },
  folder: '/f',
  dialect: PLAIN,
};
const fromMcpServers = (map: Record<string, unknown>) =>
  joinImported((entriesIn(map, 'mcpServers') ?? []).map(({ name, raw, path }) => toServer(name, raw, path, context)));
const names = (config: { servers: readonly { name: string }[] }) => config.servers.map(({ name }) => name);

describe('custom sources', () => {
  it('reads the YAML of the specification; its tools are known at once', async () => {
    const file = await write(
      'mcp-servers.yaml',
      `servers:
  github:
    name: 'GitHub MCP Server'
    description: 'GitHub API integration'
    connection:
      type: 'stdio'
      command: 'npx'
      args: ['-y', '@modelcontextprotocol/server-github']
    tools:
      - name: 'create_issue'
        description: 'Create a GitHub issue'
      - name: 'list_repos'
        description: 'List GitHub repositories'
`,
    );
    const config = await resolve({ sources: [custom('./mcp-servers.yaml')] });
    expect(config.sources).toEqual([{ type: 'custom', path: file, status: 'ok', serverCount: 1 }]);
    expect(config.files).toEqual([file]);
    expect(config.servers[0]).toMatchObject({
      name: 'github',
      description: 'GitHub API integration',
      connection: { type: 'stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-github'] },
      tools: [{ name: 'create_issue', description: 'Create a GitHub issue' }, { name: 'list_repos' }],
      origin: { file, path: 'servers["github"]' },
    });
  });

  it('reads the same in JSON, as a list, in the flat shape and as mcpServers', async () => {
    const connection = { type: 'stdio', command: './run', cwd: 'w' };
    await write('deep/map.json', { servers: { a: { name: 'Title', connection } } });
    await write('list.json', {
      servers: [
        { name: 'b', connection },
        { name: 'c', command: 'x' },
      ],
    });
    await write(
      'flat.yaml',
      'servers: { d: { command: x }, e: { url: "https://e" } }\nmcpServers: { f: { command: y } }',
    );
    const sources = [custom('deep/map.json'), custom('list.json'), custom('flat.yaml')];
    const { servers, warnings } = await resolve({ sources });
    expect(warnings).toEqual([]);
    expect(servers.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(servers[0]).toMatchObject({
      description: 'Title',
      connection: { command: join(home, 'deep', 'run'), cwd: join(home, 'deep', 'w') },
    });
  });

  it('leaves bad entries out with the reason and keeps the good ones', async () => {
    const bad = { list: 5, none: {}, typo: { connection: { type: 'stdio', comand: 'x' } }, '': { command: 'x' } };
    await write('a.json', { servers: { ...bad, good: { command: 'x' } } });
    await write('b.json', { servers: [7, {}, { name: 'ok', connection: { type: 'sse', url: 'http://x' } }] });
    const config = await resolve({ sources: [custom('a.json'), custom('b.json')] });
    expect(names(config)).toEqual(['good', 'ok']);
    expect(config.warnings).toHaveLength(6);
    expect(config.warnings.join('\n')).toMatch(
      /servers\["typo"\]\.connection\.comand: unknown key, did you mean `command`/,
    );
    expect(config.warnings.join('\n')).toMatch(/servers\["none"\]\.connection: is missing/);
    expect(config.warnings.join('\n')).toMatch(/its name must not be empty/);
  });

  it('turns missing, broken and empty files into a status and a warning', async () => {
    await write('broken.json', '{ "servers": ');
    await write('other.json', { nothing: 1 });
    await write('list.json', '[]');
    await write('fine.json', { servers: { fine: { command: 'x' } } });
    const paths = ['gone.json', 'broken.json', 'other.json', 'list.json', '${NOPE}/x.json', '.', 'fine.json'];
    const config = await resolve({ sources: [...paths.map(custom), { ...custom('off.json'), enabled: false }] });
    expect(config.sources.map(({ status }) => status)).toEqual([
      'missing',
      'error',
      'error',
      'error',
      'error',
      'error',
      'ok',
    ]);
    expect(config.sources[1]?.message).toContain('broken.json:1:14');
    expect(config.sources[4]?.message).toContain('NOPE is not set');
    expect(config.warnings).toHaveLength(6);
    expect(names(config)).toEqual(['fine']);
  });

  it('never throws and never pollutes, whatever the document holds', () => {
    fc.assert(
      fc.property(fc.anything(), fc.object(), (value, object) => {
        fromCustom(value, context);
        fromCustom({ servers: object, mcpServers: object }, context);
        fromCustom({ servers: [object, value] }, context);
        fromMcpServers(object);
      }),
      { numRuns: 300 },
    );
    const hostile = JSON.parse('{"servers": {"__proto__": {"command": "x"}, "constructor": {"command": "y"}}}');
    expect(fromCustom(hostile, context)?.entries.map(({ entry }) => entry.name)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>).command).toBeUndefined();
  });
});

describe('mcpServers', () => {
  const connections = (map: Record<string, unknown>) =>
    fromMcpServers(map).entries.map(({ entry: { connection, enabled } }) => ({ ...connection, enabled }));

  it('reads local and remote servers in the spellings clients use', () => {
    expect(
      connections({
        a: { command: 'npx', args: ['-y'], env: { A: '${A}', PORT: 3000, DEBUG: true, GONE: null }, cwd: '/w' },
        b: { url: 'https://b', headers: { H: '1' } },
        c: { serverUrl: 'https://c', disabled: true },
        d: { httpUrl: 'https://d', enabled: false, autoApprove: [] },
        e: { type: 'streamable-http', url: 'https://e' },
        f: { type: 'sse', url: 'https://f' },
        g: { type: 'local', command: 'g', tools: ['*'] },
      }),
    ).toEqual([
      {
        type: 'stdio',
        command: 'npx',
        args: ['-y'],
        env: { A: '${A}', PORT: '3000', DEBUG: 'true' },
        cwd: '/w',
        enabled: true,
      },
      { type: 'http', url: 'https://b', headers: { H: '1' }, enabled: true },
      { type: 'http', url: 'https://c', enabled: false },
      { type: 'http', url: 'https://d', enabled: false },
      { type: 'http', url: 'https://e', enabled: true },
      { type: 'sse', url: 'https://f', enabled: true },
      { type: 'stdio', command: 'g', enabled: true },
    ]);
  });

  it.each([
    [{}, 'neither `command` nor `url`'],
    [5, 'expected an object'],
    [{ command: 'x', url: 'https://x' }, 'both `command` and `url`'],
    [{ type: 'carrier-pigeon', url: 'https://x' }, 'none of stdio, http and sse'],
    [{ command: 'x', disabledTools: 'all' }, '`disabledTools` is not a list of tool names'],
    [{ type: 7, url: 'https://x' }, 'none of stdio, http and sse'],
    [{ type: 'stdio', url: 'https://x' }, 'it has no `command`'],
    [{ type: 'http', command: 'x' }, 'it has no `url`'],
    [{ command: ['x'] }, 'command: expected string, got array'],
    [{ command: 'x', env: 'A=1' }, 'env: expected object, got string'],
  ])('leaves out %j', (entry, reason) => {
    const { entries, problems } = fromMcpServers({ x: entry });
    expect(entries).toEqual([]);
    expect(problems.join()).toContain(reason);
  });

  it.each([
    { command: 'npx', args: ['-y', '@anygpt/discovery'] },
    { command: 'npx', args: ['-y', '@anygpt/discovery@1.2.3'] },
    { command: 'npx', args: ['--package=@anygpt/discovery', 'anygpt', 'mcp', 'serve'] },
    { command: 'docker', args: ['run', '-i', 'anygpt/discovery:latest'] },
    { command: 'cmd', args: ['/c', 'npx', '-y', '@anygpt/discovery'] },
    { command: '/usr/local/bin/anygpt', args: ['mcp', 'serve'] },
    { command: 'C:\\bin\\anygpt.cmd', args: ['mcp'] },
    { command: 'node', args: ['/lib/node_modules/@anygpt/discovery/dist/bin/discovery.js'] },
    { command: 'something', env: { ANYGPT_GATEWAY: '1' } },
  ])('passes over the entry that starts this gateway: %j', (entry) => {
    const { entries, problems, skipped } = fromMcpServers({ x: entry });
    expect([entries, problems]).toEqual([[], []]);
    expect(skipped).toEqual(['mcpServers["x"]: it starts this gateway itself']);
  });

  it('keeps what only sounds like this gateway', () => {
    const others = { a: { command: 'npx', args: ['anygpt-tools'] }, b: { command: 'anygpt', args: ['other'] } };
    expect(fromMcpServers(others).entries).toHaveLength(2);
  });

  it('keeps servers it cannot reach, with their address and a word on it', () => {
    const { entries, notes } = fromMcpServers({
      socket: { url: 'unix:///tmp/s.sock#/mcp', type: 'http' },
      events: { type: 'ws', url: 'wss://x.test' },
      helped: { url: 'https://x.test', headersHelper: '/bin/make-token' },
    });
    expect(entries.map(({ entry }) => [entry.connection, entry.enabled])).toMatchObject([
      [{ type: 'http', url: 'unix:///tmp/s.sock#/mcp' }, true],
      [{ url: 'wss://x.test' }, false],
      [{ url: 'https://x.test' }, false],
    ]);
    expect(notes).toEqual([
      'mcpServers["events"]: it speaks WebSocket, which this gateway does not; it is switched off',
      'mcpServers["helped"]: its headers come from a program of its client, which is not run here; it is switched off',
    ]);
  });

  it('is found where each client keeps it', async () => {
    await write('.docker/mcp-servers.json', { mcpServers: { docker: { command: 'docker' } } });
    await write(
      '.config/Claude/claude_desktop_config.json',
      '{ // mine\n "globalShortcut": "", "mcpServers": { "claude": { "command": "npx", }, }, }',
    );
    const sources = [{ type: 'docker-mcp' }, { type: 'claude-desktop' }, { type: 'windsurf' }];
    const config = await resolve({ sources });
    expect(config.sources.map(({ status }) => status)).toEqual(['ok', 'ok', 'missing']);
    expect(config.sources[2]?.path).toBe(join(home, '.windsurf', 'mcp.json'));
    await write('.codeium/windsurf/mcp_config.json', { mcpServers: { wind: { serverUrl: 'https://w' } } });
    expect(names(await resolve({ sources }))).toEqual(['docker', 'claude', 'wind']);
  });

  it('is fine to be absent in a client without servers, and an error when it is something else', async () => {
    const path = await write('a.json', {});
    expect((await resolve({ sources: [{ type: 'windsurf', path }] })).sources).toMatchObject([
      { status: 'ok', serverCount: 0 },
    ]);
    await write('a.json', { mcpServers: 'none' });
    expect((await resolve({ sources: [{ type: 'windsurf', path }] })).sources).toMatchObject([{ status: 'error' }]);
    await write('a.json', 'null');
    expect((await resolve({ sources: [{ type: 'windsurf', path }] })).sources).toMatchObject([{ status: 'error' }]);
  });

  it('lets the last of two equal names count, and says so', async () => {
    const path = await write('a.json', '{"mcpServers": {"a": {"command": "x"},\n"a": {"command": "y"}}}');
    const config = await resolve({ sources: [{ type: 'docker-mcp', path }] });
    expect(config.servers[0]?.connection).toMatchObject({ command: 'y' });
    expect(config.warnings).toEqual([`${path}:2: "a" is written twice; the last one counts.`]);
  });
});

describe('names that meet', () => {
  it('numbers a different server of a taken name and merges the same one', async () => {
    await write('a.json', {
      mcpServers: { git: { command: 'git-a' }, fetch: { command: 'f' }, web: { url: 'https://W.test/mcp/' } },
    });
    await write('b.json', {
      mcpServers: { git: { command: 'git-b' }, fetch: { command: 'f' }, web: { url: 'https://w.test/mcp' } },
    });
    await write('c.json', { mcpServers: { git: { command: 'git-c' } } });
    const config = await resolve({
      servers: [{ name: 'fetch', description: 'mine', connection: { type: 'stdio', command: 'f' } }],
      sources: [custom('a.json'), custom('b.json'), custom('c.json')],
    });
    expect(names(config)).toEqual(['fetch', 'git', 'web', 'git-2', 'git-3']);
    expect(config.servers[0]?.description).toBe('mine');
    expect(config.warnings[0]).toMatch(/b\.json: server "git" is called "git-2" here, because .*a\.json has another/);
    expect(config.warnings).toHaveLength(2);
  });

  it('keeps its calm with a list of thousands of equal names or of nonsense', async () => {
    const servers = Array.from({ length: 5_000 }, (_, index) => ({ name: 'a', command: `c${index}` }));
    await write('a.json', { servers });
    await write('b.json', { servers: Array.from({ length: 5_000 }, () => ({ name: 'b', comand: 'x' })) });
    const started = performance.now();
    const config = await resolve({ sources: [custom('a.json'), custom('b.json')] });
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(names(config).at(-1)).toBe('a-5000');
    expect(config.warnings.filter((warning) => warning.includes('b.json'))).toHaveLength(21);
  });

  it('numbers a server that bears our own name', async () => {
    await write('a.json', { mcpServers: { AnyGPT: { command: 'x' } } });
    const config = await resolve({ sources: [custom('a.json')] });
    expect(names(config)).toEqual(['AnyGPT-2']);
    expect(config.warnings[0]).toContain('reserved');
  });

  it('lays an entry without a connection over the server of a source', async () => {
    await write('a.json', { mcpServers: { git: { command: 'g' } } });
    const servers = [{ name: 'git', enabled: false, rateLimit: { requestsPerSecond: 1, burst: 1 } }];
    const config = await resolve({ servers, sources: [custom('a.json')] });
    expect(config.servers).toMatchObject([
      { name: 'git', enabled: false, rateLimit: { burst: 1 }, connection: { command: 'g' } },
    ]);
    await expect(resolve({ servers })).rejects.toThrow(
      /servers\[0\]\.connection: is missing; no source has a server called "git"/,
    );
    const excused = await resolve({ servers, sources: [custom('gone.json')] });
    expect(excused.servers).toEqual([]);
    expect(excused.warnings.join()).toContain('The entry is left out');
  });
});

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trustEffects } from '../cli/trust-effects.ts';
import { rulesOf } from '../rules/rules-of.ts';
import { ConfigurationLoader } from './configuration-loader.ts';
import { previewFile, trustableFileAt } from './project-files.ts';
import { withUsersWord } from './users-servers.ts';
import { realWorld } from './world.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'users-'));
  mkdirSync(join(root, 'clone', '.git'), { recursive: true });
  writeFileSync(join(root, 'server.mjs'), '');
  writeFileSync(join(root, 'other.mjs'), '');
  symlinkSync(join(root, 'server.mjs'), join(root, 'link.mjs'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (name: string, content: unknown): string => {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(content));
  return path;
};
const USERS = 'home/.anygpt/mcp-discovery.config.json';
const PROJECTS = 'clone/.anygpt/mcp-discovery.config.json';
const worldWith = (env: Record<string, string> = {}) =>
  realWorld({ home: join(root, 'home'), cwd: join(root, 'clone'), env, platform: 'linux' });
const load = (env: Record<string, string> = {}) =>
  new ConfigurationLoader({ ...worldWith(env), trustProject: true }).load();

type Written = string | readonly string[];
/** A URL, or a command line with `ROOT` for the folder of this test. */
const connectionOf = (written: Written) => {
  if (typeof written === 'string') return { type: 'http', url: written };
  const [command = '', ...args] = written.map((word) => word.replaceAll('ROOT', root));
  return { type: 'stdio', command, args };
};
const DENY = [{ pattern: ['delete_all'], server: 'github', enabled: false }];

/** Which server a project uses, as the user wrote it and as the project does. */
const SAME: [string, Written, Written][] = [
  ['with the same words', ['node', 'ROOT/server.mjs', 'a'], ['node', 'ROOT/server.mjs', 'a']],
  ['with one argument more', ['node', 'ROOT/server.mjs'], ['node', 'ROOT/server.mjs', '--verbose']],
  ['with one argument less', ['node', 'ROOT/server.mjs', '--x', 'y'], ['node', 'ROOT/server.mjs']],
  ['with an option before it', ['node', 'ROOT/server.mjs'], ['node', '--no-warnings', '-r', 'x', 'ROOT/server.mjs']],
  ['through a link', ['node', 'ROOT/server.mjs'], ['node', 'ROOT/link.mjs']],
  ['by another path', ['node', 'ROOT/server.mjs'], ['/usr/bin/node', 'ROOT/clone/../server.mjs']],
  ['from a shell', ['npx', '-y', '@acme/github'], ['sh', '-c', 'exec npx -y "@acme/github"']],
  ['in another version', ['npx', '-y', '@acme/github'], ['npx', '@acme/github@1.2.3']],
  ['with another launcher', ['npx', '-y', '@acme/github'], ['bunx', '@acme/github']],
  ['from node_modules', ['npx', '@acme/github'], ['node', '/x/node_modules/@acme/github/dist/index.js']],
  ['as a module', ['uvx', 'mcp-server-git==1.0'], ['python3', '-m', 'mcp_server_git']],
  ['in a container', ['docker', 'run', '-i', '-e', 'T', 'acme/gh'], ['docker', 'run', '--rm', 'acme/gh:2']],
  ['as a program elsewhere', ['github-mcp'], ['/usr/local/bin/github-mcp', 'stdio']],
  ['by a variable', ['npx', '@acme/github'], ['npx', '${NOT_SET:-@acme/github}']],
  ['at its address', 'https://api.acme.test/mcp', 'https://API.acme.test:443/mcp/?x=1#y'],
  ['over the older transport', 'https://api.acme.test/gh/mcp', 'https://api.acme.test./gh/sse'],
  ['at another name of this machine', 'http://localhost:3000/mcp', 'http://127.0.0.1:3000/mcp'],
  ['through a bridge', 'https://api.acme.test/mcp', ['npx', '-y', 'mcp-remote', 'https://api.acme.test/mcp']],
];
const OTHER: [string, Written, Written][] = [
  ['another script', ['node', 'ROOT/server.mjs'], ['node', 'ROOT/other.mjs']],
  ['another package', ['npx', '-y', '@acme/github'], ['npx', '-y', '@acme/gitlab']],
  ['another package with the same folder', ['npx', 'files', '/home'], ['npx', 'git', '/home']],
  ['another image', ['docker', 'run', '-e', 'T', 'acme/gh'], ['docker', 'run', '-e', 'T', 'acme/gl']],
  ['another path', 'https://api.acme.test/gh/mcp', 'https://api.acme.test/gl/mcp'],
  ['another port', 'http://localhost:3000/mcp', 'http://localhost:3001/mcp'],
];

describe('a project that lists the user’s server under another name', () => {
  it.each(SAME)('%s does not get around the user’s deny rule', async (_how, users, projects) => {
    write(USERS, { servers: [{ name: 'github', connection: connectionOf(users) }], toolRules: DENY });
    write(PROJECTS, { servers: [{ name: 'gh', connection: connectionOf(projects) }] });
    const config = await load();
    const rules = await rulesOf(config);
    expect(rules.decide('gh', 'delete_all').enabled).toBe(false);
    expect(rules.decide('gh', 'read').enabled).toBe(true);
    expect(config.warnings.join('\n')).toContain('server "gh" is the same program or address as your "github"');
  });

  it.each(SAME)('%s does not switch it on', async (_how, users, projects) => {
    write(USERS, { servers: [{ name: 'github', connection: connectionOf(users), enabled: false }] });
    write(PROJECTS, { servers: [{ name: 'gh', connection: connectionOf(projects), enabled: true }] });
    const { servers, warnings } = await load();
    expect(servers).toMatchObject([{ name: 'gh', enabled: false }]);
    expect(warnings.join('\n')).toContain('which you have switched off');
  });

  it.each(OTHER)('is not mistaken for it with %s', async (_how, users, projects) => {
    write(USERS, { servers: [{ name: 'github', connection: connectionOf(users), enabled: false }], toolRules: DENY });
    write(PROJECTS, { servers: [{ name: 'gh', connection: connectionOf(projects) }] });
    const config = await load();
    expect(config.servers).toMatchObject([{ name: 'gh', enabled: true }]);
    expect((await rulesOf(config)).decide('gh', 'delete_all').enabled).toBe(true);
  });

  it('does not get around it with a client’s file, by extending the user’s file or with a pattern', async () => {
    const connection = connectionOf(['node', 'ROOT/server.mjs']);
    const { command, args } = connection as { command: string; args: string[] };
    const servers = [{ name: 'github', connection }];
    write('clone/.mcp.json', { mcpServers: { gh: { command, args: [...args, 'more'] } } });
    write(USERS, { sources: [{ type: 'claude-code' }], servers, toolRules: DENY });
    expect((await rulesOf(await load())).decide('gh', 'delete_all').enabled).toBe(false);

    write(USERS, { servers, toolRules: [{ pattern: ['github:delete_*'], enabled: false }] });
    write(PROJECTS, { extends: join(root, USERS), servers: [{ name: 'gh', connection }] });
    const config = await load();
    expect(config.servers.map(({ name }) => name)).toEqual(['gh', 'github']);
    expect((await rulesOf(config)).decide('gh', 'delete_all').enabled).toBe(false);
  });

  it('does not get around the tool list of the user’s client either, also beside another server of its name', async () => {
    const github = { command: 'npx', args: ['@acme/github'] };
    write('home/.gemini/settings.json', { mcpServers: { github: { ...github, excludeTools: ['delete_all'] } } });
    write('clone/.mcp.json', {
      mcpServers: { gh: { ...github, args: ['@acme/github@1'] }, github: { command: 'decoy' } },
    });
    write(USERS, { sources: [{ type: 'gemini-cli' }, { type: 'claude-code' }] });
    expect((await rulesOf(await load())).decide('gh', 'delete_all').enabled).toBe(false);
    const connection = { type: 'stdio', ...github };
    const allow = { pattern: ['*'], enabled: true };
    write(PROJECTS, { servers: [{ name: 'gh', connection }], toolRules: [allow] });
    expect((await rulesOf(await load())).decide('gh', 'delete_all').enabled).toBe(false);
    expect((await rulesOf(await load())).decide('gh', 'read').enabled).toBe(true);
  });

  it('does not undo a switch in the environment', async () => {
    write(USERS, { servers: [{ name: 'github', connection: connectionOf('https://api.acme.test/mcp') }] });
    write(PROJECTS, { servers: [{ name: 'gh', connection: connectionOf('https://api.acme.test/mcp?x') }] });
    expect((await load({ GITHUB_MCP_ENABLED: 'false' })).servers).toMatchObject([{ name: 'gh', enabled: false }]);
  });

  it('may use it if the user switches that name on, or uses the same server elsewhere', async () => {
    const [old, current] = [
      ['npx', 'files', '/old'],
      ['npx', 'files', '/home'],
    ].map(connectionOf);
    const off = { name: 'old', connection: old, enabled: false };
    write(PROJECTS, { servers: [{ name: 'files', connection: current }] });
    write(USERS, { servers: [off, { name: 'files', enabled: true }], sources: [{ type: 'custom', path: './none' }] });
    expect((await load()).servers).toMatchObject([{ name: 'files', enabled: true }]);
    write(USERS, { servers: [off, { name: 'mine', connection: current }] });
    expect((await load()).servers).toMatchObject([{ name: 'files', enabled: true }]);
    rmSync(join(root, PROJECTS));
    write('clone/.mcp.json', { mcpServers: { files: { command: 'npx', args: ['files', '/clone'] } } });
    write(USERS, { sources: [{ type: 'claude-code' }], servers: [off] });
    expect((await load()).servers).toMatchObject([{ name: 'old' }, { name: 'files', enabled: false }]);
    write(USERS, { sources: [{ type: 'claude-code' }], servers: [off, { name: 'files', enabled: true }] });
    expect((await load()).servers).toMatchObject([{ name: 'old' }, { name: 'files', enabled: true }]);
  });

  it('is said before the file is trusted', async () => {
    const connection = connectionOf('https://api.acme.test/mcp');
    write(USERS, { servers: [{ name: 'github', connection }], toolRules: DENY });
    const path = write(PROJECTS, { servers: [{ name: 'gh', connection }] });
    const look = await previewFile(trustableFileAt(path, worldWith()), worldWith());
    expect((await trustEffects([look], worldWith())).join('\n')).toContain(
      'is the same program or address as your "github", so your rules that deny tools of that server apply to it too',
    );
  });
});

it('looks at no program of the user where no project brings servers', () => {
  const env = new Proxy({}, { get: () => expect.unreachable('a word was expanded') });
  const connection = { type: 'stdio', command: 'node', args: ['${NAME}'] } as const;
  const users = [{ entry: { name: 'a', connection }, origin: { file: 'x', path: 'y' }, isProjects: false }];
  const joined = { servers: [], placed: users } as never;
  expect(withUsersWord(joined, users as never, [], { ...worldWith(), env })).toEqual({
    servers: [],
    toolRules: [],
    warnings: [],
  });
});

import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentOf, runBinary } from '../../../test/fixtures/cli.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { main } from '../main.ts';

let folder: ReturnType<typeof tempFolder>;
let home: string;
let project: string;
beforeEach(() => {
  folder = tempFolder();
  home = join(folder.path, 'home');
  project = join(home, 'project');
  mkdirSync(project, { recursive: true });
});
afterEach(() => folder[Symbol.dispose]());

/** A program that leaves a mark when it is started, which must never happen here. */
const MARK = 'started';
const witness = (name: string) => ({ command: 'sh', args: ['-c', `touch ${join(folder.path, MARK)}`, name] });
const write = (name: string, value: unknown): string => {
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};
const CURSOR = '.cursor/mcp.json';
const DESKTOP = '.config/Claude/claude_desktop_config.json';
const target = (ending = 'json') => join(home, '.anygpt', `mcp-discovery.config.${ending}`);
const read = (path: string) => readFileSync(path, 'utf8');

async function run(argv: string[], { cwd = home, tty = false, env = {}, answers = '' } = {}) {
  const io = fakeIo({ cwd, env: { HOME: home, PATH: process.env.PATH ?? '', ...env }, tty });
  if (tty) for (const stream of [io.stdout, io.stderr]) Object.assign(stream, { isTTY: true, columns: 100 });
  if (answers !== '') io.stdin.write(answers);
  const code = await main(['mcp', ...argv], io);
  expect(existsSync(join(folder.path, MARK))).toBe(false);
  return { code, out: io.out(), err: io.err() };
}
const init = (...argv: string[]) => run(['init', ...argv]);
const json = async (...argv: string[]) => documentOf('init', (await run(['init', '--json', ...argv])).out);

const both = () => {
  write(CURSOR, { mcpServers: { notes: witness('a'), off: { ...witness('b'), disabled: true } } });
  write(DESKTOP, { mcpServers: { files: witness('c') } });
};

describe('init', () => {
  it('shows what the clients of this machine have and writes a configuration that names them', async () => {
    both();
    write('.codeium/windsurf/mcp_config.json', '{ "mcpServers": ');
    const { code, out, err } = await init();
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('Found 3 clients with 3 servers:');
    expect(out).toContain('✓ Cursor (2 servers)\n    ~/.cursor/mcp.json\n      notes, off (disabled)\n');
    expect(out).toMatch(/✗ Windsurf \(0 servers\)\n.*\n {6}cannot be used: .*mcp_config\.json:1:17 is not valid JSON/);
    expect(out).toContain('✓ Wrote ~/.anygpt/mcp-discovery.config.json\n');
    expect(out.split('\nNext:\n')[1]).toBe(
      '  anygpt mcp list --status\n  anygpt mcp search "read a file"\n  anygpt mcp install claude-desktop\n',
    );
    expect(JSON.parse(read(target()))).toEqual({
      discovery: { sources: [{ type: 'claude-desktop' }, { type: 'cursor' }, { type: 'windsurf' }] },
    });
    expect(statSync(target()).mode & 0o777).toBe(0o600);
    expect((await run(['config', 'validate'])).code).toBe(0);
    expect((await run(['list'])).out).toContain('MCP Servers (3 configured)');
  });

  it.each(['json', 'yaml', 'ts'])('writes %s that can be used', async (format) => {
    both();
    for (const argv of [[], ['--servers', '--force']]) {
      expect((await init('--format', format, ...argv)).code).toBe(0);
      expect(await run(['config', 'validate'])).toMatchObject({ code: 0, out: expect.stringContaining('is valid') });
      expect((await run(['list'])).out).toContain('MCP Servers (3 configured)');
    }
  });

  it.each(['json', 'yaml', 'ts'])('writes annotated %s where nothing is found', async (format) => {
    const { code, out } = await init('--format', format);
    expect(code).toBe(0);
    expect(out).toContain('No client with MCP servers was found');
    expect(read(target(format))).toContain('@modelcontextprotocol/server-filesystem');
    expect(await run(['config', 'validate'])).toMatchObject({ code: 0, err: '' });
    expect(out.split('\nNext:\n')[1]?.trimEnd().split('\n')).toHaveLength(3);
  });

  it('recommends to install into a client that does not start the gateway yet', async () => {
    both();
    const last = async () => (await init()).out.trim().split('\n').at(-1)?.trim();
    expect(await last()).toBe('anygpt mcp install claude-desktop');
    await run(['install', 'claude-desktop']);
    expect(await last()).toBe('anygpt mcp install cursor');
    await run(['install', 'cursor']);
    expect(await last()).toBe('anygpt mcp search "read a file"');
  });

  it('never overwrites: a second run says what would change, and --force keeps the old file', async () => {
    both();
    await init('--client', 'cursor');
    const before = read(target());
    const again = await init();
    expect(again.code).toBe(0);
    expect(again.out).toContain('already exists. Nothing was written.');
    expect(again.out).toContain('+        "type": "claude-desktop"');
    expect(read(target())).toBe(before);
    expect((await init('--client', 'cursor')).out).toContain(
      '✓ ~/.anygpt/mcp-discovery.config.json already reads cursor. Nothing was written.',
    );
    expect((await json()).status).toBe('exists');
    const forced = await init('--force');
    expect(forced.out).toContain('backup: ~/.anygpt/mcp-discovery.config.json.bak');
    expect(read(`${target()}.bak`)).toBe(before);
    expect(JSON.parse(read(target())).discovery.sources).toHaveLength(2);
  });

  it('shows nothing secret of the file that is there, whatever it is written in', async () => {
    both();
    const entry = {
      env: { WORD: 'open-sesame' },
      args: ['--api-key', 'hunter2x', 'DB_PASS=letmein'],
      command: 'run-it',
    };
    write(
      '.anygpt/mcp-discovery.config.json',
      JSON.stringify({ servers: [{ name: 'x', connection: entry }] }, null, 2),
    );
    const data = (await init()).out;
    expect(data).toContain('"run-it"');
    expect(data).not.toMatch(/sesame|hunter2x|letmein/);
    rmSync(target());
    write('.anygpt/mcp-discovery.config.ts', `export default { servers: [${JSON.stringify(entry)}] };\n`);
    const code = (await init()).out;
    expect(code).toMatch(/^- … 1 line$/m);
    expect(code).not.toMatch(/sesame|hunter2x|letmein/);
  });

  it('--force never overwrites a copy of earlier times', async () => {
    both();
    for (const text of ['{"servers":[]}', '{ "servers": [] }', '{"sources":[]}']) {
      write('.anygpt/mcp-discovery.config.json', text);
      await init('--force');
    }
    expect(['.bak', '.bak.2', '.bak.3'].map((ending) => read(target() + ending))).toEqual([
      '{"servers":[]}',
      '{ "servers": [] }',
      '{"sources":[]}',
    ]);
  });

  it('--force keeps what was taken over from a client, or says that it is left out', async () => {
    both();
    await run(['install', 'cursor', '--take-over']);
    const { out } = await init('--force');
    expect(out).toContain('✓ Cursor (2 servers)');
    expect((await run(['list'])).out).toContain('MCP Servers (3 configured)');
    expect((await run(['install', 'cursor'])).out).toContain('is already in');
    const other = await init('--force', '--client', 'claude-desktop');
    expect(other.out.replace(/\s+/g, ' ')).toContain(
      'notes, taken over from Cursor, would be left out; "anygpt mcp uninstall cursor" restores them.',
    );
    expect((await run(['list'])).out).toContain('MCP Servers (1 configured)');
    expect((await run(['install', 'cursor'])).out).toContain('updated "anygpt"');
    expect((await run(['list'])).out).toContain('MCP Servers (2 configured)');
    await run(['uninstall', 'cursor']);
    expect((await run(['list'])).out).toContain('MCP Servers (1 configured)');
  });

  it('counts a server that two clients have once, whatever they call it', async () => {
    write(DESKTOP, { mcpServers: { files: witness('same'), other: witness('x') } });
    write(CURSOR, { mcpServers: { files: witness('same'), docs: witness('same'), other: witness('y') } });
    const { out } = await init();
    expect(out).toContain('Found 2 clients with 3 servers:');
    expect(out).toContain('✓ Cursor (3 servers)');
    expect(out.replace(/\s+/g, ' ')).toContain(
      'files (same as in Claude Desktop), docs (same as files in Claude Desktop), other (called cursor/other here, because another server has that name)',
    );
    const { clients } = await json();
    expect(clients[1].files[0].servers[1]).toEqual({
      name: 'docs',
      enabled: true,
      sameAs: { client: 'claude-desktop', name: 'files' },
    });
    expect(clients[1].files[0].servers[2]).toEqual({ name: 'other', enabled: true, calledHere: 'cursor/other' });
    const list = (await run(['list'])).out;
    expect(list).toContain('MCP Servers (3 configured)');
    expect(list).toContain('· cursor/other\n  Cursor: ');
  });

  it('sees a configuration with another ending, and does not leave two', async () => {
    both();
    await init('--format', 'ts');
    expect((await init()).out).toContain('mcp-discovery.config.ts already exists');
    expect(existsSync(target())).toBe(false);
    await init('--force');
    expect([existsSync(target('ts')), existsSync(target('ts.bak')), existsSync(target())]).toEqual([false, true, true]);
  });

  it('never shows secrets of an existing file', async () => {
    both();
    write('.anygpt/mcp-discovery.config.json', '{ "servers": [],\n"x": "TOKEN=ghp_abcdefghijklmnop1234" }');
    const { out } = await init();
    expect(out).toContain('***');
    expect(out).not.toContain('ghp_abc');
  });

  it('writes through a link, as people who keep their settings in a repository have', async () => {
    both();
    const real = write('dotfiles/config.json', '{"servers":[]}');
    mkdirSync(join(home, '.anygpt'));
    symlinkSync(real, target());
    expect((await init('--force')).code).toBe(0);
    expect(read(real)).toContain('cursor');
  });

  it.each([
    ['the file', '.anygpt/mcp-discovery.config.json', 'precious.json'],
    ['a file with another ending', '.anygpt/mcp-discovery.config.yaml', 'precious.json'],
    ['the folder', '.anygpt', 'precious'],
  ])('--project follows no link out of the project: %s', async (_what, link, to) => {
    both();
    write('precious.json', '{"servers":[],"note":"precious-text"}');
    write('precious/mcp-discovery.config.json', '{"servers":[],"note":"precious-text"}');
    mkdirSync(join(project, '.git'));
    mkdirSync(dirname(join(project, link)), { recursive: true });
    symlinkSync(join(home, to), join(project, link));
    for (const argv of [
      ['--force', '--yes'],
      ['--dry-run', '--force'],
      ['--json', '--force'],
    ]) {
      const { code, out, err } = await run(['init', '--project', ...argv], { cwd: project });
      expect([code, out + err]).toEqual([3, expect.stringContaining('to a place outside this project')]);
      expect(out).not.toContain('precious-text');
    }
    expect(read(join(home, 'precious.json'))).toContain('precious-text');
    expect(read(join(home, 'precious/mcp-discovery.config.json'))).toContain('precious-text');
    expect(existsSync(join(project, '.anygpt', 'mcp-discovery.config.json.bak'))).toBe(false);
  });

  it('--project follows a link that stays in the project', async () => {
    both();
    mkdirSync(join(project, '.git'));
    mkdirSync(join(project, '.anygpt'));
    write('project/settings.json', '{"servers":[]}');
    symlinkSync(join(project, 'settings.json'), join(project, '.anygpt', 'mcp-discovery.config.json'));
    expect((await run(['init', '--project', '--force', '--yes'], { cwd: project })).code).toBe(0);
    expect(read(join(project, 'settings.json'))).toContain('sources');
  });

  it('takes the clients it is told, and knows which there are', async () => {
    both();
    expect((await json('--client', 'cursor', '--dry-run')).sources).toEqual(['cursor']);
    expect(await init('--client', 'curser')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Did you mean "cursor"?'),
    });
    expect(await init('--client', 'zed')).toMatchObject({ code: 2, err: expect.stringContaining('zed has no') });
    expect(await init('--format', 'toml')).toMatchObject({ code: 1, err: expect.stringContaining('json, yaml, ts') });
    expect((await init('surplus')).code).toBe(1);
    expect(existsSync(target())).toBe(false);
  });

  it('with --dry-run writes nothing', async () => {
    both();
    const { out } = await init('--dry-run');
    expect(out).toContain('Would write ~/.anygpt/mcp-discovery.config.json:\n\n{\n  "discovery"');
    expect(existsSync(join(home, '.anygpt'))).toBe(false);
  });

  it('asks at a terminal which ones to use', async () => {
    both();
    const { out, err } = await run(['init'], { tty: true, answers: '7\n2\n' });
    expect(out).toContain('2. ');
    expect(err).toContain('Use which clients?');
    expect(err).toContain('Enter numbers from 0 to 2');
    expect(JSON.parse(read(target())).discovery.sources).toEqual([{ type: 'cursor' }]);
    await run(['init', '--force'], { tty: true, answers: '\n' });
    expect(JSON.parse(read(target())).discovery.sources).toHaveLength(2);
    expect((await run(['init', '--yes'], { tty: true })).err).toBe('');
  });

  it('names commands that work after npx, too', async () => {
    both();
    expect((await run(['init'], { env: { npm_command: 'exec' } })).out).toContain(
      '  npx -y @anygpt/discovery mcp list --status\n',
    );
  });

  it('says when it cannot write', async () => {
    both();
    write('.anygpt', 'a file');
    expect(await init()).toMatchObject({ code: 3, err: expect.stringContaining('could not be written') });
  });
});

describe('init --servers', () => {
  it('copies servers with their references and filters, and never a secret', async () => {
    write(CURSOR, {
      mcpServers: {
        notes: { ...witness('a'), env: { KEY: '${env:MY_KEY}', DEBUG: '1' }, disabledTools: ['wipe'] },
        web: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${env:WEB_TOKEN}' } },
      },
    });
    write(DESKTOP, { mcpServers: { files: { ...witness('c'), env: { GITHUB_TOKEN: 'ghp_abcdefghijklmnop1234' } } } });
    const { out } = await init('--servers');
    expect(out).toContain('claude-desktop stays a source: env GITHUB_TOKEN of "files" is a literal value there');
    const text = read(target());
    expect(text + out).not.toContain('ghp_abc');
    const { discovery } = JSON.parse(text);
    expect(discovery).toMatchObject({
      sources: [{ type: 'claude-desktop' }],
      servers: [
        { name: 'notes', connection: { type: 'stdio', env: { KEY: '${MY_KEY}', DEBUG: '1' } } },
        { name: 'web', connection: { type: 'http', headers: { Authorization: 'Bearer ${WEB_TOKEN}' } } },
      ],
      toolRules: [{ server: 'notes', pattern: ['wipe'], enabled: false }],
    });
    expect((await run(['list'])).out).toContain('MCP Servers (3 configured)');
  });

  it.each([
    ['an argument', { command: 'x', args: ['--api-key', 'abcd1234efgh5678'] }],
    ['an argument', { command: 'x', args: ['sk-abcdefghijklmnop1234'] }],
    ['the url', { url: 'https://user:passw0rd@example.com/mcp' }],
    ['the url', { url: 'https://example.com/s/0123456789abcdef0123456789abcdefg/mcp' }],
    ['header X-Thing', { url: 'https://example.com', headers: { 'X-Thing': 'a-b-c d' } }],
    ['env PASSWORD', { command: 'x', env: { PASSWORD: 'dog' } }],
    ['env A', { command: 'x', env: { A: '${env:B:-fallback}' } }],
  ])('leaves the source where %s may be secret', async (place, entry) => {
    write(CURSOR, { mcpServers: { it: entry } });
    const { kept, sources, servers } = await json('--servers', '--dry-run');
    expect(kept).toEqual([{ type: 'cursor', reason: expect.stringContaining(`${place} of "it"`) }]);
    expect([sources, servers]).toEqual([['cursor'], []]);
  });

  it('copies what is plainly no secret', async () => {
    const env = { NODE_ENV: 'production', PORT: '3000', DIR: '/data', URL: 'https://example.com/x', A: '${env:B}' };
    write(CURSOR, { mcpServers: { it: { command: 'x', args: ['-y', '@a/b@1.2.3'], env } } });
    expect(await json('--servers', '--dry-run')).toMatchObject({ sources: [], servers: ['it'] });
  });
});

describe('init --project', () => {
  it('writes into this folder, trusted at once; a client’s file that came with it is not', async () => {
    both();
    write('project/.vscode/mcp.json', { servers: { theirs: witness('d') } });
    const { code, out } = await run(['init', '--project'], { cwd: project });
    expect(code).toBe(0);
    expect(out).toContain('~/project/.vscode/mcp.json (came with this project)\n      theirs\n');
    expect(out).toContain('Servers of ~/project/.vscode/mcp.json start only after: anygpt mcp trust');
    const file = join(project, '.anygpt', 'mcp-discovery.config.json');
    expect(JSON.parse(read(file)).discovery.sources).toContainEqual({ type: 'vscode' });
    expect(statSync(file).mode & 0o777).toBe(0o644);
    const listed = await run(['list'], { cwd: project });
    expect(listed.out).toContain('MCP Servers (3 configured)');
    expect(listed.err).toContain('not trusted');
    chmodSync(file, 0o644);
    writeFileSync(file, '{"servers":[{"name":"x","connection":{"type":"stdio","command":"x"}}]}');
    expect((await run(['list'], { cwd: project })).err).toContain('came with this folder and is not trusted');
  });

  it('does not ask for a trust that was given', async () => {
    both();
    write('project/.vscode/mcp.json', { servers: { theirs: witness('d') } });
    await run(['trust', '--yes'], { cwd: project });
    const { out } = await run(['init', '--project'], { cwd: project });
    expect(out).not.toContain('anygpt mcp trust');
    write('project/.vscode/mcp.json', { servers: { theirs: witness('e') } });
    expect((await run(['init', '--project'], { cwd: project })).out).toContain('start only after: anygpt mcp trust');
  });

  it('leaves a client that only this project has out of the user’s own configuration', async () => {
    both();
    write('project/.vscode/mcp.json', { servers: { theirs: witness('d') } });
    const { clients, sources } = JSON.parse((await run(['init', '--json'], { cwd: project })).out);
    expect(clients.map(({ type, used }: { type: string; used: boolean }) => [type, used])).toContainEqual([
      'vscode',
      false,
    ]);
    expect(sources).toEqual(['claude-desktop', 'cursor']);
  });

  it('says of a folder that has nothing but its own file what it found, what reads it and what to run', async () => {
    write('project/.mcp.json', { mcpServers: { theirs: witness('d') } });
    for (const about of ['Wrote ~/.anygpt/mcp-discovery.config.json. It names', 'already exists and names']) {
      const { code, out } = await run(['init'], { cwd: project });
      expect(code).toBe(0);
      expect(out).toContain('~/project/.mcp.json (came with this project)\n      theirs\n');
      expect(out).toContain(`${about} no client or server yet`);
      expect(out).toContain('~/project/.mcp.json came with this folder. ~/.anygpt/mcp-discovery.config.json');
      expect(out.split('\nNext:\n')[1]).toBe(
        '  anygpt mcp init --project\n  anygpt mcp trust\n  anygpt mcp list --status\n',
      );
    }
    const { out } = await run(['init', '--project'], { cwd: project });
    expect(out).not.toContain('does not read it');
    expect(out.split('\nNext:\n')[1]).toMatch(/^ {2}anygpt mcp trust\n {2}anygpt mcp list --status\n/);
    await run(['trust', '--yes'], { cwd: project });
    expect((await run(['list'], { cwd: project })).out).toContain('· theirs');
  });

  it('says when another configuration comes first in this folder', async () => {
    both();
    await run(['init', '--project'], { cwd: project });
    expect((await run(['init'], { cwd: project })).out).toContain(
      'In this folder, ~/project/.anygpt/mcp-discovery.config.json is used instead.',
    );
  });
});

describe('the real binary', () => {
  it('keeps stdout to the result, and fits its schema', async () => {
    both();
    const env = { HOME: home };
    const first = await runBinary(['init', '--json'], { cwd: home, env });
    expect([first.code, first.err]).toEqual([0, '']);
    expect(await documentOf('init', first.out)).toMatchObject({
      status: 'written',
      sources: ['claude-desktop', 'cursor'],
    });
    expect(JSON.parse(first.out).text).toBe(read(target()));
    expect(await runBinary(['config', 'validate'], { cwd: home, env })).toMatchObject({ code: 0 });
    expect(await documentOf('init', (await runBinary(['init', '--json'], { cwd: home, env })).out)).toMatchObject({
      status: 'unchanged',
    });
    const wrong = await runBinary(['init', '--client', 'nope', '--json'], { cwd: home, env });
    expect([wrong.code, wrong.err]).toEqual([1, '']);
    await documentOf('failure', wrong.out);
  });
});

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentOf, runBinary } from '../../../test/fixtures/cli.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { lockPath } from '../../disk/file-lock.ts';
import { main } from '../main.ts';

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => folder[Symbol.dispose]());

const env = () => ({ HOME: folder.path, USERPROFILE: folder.path });
const run = async (...argv: string[]) => {
  const io = fakeIo({ cwd: folder.path, env: env() });
  const code = await main(['mcp', ...argv], io);
  return { code, out: io.out(), err: io.err() };
};
const write = (name: string, text: string): string => {
  const path = join(folder.path, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const read = (path: string) => readFileSync(path, 'utf8');
const SERVERS = '{\n  "mcpServers": {\n    "a": { "command": "x", "env": { "KEY": "very-secret" } }\n  }\n}\n';

describe('install', () => {
  it('says what it did, where the copy is and what to do next; uninstall takes it back', async () => {
    const file = write('.cursor/mcp.json', SERVERS);
    expect(await run('install', 'cursor')).toEqual({
      code: 0,
      out: [
        '✓ Cursor: added "anygpt" to ~/.cursor/mcp.json',
        '  Backup: ~/.cursor/mcp.json.anygpt-backup',
        '  Note: it still starts "a" itself; --take-over moves it behind the gateway.',
        '  Next: Restart Cursor, or switch anygpt on in Settings > MCP.\n',
      ].join('\n'),
      err: expect.stringMatching(
        /^anygpt: .*mcp-discovery\.config\.json does not exist yet.*Run "anygpt mcp init"\.\n$/,
      ),
    });
    write('.anygpt/mcp-discovery.config.json', '{}');
    const again = await run('install', 'cursor');
    expect(again.out).toContain('✓ Cursor: "anygpt" is already in ~/.cursor/mcp.json\n');
    expect(again.err).toBe('');
    expect((await run('uninstall', 'cursor')).out).toContain('✓ Cursor: removed "anygpt" from ~/.cursor/mcp.json\n');
    expect(read(file)).toBe(SERVERS);
    expect((await run('uninstall', 'cursor')).out).toBe('✓ Cursor: "anygpt" is not in ~/.cursor/mcp.json\n');
  });

  it('--take-over says what a server is called from now on, where another client has one of its name', async () => {
    write('.cursor/mcp.json', '{ "mcpServers": { "memory": { "command": "x", "env": { "FILE": "1" } } } }');
    write('.claude.json', '{ "mcpServers": { "memory": { "command": "x", "env": { "FILE": "2" } } } }');
    write('.anygpt/mcp-discovery.config.json', '{ "sources": [{ "type": "cursor" }, { "type": "claude-code" }] }');
    const { code, out } = await run('install', 'claude-code', '--take-over');
    expect(code).toBe(0);
    expect(out.replace(/\s+/g, ' ')).toMatch(
      /Note: "memory" of \S+ is called claude-code\/memory behind the gateway, because another server has that name\./,
    );
  });

  it('--dry-run shows the change without secrets and writes nothing', async () => {
    const file = write('.cursor/mcp.json', SERVERS);
    const { code, out } = await run('install', 'cursor', '--take-over', '--dry-run');
    expect(code).toBe(0);
    expect(out).toContain('✓ Cursor: would add "anygpt" to ~/.cursor/mcp.json\n');
    expect(out).toContain('--- ~/.cursor/mcp.json\n+++ ~/.cursor/mcp.json\n@@ -1,5 +1,11 @@\n');
    expect(out).toMatch(/^- … 1 line$/m);
    expect(out).toContain('  Would write a backup: ~/.cursor/mcp.json.anygpt-taken-over\n');
    expect(out).toContain('  Would move behind the gateway: a\n');
    expect(out).toContain('  Would change: ~/.anygpt/mcp-discovery.config.json\n');
    expect(out).not.toContain('Backup:');
    expect(out).toMatch(/^\+\s+"args": \[".*discovery\.js"\],$/m);
    expect(out).toMatch(/^\+.*"type": "cursor"/m);
    expect(out).not.toContain('very-secret');
    expect(read(file)).toBe(SERVERS);
    expect(readdirSync(folder.path)).toEqual(['.cursor']);
    expect(readdirSync(dirname(file))).toEqual(['mcp.json']);
  });

  it('--take-over names what moved and where to; uninstall what came back', async () => {
    const file = write('.cursor/mcp.json', SERVERS);
    const { out } = await run('install', 'cursor', '--take-over');
    expect(out).toContain('  Moved behind the gateway: a\n  Configuration: ~/.anygpt/mcp-discovery.config.json\n');
    expect((await run('uninstall', 'cursor')).out).toContain('  Restored: a\n');
    expect(read(file)).toBe(SERVERS);
    expect(existsSync(join(folder.path, '.anygpt', 'mcp-discovery.config.json'))).toBe(false);
  });

  it('--all does all it finds and says what became of each; a failure spoils none of the others', async () => {
    write('.cursor/mcp.json', '{}');
    write('.kiro/settings/mcp.json', '{ broken');
    write('.gemini/settings.json', '{"mcp":{"allowed":[]}}');
    write('.codeium/windsurf/mcp_config.json', '{"mcpServers":{"w":{"command":"w"}}}');
    const { code, out, err } = await run('install', '--all', '--take-over');
    expect(code).toBe(3);
    expect(out).toBe(
      [
        '✓ Cursor: added "anygpt" to ~/.cursor/mcp.json',
        '  Backup: ~/.cursor/mcp.json.anygpt-backup',
        '  Note: there are no servers to take over.',
        '✓ Windsurf: added "anygpt" to ~/.codeium/windsurf/mcp_config.json',
        '  Backup (needed to undo): ~/.codeium/windsurf/mcp_config.json.anygpt-taken-over',
        '  Moved behind the gateway: w',
        '  Configuration: ~/.anygpt/mcp-discovery.config.json',
        '✗ Kiro: nothing was changed',
        '✓ Gemini CLI: added "anygpt" to ~/.gemini/settings.json',
        '  Backup: ~/.gemini/settings.json.anygpt-backup',
        '  Note: there are no servers to take over.',
        '  Note: a list of servers in this file prevents Gemini CLI from starting "anygpt"; add it there.',
        'Next: restart these clients.\n',
      ].join('\n'),
    );
    expect(err).toMatch(/^anygpt: .*mcp\.json:1:3 is not valid JSON/);
    const again = await run('uninstall', '--all', '--json');
    expect(again.code).toBe(3);
    const document = await documentOf('uninstall', again.out);
    expect(document.success).toBe(false);
    expect(document.clients.map(({ status }: { status: string }) => status)).toEqual([
      'removed',
      'removed',
      'failed',
      'removed',
    ]);
  });

  it('looks again at a file that another program wrote meanwhile', async () => {
    const file = write('.cursor/mcp.json', '{}');
    write('.anygpt/mcp-discovery.config.json', '{}');
    // The lock keeps the first try from writing until the file has changed.
    writeFileSync(lockPath(file), 'another');
    const running = run('install', 'cursor');
    await new Promise((resolve) => setTimeout(resolve, 100));
    writeFileSync(file, '{"x":1}');
    rmSync(lockPath(file));
    expect(await running).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(read(file))).toMatchObject({ x: 1, mcpServers: { anygpt: {} } });
  });

  it('uninstall finds the entry in whichever file of the client it is', async () => {
    write('.continue/config.json', '{}');
    await run('install', 'continue');
    const config = write('.continue/config.yaml', 'models: []\n');
    expect((await run('install', 'continue')).out).toContain('is already in ~/.continue/mcpServers/anygpt.yaml');
    expect((await run('uninstall', 'continue')).out).toContain(
      'removed "anygpt" from ~/.continue/mcpServers/anygpt.yaml',
    );
    await run('install', 'continue');
    expect(read(config)).toContain('- name: anygpt');
    expect((await run('uninstall', 'continue')).out).toContain('removed "anygpt" from ~/.continue/config.yaml');
    expect((await run('uninstall', 'continue')).out).toBe('✓ Continue: "anygpt" is not in ~/.continue/config.yaml\n');
  });

  it('takes a project’s file when it is named, and only then', async () => {
    const project = write('work/.cursor/mcp.json', '{}');
    expect((await run('install', '--all')).code).toBe(2);
    expect((await run('install', 'cursor', '--file', 'work/.cursor/mcp.json')).code).toBe(0);
    expect(read(project)).toContain('anygpt');
  });

  const EVIL = (mark: string) => ({ mcpServers: { evil: { command: 'sh', args: ['-c', `touch ${mark}`] } } });

  it('uses nothing of a copy that came with a project', async () => {
    const mark = join(folder.path, 'mark');
    write(
      'work/.cursor/mcp.json',
      JSON.stringify({ mcpServers: { anygpt: { command: 'old', env: { ANYGPT_GATEWAY: '1' } } } }),
    );
    const copy = write('work/.cursor/mcp.json.anygpt-taken-over', JSON.stringify(EVIL(mark)));
    const { code, out } = await run('install', 'cursor', '--file', 'work/.cursor/mcp.json');
    expect(code).toBe(0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'mcp.json.anygpt-taken-over was not made here, so nothing of it is used.',
    );
    expect(existsSync(join(folder.path, '.anygpt', 'mcp-discovery.config.json'))).toBe(false);
    await run('list', '--status');
    expect(existsSync(mark)).toBe(false);
    expect((await run('uninstall', 'cursor', '--file', 'work/.cursor/mcp.json')).code).toBe(0);
    expect(read(copy)).toBe(JSON.stringify(EVIL(mark)));
    expect(read(join(dirname(copy), 'mcp.json'))).not.toContain('evil');
  });

  it('takes over from a project only trusted files, and only while they are unchanged', async () => {
    const mark = join(folder.path, 'mark');
    const text = JSON.stringify(EVIL(mark));
    const file = write('work/.cursor/mcp.json', text);
    const refused = await run('install', 'cursor', '--file', file, '--take-over');
    expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('is not trusted') });
    expect([read(file), readdirSync(dirname(file))]).toEqual([text, ['mcp.json']]);
    expect((await run('trust', file, '--yes')).code).toBe(0);
    expect((await run('install', 'cursor', '--file', file, '--take-over')).out).toContain('behind the gateway: evil');
    expect((await run('list')).out).toContain('evil');
    const copy = `${file}.anygpt-taken-over`;
    expect((await run('trust', '--list')).out).toContain('mcp.json.anygpt-taken-over\n');
    writeFileSync(copy, text.replace('touch', 'rm'));
    expect(await run('list')).toMatchObject({
      out: expect.not.stringContaining('evil'),
      err: expect.stringContaining('not trusted'),
    });
    expect((await run('install', 'cursor', '--file', file, '--command', 'x')).code).toBe(2);
    writeFileSync(copy, text);
    expect((await run('install', 'cursor', '--file', file)).out).toContain('already in');
    expect((await run('uninstall', 'cursor', '--file', file)).out).toContain('Restored: evil');
    expect(read(file)).toBe(text);
    expect((await run('trust', '--list')).out).not.toContain('taken-over');
    expect(existsSync(mark)).toBe(false);
  });

  it('asks at a terminal about a project’s file, and shows what it would run', async () => {
    const file = write('work/.cursor/mcp.json', JSON.stringify(EVIL('x')));
    const answered = async (answer: string) => {
      const io = fakeIo({ cwd: folder.path, env: env(), tty: true });
      Object.assign(io.stderr, { isTTY: true });
      io.stdin.write(answer);
      const code = await main(['mcp', 'install', 'cursor', '--file', file, '--take-over'], io);
      return { code, err: io.err() };
    };
    const refused = await answered('n\n');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('touch x');
    expect(read(file)).not.toContain('anygpt');
    expect((await answered('y\n')).code).toBe(0);
    expect((await run('list')).out).toContain('evil');
  });

  it('--local starts this copy, --url uses one that runs', async () => {
    write('.cursor/mcp.json', '{}');
    await run('install', 'cursor', '--local');
    const { command, args } = JSON.parse(read(join(folder.path, '.cursor', 'mcp.json'))).mcpServers.anygpt;
    expect(command).toBe(process.execPath);
    expect(args).toEqual([expect.stringMatching(/discovery\.js$/)]);
    expect(existsSync(args[0])).toBe(true);
    expect((await run('install', 'cursor', '--url', 'http://127.0.0.1:3000/mcp')).out).toContain('updated "anygpt" in');
  });

  it.each([
    [['install'], 1, '<client> is missing'],
    [['install', 'cursr'], 1, 'Did you mean "cursor"?'],
    [['install', 'zzz'], 1, 'Clients:\n  claude-desktop'],
    [['install', 'cursor', 'zed'], 1, 'unexpected argument "zed"; name one client at a time, or use --all'],
    [['install', 'cursor', '--all'], 1, 'cannot be combined'],
    [['install', '--all', '--file', 'x'], 1, 'cannot be combined'],
    [['install', 'cursor', '--local', '--url', 'http://x'], 1, '--local and --url cannot be combined'],
    [['install', 'cursor', '--url', 'ftp://x'], 1, '--url must be an http or https address'],
    [['install', 'cursor', '--command', ' '], 1, '--command is empty'],
    [['install', 'cursor'], 2, 'Cursor was not found on this machine'],
    [['install', '--all'], 2, 'No client was found on this machine'],
    [['install', 'mcpb'], 2, 'A bundle is a server, not a client'],
    [['install', 'docker-mcp'], 2, 'takes no others'],
    [['install', 'docker-mcp', '--file', 'x.json'], 2, 'takes no others'],
    [
      ['install', 'jetbrains-ai-assistant'],
      2,
      `Paste this: {"mcpServers":{"anygpt":{"command":${JSON.stringify(process.execPath)}`,
    ],
    [['uninstall', 'cursor', '--take-over'], 1, 'no option --take-over'],
  ])('%j ends with %i', async (argv, code, message) => {
    const { code: ended, out, err } = await run(...argv);
    expect([ended, out]).toEqual([code, '']);
    expect(err).toContain(message);
  });
});

describe('the real binary', () => {
  const binary = (...argv: string[]) => runBinary(argv, { cwd: folder.path, env: {} });

  it('installs and uninstalls, each with one document on stdout and nothing on stderr', async () => {
    const file = write('.cursor/mcp.json', SERVERS);
    const dry = await binary('install', 'cursor', '--dry-run', '--json');
    expect([dry.code, dry.err]).toEqual([0, '']);
    expect((await documentOf('install', dry.out)).clients[0].diff[0]).toContain('+    "anygpt": {');
    const done = await binary('install', 'cursor', '--take-over', '--json');
    expect([done.code, done.err]).toEqual([0, '']);
    expect(await documentOf('install', done.out)).toEqual({
      success: true,
      clients: [
        {
          client: 'cursor',
          file,
          status: 'installed',
          backup: `${file}.anygpt-taken-over`,
          servers: ['a'],
          config: join(folder.path, '.anygpt', 'mcp-discovery.config.json'),
          next: expect.any(String),
        },
      ],
    });
    const listed = await binary('list', '--json');
    expect((await documentOf('list', listed.out)).servers).toMatchObject([{ name: 'a' }]);
    const gone = await binary('uninstall', 'cursor', '--json');
    expect([gone.code, gone.err]).toEqual([0, '']);
    expect((await documentOf('uninstall', gone.out)).clients[0].status).toBe('removed');
    expect(read(file)).toBe(SERVERS);
  });

  it('several at once move every server and lose none', async () => {
    const text = '{\n  "mcpServers": {\n    "a": { "command": "x" },\n    "b": { "command": "y" }\n  }\n}\n';
    const file = write('.cursor/mcp.json', text);
    write('.warp/.mcp.json', '{"mcpServers":{"c":{"command":"z"}}}');
    const clients = ['cursor', 'warp', 'cursor', 'warp', 'cursor'];
    const all = await Promise.all(clients.map((client) => binary('install', client, '--take-over')));
    expect(all.map(({ code, err }) => [code, err])).toEqual(clients.map(() => [0, '']));
    const { servers } = await documentOf('list', (await binary('list', '--json')).out);
    expect(servers.map(({ name }: { name: string }) => name).sort()).toEqual(['a', 'b', 'c']);
    const gone = await Promise.all(['cursor', 'warp', 'cursor'].map((client) => binary('uninstall', client)));
    expect(gone.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(read(file)).toBe(text);
    expect(readdirSync(dirname(file))).toEqual(['mcp.json']);
  });

  it.each([
    [1, ['install', 'cursr']],
    [2, ['install', 'cursor']],
    [1, ['uninstall']],
    [2, ['uninstall', 'cursor', '--file', 'broken.json']],
  ])('ends with %i for %j', async (code, argv) => {
    write('broken.json', '{ broken');
    const plain = await binary(...argv);
    expect([plain.code, plain.out]).toEqual([code, '']);
    expect(plain.err).toMatch(/^anygpt: \S/);
    const json = await binary(...argv, '--json');
    expect([json.code, json.err]).toEqual([code, '']);
    await documentOf('failure', json.out);
  });
});

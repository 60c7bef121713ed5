import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentOf, runBinary } from '../../../test/fixtures/cli.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { main } from '../main.ts';
import { textDiff } from '../text-diff.ts';

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
        '  Note: it still starts a itself; --take-over moves them behind the gateway.',
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

  it('--dry-run shows the change without secrets and writes nothing', async () => {
    const file = write('.cursor/mcp.json', SERVERS);
    const { code, out } = await run('install', 'cursor', '--take-over', '--dry-run');
    expect(code).toBe(0);
    expect(out).toContain('✓ Cursor: would add "anygpt" to ~/.cursor/mcp.json\n');
    expect(out).toContain(`--- ${file}\n+++ ${file}\n@@ -1,5 +1,11 @@\n`);
    expect(out).toMatch(/^-\s+"a": \{ "command": "x", "env": \{ "KEY": "\*\*\*" \} \}$/m);
    expect(out).toMatch(/^\+\s+"args": \["-y", "@anygpt\/discovery"\],$/m);
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
    expect((await run('uninstall', 'cursor')).out).toContain('  Given back: a\n');
    expect(read(file)).toBe(SERVERS);
    expect(existsSync(join(folder.path, '.anygpt', 'mcp-discovery.config.json'))).toBe(false);
  });

  it('--all does all it finds, one line each; a failure spoils none of the others', async () => {
    write('.cursor/mcp.json', '{}');
    write('.kiro/settings/mcp.json', '{ broken');
    write('.gemini/settings.json', '{"mcp":{"allowed":[]}}');
    const { code, out, err } = await run('install', '--all');
    expect(code).toBe(3);
    expect(out).toBe(
      [
        '✓ Cursor: added "anygpt" to ~/.cursor/mcp.json',
        '✗ Kiro: nothing was done',
        '✓ Gemini CLI: added "anygpt" to ~/.gemini/settings.json',
        'Next: restart these clients.\n',
      ].join('\n'),
    );
    expect(err).toMatch(/^anygpt: .*mcp\.json:1:3 is not valid JSON.*\nanygpt: Gemini CLI: a list of servers/);
    const again = await run('uninstall', '--all', '--json');
    expect(again.code).toBe(3);
    const document = await documentOf('uninstall', again.out);
    expect(document.success).toBe(false);
    expect(document.clients.map(({ status }: { status: string }) => status)).toEqual(['removed', 'failed', 'removed']);
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

  it('--local starts this copy, --url uses one that runs', async () => {
    write('.cursor/mcp.json', '{}');
    await run('install', 'cursor', '--local');
    const { command, args } = JSON.parse(read(join(folder.path, '.cursor', 'mcp.json'))).mcpServers.anygpt;
    expect(command).toBe(process.execPath);
    expect(args).toEqual([expect.stringMatching(/discovery\.js$/)]);
    expect(existsSync(args[0])).toBe(true);
    expect((await run('install', 'cursor', '--url', 'http://127.0.0.1:3000/mcp')).out).toContain('renewed "anygpt" in');
  });

  it.each([
    [['install'], 1, '<client> is missing'],
    [['install', 'cursr'], 1, 'Did you mean "cursor"?'],
    [['install', 'zzz'], 1, 'Clients:\n  claude-desktop'],
    [['install', 'cursor', 'zed'], 1, 'no use for "zed"'],
    [['install', 'cursor', '--all'], 1, 'exclude each other'],
    [['install', '--all', '--file', 'x'], 1, 'exclude each other'],
    [['install', 'cursor', '--local', '--url', 'http://x'], 1, '--local and --url exclude each other'],
    [['install', 'cursor', '--url', 'ftp://x'], 1, '--url is an http or https address'],
    [['install', 'cursor', '--command', ' '], 1, '--command is empty'],
    [['install', 'cursor'], 2, 'Cursor was not found on this machine'],
    [['install', '--all'], 2, 'No client was found on this machine'],
    [['install', 'mcpb'], 2, 'A bundle is a server, not a client'],
    [['install', 'docker-mcp'], 2, 'takes no others'],
    [['install', 'docker-mcp', '--file', 'x.json'], 2, 'takes no others'],
    [['install', 'jetbrains-ai-assistant'], 2, 'Paste this: {"mcpServers":{"anygpt":{"command":"npx"'],
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

describe('a diff', () => {
  it('shows the part of a long line that differs, and no more lines than fit', () => {
    const long = `{"x":"${'a'.repeat(500)}","b":1}`;
    const text = textDiff('f', long, long.replace('"b":1', '"b":2'));
    expect(text.split('\n').every((line) => line.length <= 170)).toBe(true);
    expect(text).toContain('"b":2}');
    expect(textDiff('f', 'a\n', 'a\n')).toBe('');
    expect(textDiff('f', '', 'a\nb\n')).toBe('--- f\n+++ f\n@@ -1,0 +1,2 @@\n+a\n+b');
    expect(textDiff('f', '', 'a\n'.repeat(500)).split('\n')).toHaveLength(204);
  });
});

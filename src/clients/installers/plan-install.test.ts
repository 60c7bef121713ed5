import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigurationLoader } from '../../config/configuration-loader.ts';
import { parseJsonc } from '../../config/parse-jsonc.ts';
import { Snapshot } from '../../config/project-snapshot.ts';
import { TrustStore } from '../../config/trust-store.ts';
import { stateFolder, type World } from '../../config/world.ts';
import { lockPath } from '../../disk/file-lock.ts';
import { CLIENT_TYPES, type ClientType, clientOf } from '../importers/clients.ts';
import { secretValues } from './document-secrets.ts';
import { type InstallOptions, planInstall as plan, planUninstall } from './plan-install.ts';
import { namedTarget, notThere, targetFiles } from './target-files.ts';
import { isStillThere } from './undisturbed.ts';

/** Like the command line: with the full paths of Node.js and of our program. */
const LOCAL = ['/opt/node/bin/node', '/opt/anygpt/dist/bin/discovery.js'] as const;
const planInstall = (type: ClientType, path: string, options: InstallOptions, world: World) =>
  plan(type, path, { local: LOCAL, ...options }, world);

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'anygpt-installs-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
let counter = 0;
function newWorld(changes: Partial<World> = {}): World {
  const home = join(root, `${counter++}`);
  mkdirSync(join(home, 'work'), { recursive: true });
  return { home, cwd: join(home, 'work'), env: {}, platform: 'linux', ...changes };
}
function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
const read = (path: string) => readFileSync(path, 'utf8');
const cursorFile = (world: World, text: string) => write(join(world.home, '.cursor', 'mcp.json'), text);

async function install(file: string, world: World, options: InstallOptions = {}, type: ClientType = 'cursor') {
  const plan = await planInstall(type, file, options, world);
  await plan.write();
  return plan;
}
async function uninstall(file: string, world: World, type: ClientType = 'cursor') {
  const plan = await planUninstall(type, file, {}, world);
  await plan.write();
  return plan;
}

const trust = async (file: string, world: World) =>
  new TrustStore(stateFolder(world)).trust(file, new Snapshot().hashOf(file, []) ?? '');

const SERVERS = `{
  // mine
  "mcpServers": {
    "github": { "url": "https://x.test/mcp", "headers": { "Authorization": "Bearer \${env:GITHUB_TOKEN}" } }, // GitHub
    "notes": { "command": "npx", "args": ["notes"], "env": { "NOTES_KEY": "literal-secret" } }
  }
}
`;

describe('where the entry goes', () => {
  it.each(['linux', 'darwin', 'win32'] as const)('into the existing file of every client on %s', (platform) => {
    for (const type of CLIENT_TYPES) {
      const world = newWorld({ platform });
      const { install: row, user } = clientOf(type);
      expect(targetFiles(type, world)).toEqual([]);
      if (row.instead !== undefined) continue;
      const [first = ''] = (row.files?.(world) ?? user(world)).filter((path) => !path.includes('*'));
      write(first, '{}');
      expect(targetFiles(type, world), type).toEqual([first]);
      rmSync(first);
      expect(targetFiles(type, world), type).toHaveLength(
        row.home !== undefined && !existsSync(row.home(world)) ? 0 : 1,
      );
      expect(notThere(type, world).message).toContain(clientOf(type).title);
    }
  });

  it('into every program of one client that is there, but once for those that read both', () => {
    const world = newWorld();
    const code = write(join(world.home, '.config', 'Code', 'User', 'mcp.json'), '{}');
    const insiders = write(join(world.home, '.config', 'Code - Insiders', 'User', 'mcp.json'), '{}');
    expect(targetFiles('vscode', world)).toEqual([code, insiders]);
    const json = write(join(world.home, '.config', 'amp', 'settings.json'), '{}');
    write(join(world.home, '.config', 'amp', 'settings.jsonc'), '{}');
    expect(targetFiles('amp', world)).toEqual([json]);
  });

  it('into a new file where only the folder of the client is there', async () => {
    const world = newWorld();
    mkdirSync(join(world.home, '.claude'));
    const [file = ''] = targetFiles('claude-code', world);
    expect(file).toBe(join(world.home, '.claude.json'));
    expect(await install(file, world, {}, 'claude-code')).toMatchObject({ status: 'installed', backup: undefined });
    expect(JSON.parse(read(file)).mcpServers.anygpt).toMatchObject({ type: 'stdio', alwaysLoad: true });
    expect(await uninstall(file, world, 'claude-code')).toMatchObject({ status: 'removed' });
    expect(existsSync(file)).toBe(false);
  });

  it('into a file of its own for Continue, whose new config.yaml would hide an old config.json', async () => {
    const world = newWorld();
    write(join(world.home, '.continue', 'config.json'), '{}');
    const [file = ''] = targetFiles('continue', world);
    expect(file).toBe(join(world.home, '.continue', 'mcpServers', 'anygpt.yaml'));
    await install(file, world, {}, 'continue');
    expect(read(file)).toMatch(
      /^name: anygpt\nversion: 0\.0\.1\nschema: v1\nmcpServers:\n {2}- name: anygpt\n {4}command: \/opt\/node\/bin\/node\n/,
    );
    await uninstall(file, world, 'continue');
    expect(existsSync(file)).toBe(false);
    const single = write(join(world.home, 'one.json'), '{"command":"x"}');
    await expect(install(single, world, {}, 'continue')).rejects.toThrow('it holds a single server');
  });

  it('into a file that was named, wherever it is', () => {
    const world = newWorld();
    expect(namedTarget('~/x.json', world)).toBe(join(world.home, 'x.json'));
    expect(namedTarget('x.json', world)).toBe(join(world.cwd, 'x.json'));
  });
});

describe('how the entry is written', () => {
  const entryOf = async (type: ClientType, options: InstallOptions, world = newWorld()) => {
    const name = /toml/.test(clientOf(type).user(world)[0] ?? '') ? 'c.toml' : 'c.json';
    const plan = await planInstall(type, join(world.home, name), options, world);
    return plan.changes[0]?.after ?? '';
  };
  const parsed = async (type: ClientType, options: InstallOptions, world?: World) =>
    Object.values(JSON.parse(await entryOf(type, options, world)))[0] as { anygpt: Record<string, unknown> };

  it('for an address, in the spelling of each client', async () => {
    const url = 'http://127.0.0.1:3000/mcp';
    const urls = Object.fromEntries(
      await Promise.all(
        (
          [
            'cursor',
            'vscode',
            'windsurf',
            'gemini-cli',
            'cline',
            'roo-code',
            'opencode',
            'copilot-cli',
            'claude-code',
            'factory',
            'amazon-q',
          ] as const
        ).map(async (type) => [type, (await parsed(type, { url })).anygpt]),
      ),
    );
    expect(urls).toEqual({
      cursor: { url },
      vscode: { type: 'http', url },
      windsurf: { serverUrl: url },
      'gemini-cli': { httpUrl: url },
      cline: { type: 'streamableHttp', url, disabled: false, autoApprove: [] },
      'roo-code': { type: 'streamable-http', url, disabled: false, alwaysAllow: [] },
      opencode: { type: 'remote', url, enabled: true },
      'copilot-cli': { type: 'http', url, tools: ['*'], deferTools: 'never' },
      'claude-code': { type: 'http', url, alwaysLoad: true },
      factory: { type: 'http', url, disabled: false },
      'amazon-q': { type: 'http', url },
    });
    expect((await parsed('claude-desktop', { url })).anygpt).toMatchObject({
      command: LOCAL[0],
      args: [LOCAL[1], '--url', url],
    });
    expect(await entryOf('codex', { url })).toBe(`[mcp_servers.anygpt]\nurl = "${url}"\n`);
    expect(await entryOf('mistral-vibe', { url })).toContain('transport = "streamable-http"');
    expect((await parsed('goose', { url })).anygpt).toMatchObject({ type: 'streamable_http', uri: url });
    await expect(entryOf('cursor', { url: 'ftp://x' })).rejects.toThrow('not an http or https URL');
  });

  it('is known as ours by an address under our name, too, and goes again', async () => {
    for (const type of CLIENT_TYPES.filter((one) => clientOf(one).install.instead === undefined)) {
      const world = newWorld();
      const name = /toml/.test(clientOf(type).user(world)[0] ?? '') ? 'c.toml' : 'c.json';
      const file = write(join(world.home, name), '\n');
      for (const options of [{ url: 'http://127.0.0.1:1/mcp' }, { command: '"/my node" server.js --x' }]) {
        await install(file, world, options, type);
        expect((await planInstall(type, file, options, world)).status).toBe('unchanged');
        expect((await uninstall(file, world, type)).status).toBe('removed');
        expect(read(file), type).toBe('\n');
      }
    }
  });

  it('by full paths that no folder can redirect, with a PATH of its own where the desktop gives a short one', async () => {
    for (const platform of ['linux', 'darwin', 'win32'] as const)
      expect((await parsed('cursor', {}, newWorld({ platform }))).anygpt).toEqual({
        command: LOCAL[0],
        args: [LOCAL[1]],
        env: { ANYGPT_GATEWAY: '1' },
      });
    await expect(parsed('cursor', { local: undefined })).rejects.toThrow('has not been built yet');
    const world = newWorld();
    const bin = join(world.home, 'bin');
    // Not the folders that npm or the current project add.
    const PATH = [
      join(world.cwd, '.venv', 'bin'),
      bin,
      join(world.home, 'node_modules', '.bin'),
      'relative',
      '',
      bin,
    ].join(process.platform === 'win32' ? ';' : ':');
    const { anygpt } = await parsed('claude-desktop', {}, { ...world, env: { PATH } });
    expect(anygpt).toEqual({
      command: LOCAL[0],
      args: [LOCAL[1]],
      env: { ANYGPT_GATEWAY: '1', PATH: bin },
    });
  });

  it('with a command of one’s own, a local program, and the places that are in force', async () => {
    const world = newWorld({ env: { ANYGPT_HOME: '~/state' } });
    expect(
      (await parsed('cursor', { command: 'node "/my path/server.js" --x', config: 'c.json' }, world)).anygpt,
    ).toEqual({
      command: 'node',
      args: ['/my path/server.js', '--x'],
      env: { ANYGPT_GATEWAY: '1', ANYGPT_CONFIG: join(world.cwd, 'c.json'), ANYGPT_HOME: join(world.home, 'state') },
    });
    expect((await parsed('opencode', { local: ['/bin/node', '/d.js'] })).anygpt).toMatchObject({
      command: ['/bin/node', '/d.js'],
      environment: { ANYGPT_GATEWAY: '1' },
    });
    await expect(entryOf('cursor', { command: '""' })).resolves.toContain('"command": ""');
    await expect(entryOf('cursor', { command: ' ' })).rejects.toThrow('empty');
  });

  it('with no place that the environment names relative to the folder one is in', async () => {
    const world = newWorld({ env: { ANYGPT_HOME: '.state', ANYGPT_CONFIG: 'mcp-discovery.config.js' } });
    expect((await parsed('cursor', { command: 'node x' }, world)).anygpt).toEqual({
      command: 'node',
      args: ['x'],
      env: { ANYGPT_GATEWAY: '1' },
    });
  });

  it('in the second version of OpenCode, in a bare map of Copilot CLI, in a development container', async () => {
    const world = newWorld();
    const second = write(join(world.home, 'opencode.json'), '{"mcp":{"servers":{}}}');
    await install(second, world, {}, 'opencode');
    expect(JSON.parse(read(second)).mcp.servers.anygpt).toMatchObject({ type: 'local', disabled: false });
    const bare = write(join(world.home, '.mcp.json'), '{"a":{"command":"x"}}');
    await install(bare, world, {}, 'copilot-cli');
    expect(Object.keys(JSON.parse(read(bare)))).toEqual(['anygpt', 'a']);
    await uninstall(bare, world, 'copilot-cli');
    expect(read(bare)).toBe('{"a":{"command":"x"}}');
    const container = write(join(world.home, 'devcontainer.json'), '{"image":"x"}');
    await install(container, world, {}, 'vscode');
    expect(JSON.parse(read(container)).customizations.vscode.mcp.servers.anygpt.type).toBe('stdio');
    await uninstall(container, world, 'vscode');
    expect(read(container)).toBe('{"image":"x"}');
  });

  it('says which other command does it, and which list keeps the client from starting it', async () => {
    const world = newWorld();
    const { next } = await planInstall('claude-code', join(world.home, '.claude.json'), {}, world);
    expect(next).toContain(
      'claude mcp add --env ANYGPT_GATEWAY=1 --scope user --transport stdio anygpt -- /opt/node/bin/node /opt/anygpt/dist/bin/discovery.js',
    );
    const http = await planInstall('claude-code', join(world.home, '.claude.json'), { url: 'http://x/?a=b&c' }, world);
    expect(http.next).toContain("--transport http anygpt 'http://x/?a=b&c'");
    const gemini = write(join(world.home, 'settings.json'), '{"mcp":{"allowed":["x"]}}');
    expect((await planInstall('gemini-cli', gemini, {}, world)).notes.join()).toContain(
      'prevents Gemini CLI from starting',
    );
  });
});

describe('install', () => {
  it('writes once, keeps the mode and a copy only the owner can read, and is then content', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    chmodSync(file, 0o640);
    const plan = await install(file, world);
    expect(plan).toMatchObject({ status: 'installed', backup: `${file}.anygpt-backup`, servers: [] });
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(statSync(`${file}.anygpt-backup`).mode & 0o777).toBe(0o600);
    expect(read(`${file}.anygpt-backup`)).toBe(SERVERS);
    const { mtimeMs, ino } = statSync(file);
    expect(await install(file, world)).toMatchObject({ status: 'unchanged', changes: [] });
    expect(statSync(file)).toMatchObject({ mtimeMs, ino });
    expect(readdirSync(dirname(file)).sort()).toEqual(['mcp.json', 'mcp.json.anygpt-backup']);
  });

  it('renews its entry, keeps what others put into it, and the first copy', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    await install(file, world);
    const text = read(file).replace(
      '"command": "/opt/node/bin/node",\n      "args"',
      '"timeout": 5,\n      "command": "/opt/node/bin/node",\n      "args"',
    );
    writeFileSync(file, text);
    expect((await install(file, world)).status).toBe('unchanged');
    expect((await install(file, world, { command: 'mine' })).status).toBe('updated');
    // biome-ignore lint/suspicious/noExplicitAny: tests look into documents freely
    expect((parseJsonc(read(file)) as any).mcpServers.anygpt).toMatchObject({
      command: 'mine',
      timeout: 5,
    });
    await install(file, world, { url: 'http://x.test' });
    expect(read(file)).not.toContain('timeout');
    expect(read(`${file}.anygpt-backup`)).toBe(SERVERS);
    await uninstall(file, world);
    expect(read(file)).toBe(SERVERS);
  });

  it('edits what a link points to and leaves the link', async () => {
    const world = newWorld();
    const real = write(join(world.home, 'dotfiles', 'cursor.json'), SERVERS);
    const file = join(world.home, '.cursor', 'mcp.json');
    mkdirSync(dirname(file));
    symlinkSync(real, file);
    const { notes } = await install(file, world);
    expect(notes).toEqual([
      `${file} is a symbolic link; the file behind it is ${real}`,
      'it still starts "github" and "notes" itself; --take-over moves them behind the gateway',
    ]);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(read(real)).toContain(LOCAL[1]);
    expect(readdirSync(dirname(real))).toEqual(['cursor.json']);
    await uninstall(file, world);
    expect(read(real)).toBe(SERVERS);
    rmSync(real);
    await expect(install(file, world)).rejects.toThrow('symbolic link to a file that does not exist');
  });

  it.each([
    ['half-written', SERVERS.slice(0, 60), /mcp\.json:\d+:\d+ is not valid JSON/],
    ['not text', '\u0000\uffff', /not valid JSON/],
    ['not an object', '[]', /expected an object/],
    ['with servers that are no map', '{"mcpServers":[]}', /expected mcpServers to be a map/],
    ['with another server of our name', '{"mcpServers":{"anygpt":{"command":"x"}}}', /another server called "anygpt"/],
  ])('refuses a file that is %s and leaves it alone', async (_what, text, message) => {
    const world = newWorld();
    const file = cursorFile(world, text);
    await expect(install(file, world)).rejects.toThrow(message);
    expect(read(file)).toBe(text);
    expect(readdirSync(dirname(file))).toEqual(['mcp.json']);
  });

  it('refuses what is huge, no UTF-8, no file or not to be written', async () => {
    const world = newWorld();
    const file = cursorFile(world, '{}');
    truncateSync(file, 50 * 1024 * 1024);
    await expect(install(file, world)).rejects.toThrow(/larger than 5 MiB, the limit for a configuration\.$/);
    const claude = write(join(world.home, '.claude.json'), '{}');
    truncateSync(claude, 1100 * 1024 * 1024);
    await expect(install(claude, world, {}, 'claude-code')).rejects.toThrow(
      /can do it itself: claude mcp add .*anygpt/,
    );
    writeFileSync(file, Buffer.from([0xff, 0xfe, 0x7b]));
    await expect(install(file, world)).rejects.toThrow('not UTF-8');
    await expect(install(dirname(file), world)).rejects.toThrow('is a folder');
    await expect(install(join(write(join(world.home, 'f'), ''), 'x.json'), world)).rejects.toThrow(
      'could not be written',
    );
  });

  it('leaves a file alone that another program wrote meanwhile', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    const plan = await planInstall('cursor', file, {}, world);
    writeFileSync(file, '{"mcpServers":{}}');
    await expect(plan.write()).rejects.toThrow('was changed by another program just now, so nothing was written');
    expect(read(file)).toBe('{"mcpServers":{}}');
    expect(readdirSync(dirname(file)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    await install(file, world);
    const away = await planUninstall('cursor', file, {}, world);
    rmSync(file);
    await expect(away.write()).rejects.toThrow('was changed by another program');
  });

  it('takes away what a killed process left, once it is old', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    const old = `${file}.anygpt-taken-over.123.0123456789ab.tmp`;
    const [fresh, theirs] = [`${file}.124.0123456789ab.tmp`, `${file}.tmp`];
    for (const path of [old, fresh, theirs]) writeFileSync(path, 'x');
    for (const path of [old, theirs]) utimesSync(path, new Date(0), new Date(0));
    await install(file, world);
    expect([old, fresh, theirs].map((path) => existsSync(path))).toEqual([false, true, true]);
  });

  it('sees a gateway that was added by hand, and never removes it', async () => {
    const world = newWorld();
    const text = '{"mcpServers":{"mine":{"command":"npx","args":["@anygpt/discovery"]}}}';
    const file = cursorFile(world, text);
    expect((await install(file, world)).notes).toEqual([
      'this gateway is already there, as "mine", written by hand; to have install write the entry, remove that one first',
    ]);
    expect(await uninstall(file, world)).toMatchObject({
      status: 'absent',
      notes: [expect.stringContaining('so it stays')],
    });
    expect(read(file)).toBe(text);
  });
});

describe('uninstall', () => {
  it.each([
    '',
    '\n',
    '{}',
    '{ }',
    '{\n}\n',
    '\ufeff{}',
    '{"a":1}',
    '{"mcpServers":{}}',
    '{\r\n\t"mcpServers": {\r\n\t}\r\n}\r\n// end',
    '{"mcpServers":null}',
  ])('leaves %j as it was', async (text) => {
    const world = newWorld();
    const file = cursorFile(world, text);
    for (const takeOver of [false, true]) {
      await install(file, world, { takeOver });
      await uninstall(file, world);
      expect(read(file)).toBe(text);
      expect(readdirSync(dirname(file))).toEqual(['mcp.json']);
    }
  });

  it('keeps what a person changed meanwhile, to the byte', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    await install(file, world);
    const edit = (text: string) => text.replace('// mine', '// ours').replace('["notes"]', '["notes", "--all"]');
    writeFileSync(file, edit(read(file)));
    expect(await uninstall(file, world)).toMatchObject({ status: 'removed', backup: `${file}.anygpt-backup` });
    expect(read(file)).toBe(edit(SERVERS));
    expect(read(`${file}.anygpt-backup`)).toBe(SERVERS);
    expect((await uninstall(file, world)).status).toBe('absent');
    // The next installation starts from the file as it is then.
    await install(file, world);
    expect(read(`${file}.anygpt-backup`)).toBe(edit(SERVERS));
    await uninstall(file, world);
    expect(readdirSync(dirname(file))).toEqual(['mcp.json']);
  });

  it('works on a file the client has rewritten, and without the copy', async () => {
    const world = newWorld();
    const file = cursorFile(world, '{"x":1}');
    await install(file, world);
    writeFileSync(file, JSON.stringify(JSON.parse(read(file)), null, 4));
    await uninstall(file, world);
    expect(JSON.parse(read(file))).toEqual({ x: 1 });
    writeFileSync(file, '{"x":1,"mcpServers":{"b":{"command":"b"}}}');
    await install(file, world);
    rmSync(`${file}.anygpt-backup`);
    await uninstall(file, world);
    expect(read(file)).toBe('{"x":1,"mcpServers":{"b":{"command":"b"}}}');
  });

  it('does not mind a broken configuration of ours, unless servers are to be given back', async () => {
    const world = newWorld();
    const config = write(join(world.home, '.anygpt', 'mcp-discovery.config.json'), '{ broken');
    const file = cursorFile(world, SERVERS);
    await install(file, world);
    await uninstall(file, world);
    expect(read(file)).toBe(SERVERS);
    await expect(install(file, world, { takeOver: true })).rejects.toThrow('not valid JSON');
    writeFileSync(config, '{}');
    await install(file, world, { takeOver: true });
    writeFileSync(config, '{ broken');
    await expect(uninstall(file, world)).rejects.toThrow('not valid JSON');
    expect(readdirSync(dirname(file)).sort()).toEqual(['mcp.json', 'mcp.json.anygpt-taken-over']);
  });

  it('has nothing to do where nothing is', async () => {
    const world = newWorld();
    expect((await uninstall(join(world.home, 'no.json'), world)).status).toBe('absent');
    expect(readdirSync(world.home)).toEqual(['work']);
  });
});

describe('take-over', () => {
  const own = (world: World) => join(world.home, '.anygpt', 'mcp-discovery.config.json');
  const load = (world: World) => new ConfigurationLoader(world).load();

  it('moves servers behind the gateway without copying a secret, and gives them back to the byte', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    const plan = await install(file, world, { takeOver: true });
    expect(plan).toMatchObject({ servers: ['github', 'notes'], backup: `${file}.anygpt-taken-over` });
    expect(read(file)).not.toContain('github"');
    // The client passes the variable to the gateway, in the client's own format.
    expect(read(file)).toContain('"GITHUB_TOKEN": "${env:GITHUB_TOKEN}"');
    expect(read(own(world))).not.toContain('literal-secret');
    expect(statSync(`${file}.anygpt-taken-over`).mode & 0o777).toBe(0o600);
    const config = await load(world);
    expect(config.servers.map(({ name }) => name)).toEqual(['github', 'notes']);
    expect(config.warnings).toEqual([]);
    expect(await uninstall(file, world)).toMatchObject({ status: 'removed', servers: ['github', 'notes'] });
    expect(read(file)).toBe(SERVERS);
    expect(existsSync(own(world))).toBe(false);
    expect(readdirSync(dirname(file))).toEqual(['mcp.json']);
  });

  it('can follow a plain install, and a plain install does not undo it', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    await install(file, world);
    expect((await install(file, world, { takeOver: true })).status).toBe('updated');
    expect(readdirSync(dirname(file)).sort()).toEqual(['mcp.json', 'mcp.json.anygpt-taken-over']);
    expect((await install(file, world)).status).toBe('unchanged');
    expect((await install(file, world, { command: 'other' })).servers).toEqual(['github', 'notes']);
    await uninstall(file, world);
    expect(read(file)).toBe(SERVERS);
  });

  it('keeps servers that came since, wherever they stand, and takes them over when asked again', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    await install(file, world, { takeOver: true });
    const grow = () =>
      writeFileSync(file, read(file).replace('"mcpServers": {', '"mcpServers": {\n    "new": { "command": "n" },'));
    grow();
    expect((await load(world)).servers.map(({ name }) => name)).toEqual(['github', 'notes']);
    expect((await install(file, world)).status).toBe('unchanged');
    expect([...(await install(file, world, { takeOver: true })).servers].sort()).toEqual(['github', 'new', 'notes']);
    expect((await load(world)).servers).toHaveLength(3);
    await uninstall(file, world);
    // biome-ignore lint/suspicious/noExplicitAny: tests look into documents freely
    const { mcpServers } = parseJsonc(read(file)) as any;
    expect(Object.keys(mcpServers).sort()).toEqual(['github', 'new', 'notes']);
    expect(mcpServers.notes.env).toEqual({ NOTES_KEY: 'literal-secret' });
    expect(existsSync(own(world))).toBe(false);
  });

  it('restores servers to the byte beside edits elsewhere, and only once', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    await install(file, world, { takeOver: true });
    writeFileSync(file, read(file).replace('// mine', '// ours'));
    await uninstall(file, world);
    expect(read(file)).toBe(SERVERS.replace('// mine', '// ours'));
    expect(readdirSync(dirname(file)).sort()).toEqual(['mcp.json', 'mcp.json.anygpt-backup']);
    expect((await uninstall(file, world)).status).toBe('absent');
  });

  it('restores servers if the user deleted our entry, or the whole file', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    await install(file, world, { takeOver: true });
    writeFileSync(file, '{"mcpServers":{"github":{"command":"mine"}}}');
    await uninstall(file, world);
    const { mcpServers } = JSON.parse(read(file));
    expect(mcpServers.github).toEqual({ command: 'mine' });
    expect(mcpServers.notes.command).toBe('npx');
    writeFileSync(file, SERVERS);
    await install(file, world, { takeOver: true });
    rmSync(file);
    await uninstall(file, world);
    expect(read(file)).toBe(SERVERS);
  });

  it('leaves everything as it was when the client’s file changed meanwhile', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    const plan = await planInstall('cursor', file, { takeOver: true }, world);
    writeFileSync(file, '{}');
    await expect(plan.write()).rejects.toThrow('changed by another program');
    expect(readdirSync(dirname(file))).toEqual(['mcp.json']);
    expect(existsSync(own(world))).toBe(false);
    writeFileSync(file, SERVERS);
    const config = write(own(world), '{"servers":[]}');
    const second = await planInstall('cursor', file, { takeOver: true }, world);
    writeFileSync(file, '{}');
    await expect(second.write()).rejects.toThrow('changed by another program');
    expect(read(config)).toBe('{"servers":[]}');
  });

  it('moves nothing unasked: if our entry is gone, installing restores the servers', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    await install(file, world, { takeOver: true });
    writeFileSync(file, '{"mcpServers":{}}');
    expect((await install(file, world)).servers).toEqual([]);
    expect(Object.keys(JSON.parse(read(file)).mcpServers)).toEqual(['anygpt', 'github', 'notes']);
    expect(existsSync(own(world))).toBe(false);
    expect(readdirSync(dirname(file)).sort()).toEqual(['mcp.json', 'mcp.json.anygpt-backup']);
  });

  it('says when the copy is gone, and takes its place out of our configuration', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    await install(file, world, { takeOver: true });
    rmSync(`${file}.anygpt-taken-over`);
    expect((await uninstall(file, world)).notes.join()).toContain('cannot be given back');
    expect(existsSync(own(world))).toBe(false);
  });

  it('leaves with the client what the gateway could not run, and does not list that twice', async () => {
    const world = newWorld();
    const file = write(
      join(world.home, 'mcp.json'),
      JSON.stringify({
        inputs: [{ id: 'pat', type: 'promptString' }],
        servers: {
          asks: { url: 'https://x.test', headers: { A: '${input:pat}' } },
          socket: { type: 'http', url: 'unix:///tmp/s' },
          fine: { command: 'f' },
          broken: { nothing: true },
        },
      }),
    );
    await trust(file, world);
    const { servers, notes } = await install(file, world, { takeOver: true }, 'vscode');
    expect(servers).toEqual(['fine']);
    expect(notes.join('\n')).toMatch(
      /asks stays in the client: VS Code asks.*\nsocket stays in the client: the gateway cannot reach/,
    );
    const config = await load(world);
    expect(config.servers.map(({ name }) => name)).toEqual(['fine']);
    expect(config.warnings).toEqual([]);
    const nothing = write(join(world.home, 'empty.json'), '{"servers":{}}');
    expect((await install(nothing, world, { takeOver: true }, 'vscode')).notes).toEqual([
      'there are no servers to take over',
    ]);
  });

  it('adds to the configuration that is in force, JSON or YAML, and takes only that out again', async () => {
    for (const [name, text] of [
      ['mcp-discovery.config.json', '{\n  // mine\n  "sources": [{ "type": "zed" }],\n  "servers": []\n}\n'],
      ['mcp-discovery.config.yaml', 'discovery:\n  # mine\n  sources:\n    - type: zed\n'],
      ['mcp-discovery.config.yml', 'servers: []\n'],
    ] as const) {
      const world = newWorld();
      const config = write(join(world.home, '.anygpt', name), text);
      const file = cursorFile(world, SERVERS);
      const { changes } = await install(file, world, { takeOver: true });
      expect(changes[1]?.path).toBe(config);
      expect((await load(world)).servers.map(({ name: one }) => one)).toEqual(['github', 'notes']);
      expect((await planInstall('cursor', file, { takeOver: true }, world)).status).toBe('unchanged');
      await uninstall(file, world);
      expect(read(config).replace(/sources: \[\]\n/, '')).toBe(text);
    }
  });

  it('adds to the configuration that is named, which uninstall finds again', async () => {
    const world = newWorld();
    const config = write(join(world.home, 'my.json'), '{"servers":[]}');
    const file = cursorFile(world, SERVERS);
    await install(file, world, { takeOver: true, config });
    expect(JSON.parse(read(config)).sources).toEqual([{ type: 'cursor', path: `${file}.anygpt-taken-over` }]);
    await uninstall(file, world);
    expect(JSON.parse(read(config))).toEqual({ sources: [], servers: [] });
  });

  it('gives a server of the user’s own file no project, so that one that needs it stays with the client', async () => {
    const world = newWorld();
    const file = cursorFile(
      world,
      '{"mcpServers":{"here":{"command":"x","args":["${workspaceFolder}"]},"script":{"command":"./run","args":["."]},"plain":{"command":"./run","cwd":"tools"}}}',
    );
    const { servers, notes } = await install(file, world, { takeOver: true });
    expect(servers).toEqual(['plain']);
    expect(notes.join()).toContain('here stays in the client: it uses ${workspaceFolder}');
    const config = await load(world);
    expect(config.sources).toMatchObject([{ scope: 'user', status: 'ok' }]);
    expect(notes.join()).toContain(
      'script stays in the client: behind the gateway it would start in your home folder, and it has "./run", "."; write the full path',
    );
    // Not the folder the client works in, which may be an untrusted clone.
    expect(config.servers[0]?.connection).toMatchObject({
      command: join(world.home, 'run'),
      cwd: join(world.home, 'tools'),
    });
  });

  it('keeps names: a source for the whole client brings what was moved, another one is added behind all', async () => {
    const world = newWorld();
    const cursor = cursorFile(world, '{"mcpServers":{"files":{"command":"c"}}}');
    const warp = write(join(world.home, '.warp', '.mcp.json'), '{"mcpServers":{"files":{"command":"w"}}}');
    const text = '{"sources":[{"type":"cursor"},{"type":"warp"}]}';
    const config = write(own(world), text);
    const names = async () =>
      (await load(world)).servers.map(({ name, connection }) => [name, 'command' in connection && connection.command]);
    const before = await names();
    expect(before).toEqual([
      ['files', 'c'],
      ['warp/files', 'w'],
    ]);
    await install(warp, world, { takeOver: true }, 'warp');
    await install(cursor, world, { takeOver: true });
    expect([await names(), read(config)]).toEqual([before, text]);
    await uninstall(warp, world, 'warp');
    for (const [one, many] of [
      ['{"sources":[{"type":"cursor"}]}', false],
      ['{\n  "sources": [\n    { "type": "cursor" } // mine\n  ]\n}\n', false],
      ['{\n  "sources": [\n    { "type": "cursor" }, // mine\n  ],\n}\n', true],
    ] as const) {
      writeFileSync(config, one);
      await install(warp, world, { takeOver: true }, 'warp');
      expect(await names()).toEqual(before);
      expect(read(config).includes('},\n  ]')).toBe(many);
      await uninstall(warp, world, 'warp');
      expect(read(config)).toBe(one);
    }
  });

  it('is renewed where our configuration lost the servers', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    await install(file, world, { takeOver: true });
    writeFileSync(own(world), '{"servers":[]}');
    const text = read(file);
    expect((await install(file, world)).status).toBe('updated');
    expect(read(file)).toBe(text);
    expect((await load(world)).servers).toHaveLength(2);
    expect((await install(file, world)).status).toBe('unchanged');
  });

  it('of two that were planned at once the second does nothing', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    const [first, second] = await Promise.all([1, 2].map(() => planInstall('cursor', file, { takeOver: true }, world)));
    await first?.write();
    const after = [read(file), read(own(world)), read(`${file}.anygpt-taken-over`)];
    await expect(second?.write()).rejects.toThrow('changed by another program');
    expect([read(file), read(own(world)), read(`${file}.anygpt-taken-over`)]).toEqual(after);
    expect(existsSync(lockPath(file))).toBe(false);
    const plans = await Promise.all([1, 2].map(() => planUninstall('cursor', file, {}, world)));
    await plans[0]?.write();
    await expect(plans[1]?.write()).rejects.toThrow('changed by another program');
    expect(read(file)).toBe(SERVERS);
  });

  it('takes a failure back, but never a copy of servers that have left the client', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    const plan = await planInstall('cursor', file, { takeOver: true }, world);
    mkdirSync(join(`${file}.anygpt-taken-over`, 'in the way'), { recursive: true });
    await expect(plan.write()).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    expect([read(file), existsSync(own(world))]).toEqual([SERVERS, false]);
    const part = { found: { path: file, target: file, text: '' }, place: { way: ['mcpServers'], list: false } };
    expect(await isStillThere(part, ['github', 'notes'])).toBe(true);
    expect(await isStillThere(part, ['github', 'gone'])).toBe(false);
    writeFileSync(file, '{ broken');
    expect(await isStillThere(part, [])).toBe(false);
  });

  it('makes our folder private', async () => {
    const world = newWorld();
    await install(cursorFile(world, SERVERS), world, { takeOver: true });
    expect(statSync(join(world.home, '.anygpt')).mode & 0o777).toBe(0o700);
  });

  it('changes nothing where our configuration is code', async () => {
    const world = newWorld();
    write(join(world.home, '.anygpt', 'mcp-discovery.config.ts'), 'export default { servers: [] };');
    const file = cursorFile(world, SERVERS);
    await expect(install(file, world, { takeOver: true })).rejects.toThrow(
      'is code, which cannot be edited automatically',
    );
    expect(read(file)).toBe(SERVERS);
    expect(readdirSync(dirname(file))).toEqual(['mcp.json']);
  });

  it('names the variables a gateway elsewhere has to have', async () => {
    const world = newWorld();
    const file = cursorFile(world, SERVERS);
    const { notes } = await planInstall('cursor', file, { takeOver: true, url: 'http://x.test' }, world);
    expect(notes).toEqual(['set these variables where the gateway runs: GITHUB_TOKEN']);
  });

  it('keeps a project’s own paths right when its file is named', async () => {
    const world = newWorld();
    const text = '{"mcpServers":{"a":{"command":"./run","env":{"R":"${workspaceFolder}"}}}}';
    const file = write(join(world.cwd, '.cursor', 'mcp.json'), text);
    await trust(file, world);
    await install(file, world, { takeOver: true });
    expect((await load(world)).servers[0]?.connection).toMatchObject({
      command: join(world.cwd, 'run'),
      env: { R: world.cwd },
    });
    await uninstall(file, world);
    expect(read(file)).toBe(text);
  });
});

describe('secret values', () => {
  it('are those of environments, headers, logins and addresses; references and our own entry are none', () => {
    expect(
      secretValues({
        a: { env: { A: 'hidden-1', B: '${NAME}', C: 'x' }, url: 'https://user:pass@x.test/?key=hidden-2' },
        anygpt: { env: { ANYGPT_GATEWAY: '1', PATH: '/usr/bin:/bin' } },
        list: [{ headers: { Authorization: 'Bearer hidden-3' } }, { myApiKey: 'hidden-4' }],
      }),
    ).toEqual({ anywhere: ['Bearer hidden-3', 'user:pass', 'hidden-1', 'hidden-4', 'hidden-2'], named: [] });
  });

  it('are hidden only behind their names where something else is called the same, and settings are none', () => {
    expect(
      secretValues({
        servers: [
          {
            name: 'list-err',
            args: ['x', '-pHunter2Hunter2', '--pin', '4711'],
            env: { MODE: 'listerr', A: 'list-err' },
          },
          { name: 'b', env: { PIN_TOKEN: '471', API_KEY: 'sesame', TOKEN_LIMIT: '12', AUTH: 'none' } },
        ],
      }),
    ).toEqual({
      anywhere: ['-pHunter2Hunter2', 'Hunter2Hunter2'],
      named: [
        { name: '--pin', value: '4711' },
        { name: 'A', value: 'list-err' },
        { name: 'PIN_TOKEN', value: '471' },
        { name: 'API_KEY', value: 'sesame' },
      ],
    });
  });
});

import { chmodSync, existsSync, truncateSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationLoader } from '../../config/configuration-loader.ts';
import type { World } from '../../config/world.ts';
import { CLIENT_TYPES, type ClientType, clientOf } from './clients.ts';
import { fromClientDocument } from './import-client-document.ts';
import { importFile } from './import-file.ts';

let home: string;
let world: World;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'anygpt-hostile-'));
  world = { home, cwd: home, env: {}, platform: 'linux' };
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function put(content: string | Uint8Array, place = '.cursor/mcp.json'): Promise<string> {
  const path = join(home, place);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}
const load = (type: ClientType = 'cursor') => new ConfigurationLoader(world).resolve({ sources: [{ type }] });
const trusting = async () => true;
const context = () => ({ world, base: home, isTrusted: trusting, isTrustedProject: trusting });
const SECRET = 'hunter2-very-secret';

describe('a file that cannot be used gives a precise message, and nothing of it', () => {
  it.each([
    ['empty', '', /mcp\.json is empty, so there are no servers in it\.$/],
    ['white space', ' \n\t ', /is empty/],
    [
      'half-written',
      `{"mcpServers": {"a": {"command": "${SECRET}`,
      /mcp\.json:1:34 is not valid JSON: expected the string/,
    ],
    [
      'cut after a key',
      '{"mcpServers": {\n  "a":',
      /mcp\.json:2:7 is not valid JSON: expected a value, but the file ends/,
    ],
    ['damaged', `{"mcpServers": {"a": {"command": ${SECRET}}}}`, /mcp\.json:1:34 is not valid JSON/],
    ['something else', '<html></html>', /mcp\.json:1:1 is not valid JSON/],
    ['a list', '[]', /has no servers: expected an object\.$/],
    ['servers of the wrong kind', '{"mcpServers": 5}', /has no servers: expected mcpServers to be a map of servers\.$/],
    ['too deep', `{"mcpServers": ${'['.repeat(1_000)}`, /expected at most 200 levels/],
    ['not text', new Uint8Array([0xff, 0xfe, 0x00, 0x80]), /is not UTF-8 text/],
  ] as const)('%s', async (_what, content, message) => {
    const path = await put(content);
    const before = await readFile(path);
    const config = await load();
    expect(config.servers).toEqual([]);
    expect(config.sources).toMatchObject([{ path, status: 'error', serverCount: 0 }]);
    expect(config.sources[0]?.message).toMatch(message);
    expect(config.warnings.join()).not.toContain(SECRET);
    expect(await readFile(path)).toEqual(before);
  });

  it('TOML and YAML with a mistake, without quoting what is there', async () => {
    await put(`[mcp_servers.a]\ncommand = ${SECRET}\n`, '.codex/config.toml');
    await put(`extensions:\n  a: {cmd: "${SECRET}\n`, '.config/goose/config.yaml');
    const [codex, goose] = [await load('codex'), await load('goose')];
    expect(codex.sources[0]?.message).toMatch(/config\.toml:2:11 is not valid TOML: invalid value/);
    expect(goose.sources[0]?.message).toMatch(/config\.yaml:\d+:\d+ is not valid YAML/);
    expect([...codex.warnings, ...goose.warnings].join()).not.toContain(SECRET);
  });

  it('50 MB: it is not even read', async () => {
    const path = await put('{}');
    truncateSync(path, 50 * 1024 * 1024);
    expect((await load()).sources[0]?.message).toMatch(/is larger than 5 MiB/);
  });

  it('a folder, and what may not be read', async () => {
    await mkdir(join(home, '.cursor/mcp.json'), { recursive: true });
    expect((await load()).sources[0]?.message).toMatch(/is a folder/);
    const path = await put('{}', '.kiro/settings/mcp.json');
    chmodSync(path, 0o000);
    const { sources } = await load('kiro');
    // Root may read every file.
    if (process.getuid?.() !== 0) expect(sources[0]?.message).toMatch(/may not be read by this user/);
    else expect(sources[0]?.status).toBe('ok');
  });

  it('links: to a file they count, to nothing, to themselves and to a device they are refused', async () => {
    const real = await put('{"mcpServers": {"a": {"command": "a"}}}', 'dotfiles/mcp.json');
    const link = join(home, '.cursor', 'mcp.json');
    await mkdir(dirname(link));
    const linked = async (target: string) => {
      await rm(link, { force: true });
      await symlink(target, link);
      const config = await load();
      return { message: config.sources[0]?.message, names: config.servers.map(({ name }) => name) };
    };
    expect(await linked(real)).toEqual({ message: undefined, names: ['a'] });
    expect((await linked('/nowhere/at/all')).message).toBe(`${link} is a symbolic link to a file that does not exist.`);
    expect((await linked(link)).message).toMatch(/cannot be read \(ELOOP\)/);
    expect((await linked('/dev/zero')).message).toMatch(/is not a regular file/);
    const shadow = await put('root:$6$secret-hash:19000:0:99999:7:::', 'shadow');
    const { message } = await linked(shadow);
    expect(message).toMatch(/mcp\.json:1:1 is not valid JSON/);
    expect(message).not.toContain('secret-hash');
  });

  it('a broken file beside the servers costs the source, not the wrong state', async () => {
    await put('{"mcpServers": {"a": {"command": "a"}}}', '.gemini/settings.json');
    await put('{"a": {"enabled": false}}', '.gemini/mcp-server-enablement.json');
    expect((await load('gemini-cli')).servers).toMatchObject([{ name: 'a', enabled: false }]);
    await put('{"a": ', '.gemini/mcp-server-enablement.json');
    expect((await load('gemini-cli')).sources[0]?.message).toContain(
      'mcp-server-enablement.json:1:7 is not valid JSON',
    );
  });
});

describe('whatever a file holds', () => {
  const marker = () => join(home, 'started');

  it('nothing is started and nothing is looked up', async () => {
    const command = `touch ${marker()}`;
    await put(
      JSON.stringify({
        mcp: {
          a: { type: 'stdio', command: 'sh', args: ['-c', `$(${command})`], env: { T: `\`${command}\`` } },
          b: { type: 'stdio', command: `$(${command})` },
          c: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { H: '${X:=y}' } },
        },
      }),
      '.config/crush/crush.json',
    );
    const config = await load('crush');
    expect(config.servers.map(({ enabled }) => enabled)).toEqual([false, false, false]);
    expect(config.warnings.join('\n')).toMatch(
      /it runs a shell command for a value; shell commands are never run here/,
    );
    expect(existsSync(marker())).toBe(false);
  });

  it('names like __proto__ and constructor are names', async () => {
    await put('{"mcpServers": {"__proto__": {"command": "p"}, "constructor": {"command": "c"}}}');
    const { servers } = await load();
    expect(servers.map(({ name }) => name)).toEqual(['__proto__', 'constructor']);
    expect(servers[0]?.connection).toMatchObject({ command: 'p' });
    expect(({} as Record<string, unknown>).command).toBeUndefined();
  });

  it.each(CLIENT_TYPES)('importing never throws: %s', (type) => {
    const client = clientOf(type);
    const keys = [
      'command',
      'args',
      'env',
      'url',
      'type',
      'transport',
      'headers',
      'timeout',
      'tools',
      'cmd',
      'auth',
      'envFile',
    ];
    const entry = fc.dictionary(
      fc.constantFrom(...keys),
      fc.oneof(fc.anything(), fc.string(), fc.constant('${workspaceFolder}$X%Y%')),
    );
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.dictionary(fc.string(), fc.oneof(entry, fc.anything()))), (servers) => {
        const way = client.keys[0] ?? [];
        const document = way.reduceRight<unknown>((inner, key) => ({ [key]: inner }), servers);
        fromClientDocument(client, { document, file: join(home, 'x'), scope: 'user' }, world);
        fromClientDocument(client, { document: servers, file: join(home, 'x'), beside: servers }, world);
      }),
      { numRuns: 60 },
    );
  });

  it('a fixture cut off anywhere is an error with its place, or what can still be read', async () => {
    const fixtures = fileURLToPath(new URL('../../../test/fixtures/clients/', import.meta.url));
    const files = [
      ['vscode', 'vscode/mcp.json'],
      ['codex', 'codex/config.toml'],
      ['continue', 'continue/config.yaml'],
    ] as const;
    for (const [type, file] of files) {
      const text = await readFile(join(fixtures, file), 'utf8');
      const path = await put('', `cut/${type}-${file.replace('/', '-')}`);
      for (let length = 1; length < text.length; length += 7) {
        await writeFile(path, text.slice(0, length));
        const { source, entries } = await importFile({ type, path }, context());
        if (source.status === 'ok') continue;
        expect(source).toMatchObject({ status: 'error', message: expect.stringContaining(path) });
        expect(entries).toEqual([]);
      }
    }
  });
});

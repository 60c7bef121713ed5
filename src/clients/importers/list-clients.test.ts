import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { World } from '../../config/world.ts';
import { CLIENT_TYPES, type ClientType, clientOf } from './clients.ts';
import { countingFiles, listClients } from './list-clients.ts';

const MAC = '~/Library/Application Support';
const WIN = '~/AppData/Roaming';
/** The first user file of each client on Linux, macOS and Windows, copied by hand from the vendors' documentation. */
const PLACES: Readonly<Record<ClientType, string | readonly [linux: string, mac: string, windows: string]>> = {
  'claude-desktop': [
    '~/.config/Claude/claude_desktop_config.json',
    `${MAC}/Claude/claude_desktop_config.json`,
    `${WIN}/Claude/claude_desktop_config.json`,
  ],
  'claude-code': '~/.claude.json',
  cursor: '~/.cursor/mcp.json',
  vscode: ['~/.config/Code/User/mcp.json', `${MAC}/Code/User/mcp.json`, `${WIN}/Code/User/mcp.json`],
  devin: ['~/.config/devin/mcp_config.json', '~/.config/devin/mcp_config.json', `${WIN}/devin/mcp_config.json`],
  windsurf: '~/.windsurf/mcp.json',
  'docker-mcp': '~/.docker/mcp-servers.json',
  codex: '~/.codex/config.toml',
  'gemini-cli': '~/.gemini/settings.json',
  'qwen-code': '~/.qwen/settings.json',
  zed: ['~/.config/zed/settings.json', '~/.config/zed/settings.json', `${WIN}/Zed/settings.json`],
  cline: '~/.cline/data/settings/cline_mcp_settings.json',
  'roo-code': [
    '~/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json',
    `${MAC}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json`,
    `${WIN}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json`,
  ],
  continue: '~/.continue/config.yaml',
  opencode: '~/.config/opencode/opencode.json',
  goose: ['~/.config/goose/config.yaml', '~/.config/goose/config.yaml', `${WIN}/Block/goose/config/config.yaml`],
  'lm-studio': '~/.lmstudio/mcp.json',
  'amazon-q': '~/.aws/amazonq/mcp.json',
  kiro: '~/.kiro/settings/mcp.json',
  junie: '~/.junie/mcp/mcp.json',
  'jetbrains-ai-assistant': '~/.ai/mcp/mcp.json',
  warp: '~/.warp/.mcp.json',
  'copilot-cli': '~/.copilot/mcp-config.json',
  factory: '~/.factory/mcp.json',
  amp: '~/.config/amp/settings.json',
  crush: '~/.config/crush/crush.json',
  trae: ['~/.config/Trae/User/mcp.json', `${MAC}/Trae/User/mcp.json`, `${WIN}/Trae/User/mcp.json`],
  antigravity: '~/.gemini/config/mcp_config.json',
  'mistral-vibe': '~/.vibe/config.toml',
};

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'anygpt-list-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const worldOf = (changes: Partial<World> = {}): World => ({
  home,
  cwd: join(home, 'project'),
  env: {},
  platform: 'linux',
  ...changes,
});
async function write(path: string, content = ''): Promise<string> {
  const full = join(home, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, content);
  return full;
}
const userFiles = (type: ClientType, changes?: Partial<World>) => clientOf(type).user(worldOf(changes));

describe('the places of a client', () => {
  it.each(CLIENT_TYPES)('are right on every platform: %s', (type) => {
    const written = PLACES[type];
    const each = typeof written === 'string' ? [written, written, written] : written;
    const found = (['linux', 'darwin', 'win32'] as const).map((platform) => userFiles(type, { platform })[0]);
    expect(found).toEqual(each.map((path) => path.replace('~', home)));
  });

  it('follow the variables that move them', () => {
    const first = (type: ClientType, env: Record<string, string>, platform: NodeJS.Platform = 'linux') =>
      userFiles(type, { env, platform })[0];
    expect(first('claude-desktop', { XDG_CONFIG_HOME: '/x' })).toBe('/x/Claude/claude_desktop_config.json');
    expect(first('claude-desktop', { APPDATA: '/r' }, 'win32')).toBe('/r/Claude/claude_desktop_config.json');
    expect(first('claude-code', { CLAUDE_CONFIG_DIR: '/c' })).toBe('/c/.claude.json');
    expect(first('codex', { CODEX_HOME: '/c' })).toBe('/c/config.toml');
    expect(first('copilot-cli', { COPILOT_HOME: '/c' })).toBe('/c/mcp-config.json');
    expect(first('cline', { CLINE_MCP_SETTINGS_PATH: '/c.json' })).toBe('/c.json');
    expect(first('cline', { CLINE_DATA_DIR: '/d' })).toBe('/d/settings/cline_mcp_settings.json');
    expect(first('cline', { CLINE_DIR: '/d' })).toBe('/d/data/settings/cline_mcp_settings.json');
    expect(first('opencode', { OPENCODE_CONFIG: '/o.json' })).toBe('/o.json');
    expect(first('opencode', { OPENCODE_CONFIG_DIR: '/o' })).toBe('/o/opencode.json');
    expect(first('crush', { CRUSH_GLOBAL_CONFIG: '/c' })).toBe('/c/crush.json');
    expect(first('zed', { FLATPAK_XDG_CONFIG_HOME: '/z' })).toBe('/z/zed/settings.json');
    expect(userFiles('claude-desktop', { platform: 'win32', env: { LOCALAPPDATA: '/l' } })[1]).toBe(
      '/l/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json',
    );
    expect(userFiles('crush', { platform: 'win32', env: { LOCALAPPDATA: '/l' } })[1]).toBe('/l/crush/crush.json');
  });

  it('follow the pointer of LM Studio, if it can be read', async () => {
    await write('.lmstudio-home-pointer', '/moved/here\n');
    expect(userFiles('lm-studio')).toEqual(['/moved/here/mcp.json']);
    await rm(join(home, '.lmstudio-home-pointer'));
    await mkdir(join(home, '.lmstudio-home-pointer'));
    expect(userFiles('lm-studio')).toEqual([join(home, '.lmstudio', 'mcp.json')]);
  });
});

describe('listClients', () => {
  it('names every client with its candidates and whether they exist, without opening one', async () => {
    const file = await write('.cursor/mcp.json', 'not even JSON');
    const shared = await write('project/.cursor/mcp.json');
    const listed = listClients(worldOf());
    expect(listed.map(({ type }) => type)).toEqual(CLIENT_TYPES);
    const cursor = listed.find(({ type }) => type === 'cursor');
    expect(cursor).toEqual({
      type: 'cursor',
      title: 'Cursor',
      keys: ['mcpServers'],
      files: [
        { path: file, scope: 'user', exists: true, former: false },
        { path: shared, scope: 'project', exists: true, former: false, root: join(home, 'project') },
      ],
    });
    expect(listed.find(({ type }) => type === 'amp')?.keys).toEqual(['amp.mcpServers']);
    expect(listed.find(({ type }) => type === 'claude-code')?.files.map(({ scope }) => scope)).toEqual([
      'user',
      'system',
      'project',
    ]);
  });

  it('works with the world of this process', () => {
    expect(listClients()).toHaveLength(CLIENT_TYPES.length);
  });

  it('finds the files a star stands for, sorted, and shows the pattern when there is none', async () => {
    const paths = () =>
      listClients(worldOf())
        .find(({ type }) => type === 'continue')
        ?.files.map(({ path }) => path);
    expect(paths()).toContain(join(home, '.continue/mcpServers/*.yaml'));
    const files = [await write('.continue/mcpServers/a.yaml'), await write('.continue/mcpServers/b.yaml')];
    await write('.continue/mcpServers/c.txt');
    const profile = await write('.config/Code/User/profiles/-1a2b/mcp.json');
    expect(paths()).toEqual(expect.arrayContaining(files));
    expect(paths()?.join()).not.toContain('c.txt');
    expect(countingFiles(clientOf('vscode'), worldOf()).map(({ path }) => path)).toEqual([profile]);
  });

  it('counts former places only while there is no newer file, and dangling links always', async () => {
    const paths = () => countingFiles(clientOf('antigravity'), worldOf()).map(({ path }) => path);
    const former = await write('.gemini/antigravity/mcp_config.json');
    expect(paths()).toEqual([former]);
    await mkdir(join(home, '.gemini/config'));
    await symlink('nowhere', join(home, '.gemini/config/mcp_config.json'));
    expect(paths()).toEqual([join(home, '.gemini/config/mcp_config.json')]);
  });
});

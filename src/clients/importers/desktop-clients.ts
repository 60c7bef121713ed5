/**
 * Lists desktop programs, editors and their extensions: where each keeps its files, and its server format.
 * @module
 */
import { join } from 'node:path';
import { folderNamed, type World } from '../../config/world.ts';
import * as to from '../installers/gateway-entry.ts';
import { fromCline, fromContinue, fromZed } from './adapters.ts';
import { BRACES, type Client, calls, connects, inEditors, inHome, LITERAL, MCP_SERVERS } from './client.ts';
import { continueEntries, dockerEntries } from './containers.ts';
import * as place from './places.ts';
import type { ClientType } from './source-types.ts';

const clineHome = (world: World): string => folderNamed('CLINE_DIR', world) ?? join(world.home, '.cline');

/** Desktop programs, editors and their extensions, by source type. */
export const DESKTOP_CLIENTS = {
  'claude-desktop': {
    title: 'Claude Desktop',
    user: (world) => {
      const file = join('Claude', 'claude_desktop_config.json');
      const store = join(place.localAppData(world), 'Packages', 'Claude_pzs8sxrjxfjjc', 'LocalCache', 'Roaming', file);
      return [join(place.applicationData(world), file), ...(world.platform === 'win32' ? [store] : [])];
    },
    keys: MCP_SERVERS,
    dialect: LITERAL,
    install: {
      entry: to.CLAUDE_DESKTOP,
      everywhere: true,
      shortPath: true,
      next: 'Quit Claude Desktop completely and start it again.',
    },
  },
  cursor: {
    title: 'Cursor',
    user: inHome('.cursor/mcp.json'),
    project: ['.cursor/mcp.json'],
    keys: MCP_SERVERS,
    dialect: { variables: 'vscode', redirectUri: 'http://localhost:8787/callback' },
    install: { ...to.COMMON, next: 'Restart Cursor, or switch anygpt on in Settings > MCP.' },
  },
  vscode: {
    title: 'VS Code',
    user: (world) => [
      ...['Code', 'Code - Insiders'].flatMap((editor) =>
        ['mcp.json', 'profiles/*/mcp.json'].map((path) => join(place.editorFolder(world, editor), path)),
      ),
      join(world.home, '.vscode-server', 'data', 'User', 'mcp.json'),
    ],
    project: ['.vscode/mcp.json', '.devcontainer/devcontainer.json', '.devcontainer.json'],
    keys: [['servers'], ['customizations', 'vscode', 'mcp', 'servers']],
    dialect: { variables: 'vscode', redirectUri: 'http://127.0.0.1:33418' },
    install: {
      ...to.TYPED,
      files: (world) =>
        ['Code', 'Code - Insiders'].map((editor) => join(place.editorFolder(world, editor), 'mcp.json')),
      everywhere: true,
      way: (_document, file) =>
        /devcontainer\.json$/.test(file) ? ['customizations', 'vscode', 'mcp', 'servers'] : ['servers'],
      next: 'Run "MCP: List Servers" in VS Code and start anygpt.',
    },
  },
  devin: {
    title: 'Devin',
    user: (world) => [join(devinFolder(world), 'mcp_config.json')],
    former: (world) => [join(devinFolder(world), 'config.json')],
    project: ['.devin/mcp_config.local.json', '.devin/mcp_config.json'],
    keys: MCP_SERVERS,
    dialect: BRACES,
    install: to.SERVER_URL,
  },
  windsurf: {
    title: 'Windsurf',
    user: inHome(
      '.windsurf/mcp.json',
      '.codeium/windsurf/mcp_config.json',
      '.codeium/windsurf-next/mcp_config.json',
      '.codeium/mcp_config.json',
    ),
    keys: MCP_SERVERS,
    dialect: BRACES,
    install: {
      ...to.SERVER_URL,
      // Windsurf itself does not read `.windsurf/mcp.json`.
      files: inHome(
        '.codeium/windsurf/mcp_config.json',
        '.codeium/windsurf-next/mcp_config.json',
        '.codeium/mcp_config.json',
      ),
      everywhere: true,
    },
  },
  'docker-mcp': {
    title: 'Docker MCP Toolkit',
    user: inHome('.docker/mcp-servers.json', '.docker/mcp/registry.yaml'),
    keys: MCP_SERVERS,
    find: dockerEntries,
    dialect: BRACES,
    install: {
      ...to.COMMON,
      instead: {
        text: 'The Docker MCP Toolkit runs servers of its own catalog and takes no others. Install this gateway into your client instead; `{ type: "docker-mcp" }` in `sources` puts the Toolkit behind it.',
        always: true,
      },
    },
  },
  zed: {
    title: 'Zed',
    user: (world) => [
      join(
        place.byPlatform(world, {
          darwin: join(world.home, '.config', 'zed'),
          win32: join(place.appData(world), 'Zed'),
          linux: join(folderNamed('FLATPAK_XDG_CONFIG_HOME', world) ?? place.xdgConfig(world), 'zed'),
        }),
        'settings.json',
      ),
    ],
    project: ['.zed/settings.json'],
    keys: [['context_servers']],
    dialect: { ...LITERAL, timeouts: [calls(1_000)] },
    adapt: fromZed,
    install: to.COMMON,
  },
  cline: {
    title: 'Cline',
    user: (world) => {
      const data = folderNamed('CLINE_DATA_DIR', world) ?? join(clineHome(world), 'data');
      return [folderNamed('CLINE_MCP_SETTINGS_PATH', world) ?? join(data, 'settings', 'cline_mcp_settings.json')];
    },
    former: inEditors('globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json'),
    keys: MCP_SERVERS,
    dialect: { ...LITERAL, urlWithoutType: 'sse', timeouts: [calls(1_000)] },
    adapt: fromCline,
    install: { entry: to.CLINE, home: clineHome },
  },
  'roo-code': {
    title: 'Roo Code',
    user: inEditors('globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json'),
    project: ['.roo/mcp.json'],
    keys: MCP_SERVERS,
    dialect: { variables: 'vscode', urlWithoutType: 'sse', timeouts: [calls(1_000)] },
    install: { entry: to.ROO_CODE, everywhere: true },
  },
  continue: {
    title: 'Continue',
    user: inHome(
      '.continue/config.yaml',
      '.continue/mcpServers/*.yaml',
      '.continue/mcpServers/*.yml',
      '.continue/mcpServers/*.json',
    ),
    former: inHome('.continue/config.json'),
    project: ['.continue/mcpServers/*.yaml', '.continue/mcpServers/*.yml', '.continue/mcpServers/*.json'],
    keys: MCP_SERVERS,
    find: continueEntries,
    dialect: { variables: 'continue', timeouts: [connects(1, 'connectionTimeout')] },
    adapt: fromContinue,
    install: {
      entry: to.CONTINUE,
      files: inHome('.continue/config.yaml', '.continue/mcpServers/anygpt.yaml'),
      // A new config.yaml would hide an older config.json.
      create: ({ home }) => join(home, '.continue', 'mcpServers', 'anygpt.yaml'),
      home: ({ home }) => join(home, '.continue'),
      blank: 'name: anygpt\nversion: 0.0.1\nschema: v1\n',
      list: (file) => /\.ya?ml$/i.test(file),
      way: ({ mcpServers, command, url }) =>
        mcpServers === undefined && (command ?? url) !== undefined ? 'it holds a single server' : ['mcpServers'],
    },
  },
  'lm-studio': {
    title: 'LM Studio',
    user: (world) => [join(place.lmStudioHome(world), 'mcp.json')],
    former: inHome('.cache/lm-studio/mcp.json'),
    keys: MCP_SERVERS,
    dialect: LITERAL,
    install: { ...to.COMMON, shortPath: true },
  },
  kiro: {
    title: 'Kiro',
    user: inHome('.kiro/settings/mcp.json', '.kiro/agents/*.json'),
    project: ['.kiro/agents/*.json', '.kiro/settings/mcp.json'],
    keys: MCP_SERVERS,
    dialect: { ...BRACES, timeouts: [calls(1)] },
    install: { ...to.COMMON, home: ({ home }) => join(home, '.kiro') },
  },
  junie: {
    title: 'Junie',
    user: inHome('.junie/mcp/mcp.json'),
    project: ['.junie/mcp/mcp.json'],
    keys: MCP_SERVERS,
    dialect: LITERAL,
    install: { ...to.COMMON, home: ({ home }) => join(home, '.junie') },
  },
  'jetbrains-ai-assistant': {
    title: 'JetBrains AI Assistant',
    user: inHome('.ai/mcp/mcp.json'),
    project: ['.ai/mcp/mcp.json'],
    keys: MCP_SERVERS,
    dialect: LITERAL,
    install: {
      ...to.COMMON,
      instead: {
        text: 'JetBrains AI Assistant keeps its servers in a dialog: Settings > Tools > AI Assistant > Model Context Protocol (MCP) > Add > As JSON. Paste this:',
      },
    },
  },
  warp: {
    title: 'Warp',
    user: inHome('.warp/.mcp.json'),
    project: ['.warp/.mcp.json'],
    keys: MCP_SERVERS,
    dialect: LITERAL,
    install: to.COMMON,
  },
  trae: {
    title: 'Trae',
    user: (world) => [join(place.editorFolder(world, 'Trae'), 'mcp.json'), join(world.home, '.trae', 'traecli.toml')],
    project: ['.trae/mcp.json'],
    keys: [['mcpServers'], ['mcp_servers']],
    dialect: LITERAL,
    install: {
      ...to.COMMON,
      everywhere: true,
      way: (_document, file) => [/\.toml$/i.test(file) ? 'mcp_servers' : 'mcpServers'],
    },
  },
  antigravity: {
    title: 'Antigravity',
    user: inHome('.gemini/config/mcp_config.json'),
    former: inHome('.gemini/antigravity/mcp_config.json'),
    keys: MCP_SERVERS,
    dialect: BRACES,
    install: to.SERVER_URL,
  },
} as const satisfies Readonly<Partial<Record<ClientType, Client>>>;

function devinFolder(world: World): string {
  return join(world.platform === 'win32' ? place.appData(world) : place.xdgConfig(world), 'devin');
}

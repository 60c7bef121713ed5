/**
 * Lists agents for the terminal: where each keeps its files, and its server format.
 * @module
 */
import { join } from 'node:path';
import { folderNamed } from '../../config/world.ts';
import * as to from '../installers/gateway-entry.ts';
import { fromCodex, fromGoose, fromOpenCode, fromVibe } from './adapters.ts';
import { BRACES, type Client, calls, connects, inHome, LITERAL, MCP_SERVERS, STARTUP_AND_TOOL } from './client.ts';
import {
  bareMap,
  claudeCodeEntries,
  claudeCodeExcerpt,
  isServerMap,
  openCodeEntries,
  openCodeWay,
} from './containers.ts';
import * as place from './places.ts';
import type { ClientType } from './source-types.ts';
import { claudeCodeSwitches, geminiSwitches } from './switches.ts';

/** Agents for the terminal, by source type. */
export const TERMINAL_CLIENTS = {
  'claude-code': {
    title: 'Claude Code',
    user: (world) => [join(folderNamed('CLAUDE_CONFIG_DIR', world) ?? world.home, '.claude.json')],
    system: (world) => [
      place.byPlatform(world, {
        darwin: '/Library/Application Support/ClaudeCode/managed-mcp.json',
        win32: 'C:\\Program Files\\ClaudeCode\\managed-mcp.json',
        linux: '/etc/claude-code/managed-mcp.json',
      }),
    ],
    project: ['.mcp.json'],
    keys: MCP_SERVERS,
    find: claudeCodeEntries,
    switches: claudeCodeSwitches,
    excerpt: claudeCodeExcerpt,
    dialect: { ...BRACES, urlWithoutType: 'refused', timeouts: [{ ...calls(1), atLeast: 1_000 }] },
    install: {
      entry: to.CLAUDE_CODE,
      home: (world) => folderNamed('CLAUDE_CONFIG_DIR', world) ?? join(world.home, '.claude'),
      next: 'New sessions of Claude Code have it; /mcp shows it.',
      otherWay: to.claudeCommand,
    },
  },
  codex: {
    title: 'Codex',
    user: (world) => [join(folderNamed('CODEX_HOME', world) ?? join(world.home, '.codex'), 'config.toml')],
    project: ['.codex/config.toml'],
    keys: [['mcp_servers']],
    dialect: { ...LITERAL, timeouts: STARTUP_AND_TOOL },
    adapt: fromCodex,
    install: { entry: to.CODEX, next: 'New sessions of Codex have it.' },
  },
  'gemini-cli': {
    title: 'Gemini CLI',
    user: inHome('.gemini/settings.json'),
    system: (world) => [
      place.byPlatform(world, {
        darwin: '/Library/Application Support/GeminiCli/settings.json',
        win32: join(place.programData(world), 'gemini-cli', 'settings.json'),
        linux: '/etc/gemini-cli/settings.json',
      }),
    ],
    project: ['.gemini/settings.json'],
    keys: MCP_SERVERS,
    switches: geminiSwitches,
    dialect: { variables: 'dollar', timeouts: [calls(1)], redirectUri: 'http://localhost:7777/oauth/callback' },
    install: { ...to.HTTP_URL, next: 'Start Gemini CLI again; /mcp shows it.' },
  },
  'qwen-code': {
    title: 'Qwen Code',
    user: inHome('.qwen/settings.json'),
    project: ['.qwen/settings.json', '.mcp.json'],
    keys: MCP_SERVERS,
    switches: { isOff: geminiSwitches.isOff },
    dialect: { variables: 'dollar', urlWithoutType: 'sse', timeouts: [calls(1)] },
    install: { ...to.HTTP_URL, next: 'Start Qwen Code again; /mcp shows it.' },
  },
  opencode: {
    title: 'OpenCode',
    user: (world) => {
      const { OPENCODE_CONFIG: file, OPENCODE_CONFIG_DIR: folder } = world.env;
      const usual = openCodeFiles(join(place.xdgConfig(world), 'opencode'));
      return [...(file ? [file] : []), ...(folder ? openCodeFiles(folder) : []), ...usual];
    },
    system: (world) =>
      openCodeFiles(
        place.byPlatform(world, {
          darwin: '/Library/Application Support/opencode',
          win32: join(place.programData(world), 'opencode'),
          linux: '/etc/opencode',
        }),
      ),
    project: ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
    keys: [['mcp']],
    find: openCodeEntries,
    dialect: {
      variables: 'opencode',
      timeouts: [connects(1, 'startup_timeout'), calls(1, 'request_timeout')],
      redirectUri: 'http://127.0.0.1:19876/mcp/oauth/callback',
    },
    adapt: fromOpenCode,
    install: { entry: to.OPENCODE, way: openCodeWay },
  },
  goose: {
    title: 'Goose',
    user: (world) => [
      world.platform === 'win32'
        ? join(place.appData(world), 'Block', 'goose', 'config', 'config.yaml')
        : join(place.xdgConfig(world), 'goose', 'config.yaml'),
    ],
    keys: [['extensions']],
    dialect: { ...LITERAL, timeouts: [calls(1_000)], emptyIncludeIsAll: true },
    adapt: fromGoose,
    install: { entry: to.GOOSE, next: 'New sessions of Goose have it.' },
  },
  'amazon-q': {
    title: 'Amazon Q Developer CLI',
    user: inHome('.aws/amazonq/mcp.json', '.aws/amazonq/cli-agents/*.json'),
    project: ['.amazonq/cli-agents/*.json', '.amazonq/mcp.json'],
    keys: MCP_SERVERS,
    dialect: { ...BRACES, timeouts: [calls(1)] },
    install: { ...to.TYPED_ADDRESS, next: 'New sessions of Amazon Q have it.' },
  },
  'copilot-cli': {
    title: 'GitHub Copilot CLI',
    user: (world) => [join(folderNamed('COPILOT_HOME', world) ?? join(world.home, '.copilot'), 'mcp-config.json')],
    project: ['.mcp.json', '.github/mcp.json'],
    keys: MCP_SERVERS,
    find: bareMap,
    dialect: { variables: 'dollar', timeouts: [calls(1)], toolsAreFilter: true },
    install: {
      entry: to.COPILOT_CLI,
      way: (document) => (document.mcpServers === undefined && isServerMap(document) ? [] : ['mcpServers']),
      next: 'New sessions of Copilot CLI have it; /mcp show shows it.',
    },
  },
  factory: {
    title: 'Factory Droid',
    user: inHome('.factory/mcp.json'),
    project: ['.factory/mcp.json'],
    precedence: 'user',
    keys: MCP_SERVERS,
    dialect: { ...BRACES, timeouts: [calls(1, 'timeoutMs')], includeWins: true },
    install: { ...to.FACTORY, next: 'New sessions of Droid have it; /mcp shows it.' },
  },
  amp: {
    title: 'Amp',
    user: inHome('.config/amp/settings.json', '.config/amp/settings.jsonc'),
    project: ['.amp/settings.json', '.amp/settings.jsonc'],
    keys: [['amp.mcpServers']],
    dialect: { ...BRACES, globs: true },
    install: { ...to.COMMON, next: 'New sessions of Amp have it.' },
  },
  crush: {
    title: 'Crush',
    user: (world) => {
      const local = world.platform === 'win32' ? place.localAppData(world) : place.xdgData(world);
      return [
        join(folderNamed('CRUSH_GLOBAL_CONFIG', world) ?? join(place.xdgConfig(world), 'crush'), 'crush.json'),
        join(local, 'crush', 'crush.json'),
      ];
    },
    system: () => ['/etc/crush/crush.json'],
    project: ['.crush.json', 'crush.json'],
    keys: [['mcp']],
    dialect: { variables: 'shell', timeouts: [connects(1_000)] },
    install: { ...to.TYPED, next: 'New sessions of Crush have it.' },
  },
  'mistral-vibe': {
    title: 'Mistral Vibe',
    user: inHome('.vibe/config.toml'),
    project: ['.vibe/config.toml'],
    keys: [['mcp_servers']],
    dialect: { ...LITERAL, timeouts: STARTUP_AND_TOOL },
    adapt: fromVibe,
    install: { entry: to.MISTRAL_VIBE, list: () => true, next: 'New sessions of Vibe have it.' },
  },
} as const satisfies Readonly<Partial<Record<ClientType, Client>>>;

const openCodeFiles = (folder: string): readonly string[] =>
  ['opencode.json', 'opencode.jsonc'].map((file) => join(folder, file));

/**
 * Agents for the terminal: where each keeps its files and how it writes a server.
 * @module
 */
import { join } from 'node:path';
import { fromCodex, fromGoose, fromOpenCode, fromVibe } from './adapters.ts';
import { BRACES, type Client, calls, connects, inHome, LITERAL, MCP_SERVERS, STARTUP_AND_TOOL } from './client.ts';
import { bareMap, claudeCodeEntries, openCodeEntries } from './containers.ts';
import * as place from './places.ts';
import { claudeCodeSwitches, geminiSwitches } from './switches.ts';

/** Agents for the terminal, by source type. */
export const TERMINAL_CLIENTS = {
  'claude-code': {
    title: 'Claude Code',
    user: ({ env, home }) => [join(env.CLAUDE_CONFIG_DIR || home, '.claude.json')],
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
    dialect: { ...BRACES, urlWithoutType: 'refused', timeouts: [{ ...calls(1), atLeast: 1_000 }] },
  },
  codex: {
    title: 'Codex',
    user: ({ env, home }) => [join(env.CODEX_HOME || join(home, '.codex'), 'config.toml')],
    project: ['.codex/config.toml'],
    keys: [['mcp_servers']],
    dialect: { ...LITERAL, timeouts: STARTUP_AND_TOOL },
    adapt: fromCodex,
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
    dialect: { variables: 'dollar', timeouts: [calls(1)] },
  },
  'qwen-code': {
    title: 'Qwen Code',
    user: inHome('.qwen/settings.json'),
    project: ['.qwen/settings.json', '.mcp.json'],
    keys: MCP_SERVERS,
    switches: { isOff: geminiSwitches.isOff },
    dialect: { variables: 'dollar', urlWithoutType: 'sse', timeouts: [calls(1)] },
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
    dialect: { variables: 'opencode', timeouts: [connects(1, 'startup_timeout'), calls(1, 'request_timeout')] },
    adapt: fromOpenCode,
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
  },
  'amazon-q': {
    title: 'Amazon Q Developer CLI',
    user: inHome('.aws/amazonq/mcp.json', '.aws/amazonq/cli-agents/*.json'),
    project: ['.amazonq/cli-agents/*.json', '.amazonq/mcp.json'],
    keys: MCP_SERVERS,
    dialect: { ...BRACES, timeouts: [calls(1)] },
  },
  'copilot-cli': {
    title: 'GitHub Copilot CLI',
    user: ({ env, home }) => [join(env.COPILOT_HOME || join(home, '.copilot'), 'mcp-config.json')],
    project: ['.mcp.json', '.github/mcp.json'],
    keys: MCP_SERVERS,
    find: bareMap,
    dialect: { variables: 'dollar', timeouts: [calls(1)], toolsAreFilter: true },
  },
  factory: {
    title: 'Factory Droid',
    user: inHome('.factory/mcp.json'),
    project: ['.factory/mcp.json'],
    precedence: 'user',
    keys: MCP_SERVERS,
    dialect: { ...BRACES, timeouts: [calls(1, 'timeoutMs')], includeWins: true },
  },
  amp: {
    title: 'Amp',
    user: inHome('.config/amp/settings.json', '.config/amp/settings.jsonc'),
    project: ['.amp/settings.json', '.amp/settings.jsonc'],
    keys: [['amp.mcpServers']],
    dialect: { ...BRACES, globs: true },
  },
  crush: {
    title: 'Crush',
    user: (world) => {
      const local = world.platform === 'win32' ? place.localAppData(world) : place.xdgData(world);
      return [
        join(world.env.CRUSH_GLOBAL_CONFIG || join(place.xdgConfig(world), 'crush'), 'crush.json'),
        join(local, 'crush', 'crush.json'),
      ];
    },
    system: () => ['/etc/crush/crush.json'],
    project: ['.crush.json', 'crush.json'],
    keys: [['mcp']],
    dialect: { variables: 'shell', timeouts: [connects(1_000)] },
  },
  'mistral-vibe': {
    title: 'Mistral Vibe',
    user: inHome('.vibe/config.toml'),
    project: ['.vibe/config.toml'],
    keys: [['mcp_servers']],
    dialect: { ...LITERAL, timeouts: STARTUP_AND_TOOL },
    adapt: fromVibe,
  },
} as const satisfies Readonly<Record<string, Client>>;

const openCodeFiles = (folder: string): readonly string[] =>
  ['opencode.json', 'opencode.jsonc'].map((file) => join(folder, file));

/**
 * The table of programs whose files can be imported: where each keeps its file and in which shape. A new client is a row.
 * @module
 */
import { join } from 'node:path';
import type { World } from '../world.ts';

/** The shape of a file: our own `servers` (or `mcpServers`), or the `mcpServers` map most clients write. */
export type SourceShape = 'custom' | 'mcpServers';

/** One program whose file can be imported. */
export interface SourceClient {
  readonly shape: SourceShape;
  /** Where its file usually is, most likely first. */
  readonly defaultPaths: (world: World) => readonly string[];
}

const appData = ({ env, home }: World) => env.APPDATA || join(home, 'AppData', 'Roaming');
const xdgConfig = ({ env, home }: World) => env.XDG_CONFIG_HOME || join(home, '.config');

function claudeDesktop(world: World): string {
  const file = join('Claude', 'claude_desktop_config.json');
  if (world.platform === 'darwin') return join(world.home, 'Library', 'Application Support', file);
  return join(world.platform === 'win32' ? appData(world) : xdgConfig(world), file);
}

/** Every source type a configuration may name. */
export const SOURCE_TYPES = ['custom', 'docker-mcp', 'claude-desktop', 'windsurf'] as const;

/** One of the source types. */
export type SourceType = (typeof SOURCE_TYPES)[number];

/** The clients by source type. */
export const SOURCE_CLIENTS: Readonly<Record<SourceType, SourceClient>> = {
  custom: { shape: 'custom', defaultPaths: () => [] },
  'docker-mcp': { shape: 'mcpServers', defaultPaths: ({ home }) => [join(home, '.docker', 'mcp-servers.json')] },
  'claude-desktop': { shape: 'mcpServers', defaultPaths: (world) => [claudeDesktop(world)] },
  windsurf: {
    shape: 'mcpServers',
    defaultPaths: ({ home }) => [
      join(home, '.windsurf', 'mcp.json'),
      join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    ],
  },
};

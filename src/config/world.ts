/**
 * The outside world as the configuration sees it: home, working folder, environment and platform in, places and
 * switches out. Handed in everywhere, so that nothing here asks the process behind a caller's back.
 * @module
 */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** What loading a configuration depends on beside the files themselves. */
export interface World {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** The world of this process, with whatever a caller wants different. */
export const realWorld = (changes: Partial<World> = {}): World => ({
  home: changes.home ?? homeIn(changes) ?? homedir(),
  cwd: changes.cwd ?? process.cwd(),
  env: changes.env ?? process.env,
  platform: changes.platform ?? process.platform,
});

/** An environment that is handed in says where its home is, as the process's own does to `homedir`. */
const homeIn = ({ env, platform = process.platform }: Partial<World>): string | undefined => {
  const named = platform === 'win32' ? env?.USERPROFILE : env?.HOME;
  return named && isAbsolute(named) ? named : undefined;
};

/** The folder that holds cache, trust, approvals and audit: `ANYGPT_HOME`, else `~/.anygpt`. */
export function stateFolder(world: World): string {
  const named = world.env.ANYGPT_HOME;
  if (!named) return join(world.home, '.anygpt');
  if (named === '~' || named.startsWith('~/')) return join(world.home, named.slice(1));
  return isAbsolute(named) ? named : resolve(world.cwd, named);
}

/** The environment variable that belongs to a server: `my-server` and `MCP_TOKEN` give `MY_SERVER_MCP_TOKEN`. */
export const serverVariable = (server: string, suffix: string): string =>
  `${server.toUpperCase().replace(/[^A-Z0-9]/gu, '_')}_${suffix}`;

/** Whether a switch in the environment says no. Absent and empty say nothing. */
export const isSwitchedOff = (value: string | undefined): boolean =>
  value !== undefined && ['false', '0', 'no', 'off'].includes(value.trim().toLowerCase());

/** Whether a switch in the environment says yes. */
export const isSwitchedOn = (value: string | undefined): boolean =>
  value !== undefined && ['true', '1', 'yes', 'on'].includes(value.trim().toLowerCase());

/**
 * Describes the environment that configuration depends on: home, working folder, environment variables and platform. It
 * is passed in everywhere, so that no code here reads the process directly.
 * @module
 */
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, win32 } from 'node:path';

/** Everything that loading a configuration depends on, besides the files. */
export interface World {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** For previews: nothing is expanded, and paths with references stay unknown. */
  readonly literal?: boolean | undefined;
  /** Files that the user has trusted; they are found however many others lie beside them. */
  readonly trustedFiles?: ReadonlySet<string> | undefined;
}

/** Returns the world of this process, with the caller's changes. */
export const realWorld = (changes: Partial<World> = {}): World => ({
  home: changes.home ?? homeIn(changes) ?? ownHome(),
  cwd: changes.cwd ?? process.cwd(),
  env: changes.env ?? process.env,
  platform: changes.platform ?? process.platform,
});

/** Takes the home folder from a passed-in environment, as `homedir` does from the process's own. */
const homeIn = ({ env, platform = process.platform }: Partial<World>): string | undefined => {
  const named = platform === 'win32' ? env?.USERPROFILE : env?.HOME;
  return named && isAbsolute(named) ? named : undefined;
};

/** An empty or relative `HOME` would make the working folder the user's own; the account's home is used instead. */
const ownHome = (): string => {
  const named = homedir();
  return isAbsolute(named) ? named : userInfo().homedir;
};

/** The folder of cache, trust, approvals and audit: `ANYGPT_HOME`, else `~/.anygpt`. */
export const stateFolder = (world: World): string => folderNamed('ANYGPT_HOME', world) ?? join(world.home, '.anygpt');

/** Variables that locate the user's own files and folders. All of them are read with `folderNamed`. */
export const FOLDER_VARIABLES = [
  'ANYGPT_HOME',
  'ANYGPT_CACHE_DIR',
  'ANYGPT_CONFIG',
  'APPDATA',
  'CLAUDE_CONFIG_DIR',
  'CLINE_DATA_DIR',
  'CLINE_DIR',
  'CLINE_MCP_SETTINGS_PATH',
  'CODEX_HOME',
  'COPILOT_HOME',
  'CRUSH_GLOBAL_CONFIG',
  'FLATPAK_XDG_CONFIG_HOME',
  'LOCALAPPDATA',
  'ProgramData',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
] as const;

/**
 * Returns the folder or file that an environment variable names. A relative path counts as unset: it would depend on
 * the working folder and make a project's files the user's own.
 */
export const folderNamed = (name: (typeof FOLDER_VARIABLES)[number], world: World): string | undefined =>
  absoluteFolder(world.env[name] ?? '', world);

/** Returns an absolute folder from the environment; undefined for a path that depends on the working folder. */
export function absoluteFolder(written: string, { home, platform }: World): string | undefined {
  if (written === '~' || /^~[/\\]/.test(written)) return join(home, written.slice(1));
  return isAbsolute(written) || (platform === 'win32' && isWindowsPath(written)) ? written : undefined;
}

/** With a drive or a share: `\\folder` alone depends on the current drive. */
const isWindowsPath = (path: string): boolean => win32.isAbsolute(path) && /^(?:[A-Za-z]:|[\\/]{2})/.test(path);

/** Returns one warning for every variable that is not an absolute path. */
export const relativeFolderWarnings = (world: World): readonly string[] =>
  FOLDER_VARIABLES.filter((name) => world.env[name] && folderNamed(name, world) === undefined).map(
    (name) => `The environment variable ${name} is not an absolute path, so it is ignored. Use an absolute path.`,
  );

/** Tells whether an environment switch is off. False for absent and empty. */
export const isSwitchedOff = (value: string | undefined): boolean =>
  value !== undefined && ['false', '0', 'no', 'off'].includes(value.trim().toLowerCase());

/** Tells whether an environment switch is on. */
export const isSwitchedOn = (value: string | undefined): boolean =>
  value !== undefined && ['true', '1', 'yes', 'on'].includes(value.trim().toLowerCase());

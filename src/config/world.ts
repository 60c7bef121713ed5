/**
 * The outside world as the configuration sees it: home, working folder, environment and platform in, places and
 * switches out. Handed in everywhere, so that nothing here asks the process behind a caller's back.
 * @module
 */
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, win32 } from 'node:path';

/** What loading a configuration depends on beside the files themselves. */
export interface World {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Nothing is looked up: paths with references in them stay unknown. For what is shown before it is trusted. */
  readonly literal?: boolean | undefined;
  /** Files that a person has trusted: they are found however many others lie beside them. */
  readonly trustedFiles?: ReadonlySet<string> | undefined;
}

/** The world of this process, with whatever a caller wants different. */
export const realWorld = (changes: Partial<World> = {}): World => ({
  home: changes.home ?? homeIn(changes) ?? ownHome(),
  cwd: changes.cwd ?? process.cwd(),
  env: changes.env ?? process.env,
  platform: changes.platform ?? process.platform,
});

/** An environment that is handed in says where its home is, as the process's own does to `homedir`. */
const homeIn = ({ env, platform = process.platform }: Partial<World>): string | undefined => {
  const named = platform === 'win32' ? env?.USERPROFILE : env?.HOME;
  return named && isAbsolute(named) ? named : undefined;
};

/** A `HOME` that is empty or relative would make the working folder the user's own; the account says where home is. */
const ownHome = (): string => {
  const named = homedir();
  return isAbsolute(named) ? named : userInfo().homedir;
};

/** The folder that holds cache, trust, approvals and audit: `ANYGPT_HOME`, else `~/.anygpt`. */
export const stateFolder = (world: World): string => folderNamed('ANYGPT_HOME', world) ?? join(world.home, '.anygpt');

/** Variables that say where the user's own files and folders are. All of them are read with `folderNamed`. */
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
 * The folder or file that a variable of the environment names. One that is not absolute would depend on the working folder, and
 * make files that came with a project the user's own: it counts as not set.
 */
export const folderNamed = (name: (typeof FOLDER_VARIABLES)[number], world: World): string | undefined =>
  absoluteFolder(world.env[name] ?? '', world);

/** A folder as it may be written in the environment; undefined unless it is the same wherever one works. */
export function absoluteFolder(written: string, { home, platform }: World): string | undefined {
  if (written === '~' || /^~[/\\]/.test(written)) return join(home, written.slice(1));
  return isAbsolute(written) || (platform === 'win32' && isWindowsPath(written)) ? written : undefined;
}

/** With a drive or a share: `\\folder` alone depends on the drive one works on. */
const isWindowsPath = (path: string): boolean => win32.isAbsolute(path) && /^(?:[A-Za-z]:|[\\/]{2})/.test(path);

/** One sentence for every variable that should name a folder and does not. */
export const relativeFolderWarnings = (world: World): readonly string[] =>
  FOLDER_VARIABLES.filter((name) => world.env[name] && folderNamed(name, world) === undefined).map(
    (name) => `The environment variable ${name} is not an absolute path, so it is ignored.`,
  );

/** Whether a switch in the environment says no. Absent and empty say nothing. */
export const isSwitchedOff = (value: string | undefined): boolean =>
  value !== undefined && ['false', '0', 'no', 'off'].includes(value.trim().toLowerCase());

/** Whether a switch in the environment says yes. */
export const isSwitchedOn = (value: string | undefined): boolean =>
  value !== undefined && ['true', '1', 'yes', 'on'].includes(value.trim().toLowerCase());

/**
 * Locates the folders where programs keep their files, for each platform, and expands patterns with one `*`. Uses the
 * platform of the world, but the path separators of this machine, which opens the files.
 * @module
 */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readSmallFile } from '../../config/referenced-file.ts';
import { absoluteFolder, folderNamed, type World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';

/** `~/.config`, or `XDG_CONFIG_HOME`. */
export const xdgConfig = (world: World): string => folderNamed('XDG_CONFIG_HOME', world) ?? join(world.home, '.config');
/** `~/.local/share`, or `XDG_DATA_HOME`. */
export const xdgData = (world: World): string =>
  folderNamed('XDG_DATA_HOME', world) ?? join(world.home, '.local', 'share');
/** The folder of roaming settings on Windows. */
export const appData = (world: World): string =>
  folderNamed('APPDATA', world) ?? join(world.home, 'AppData', 'Roaming');
/** The folder of local data on Windows. */
export const localAppData = (world: World): string =>
  folderNamed('LOCALAPPDATA', world) ?? join(world.home, 'AppData', 'Local');
/** The folder of machine-wide settings on Windows. */
export const programData = (world: World): string => folderNamed('ProgramData', world) ?? 'C:\\ProgramData';

/** The settings folder of desktop programs. */
export function applicationData(world: World): string {
  if (world.platform === 'darwin') return join(world.home, 'Library', 'Application Support');
  return world.platform === 'win32' ? appData(world) : xdgConfig(world);
}

/** Selects a value by platform; Linux stands for all others. */
export function byPlatform<T>({ platform }: World, values: { darwin: T; win32: T; linux: T }): T {
  return platform === 'darwin' || platform === 'win32' ? values[platform] : values.linux;
}

/** The `User` folder of an editor based on VS Code. */
export const editorFolder = (world: World, editor: string): string => join(applicationData(world), editor, 'User');

/** The editors whose extensions have files. */
export const EDITORS = ['Code', 'Code - Insiders', 'Cursor', 'Windsurf', 'VSCodium'] as const;

/** The home of LM Studio, which a pointer file may move. */
export function lmStudioHome(world: World): string {
  const { home } = world;
  const pointer = join(home, '.lmstudio-home-pointer');
  try {
    const [line = ''] = existsSync(pointer) ? readSmallFile(pointer, 'LM Studio').split(/\r?\n/) : [];
    return absoluteFolder(line.trim(), world) ?? join(home, '.lmstudio');
  } catch (error) {
    // Ignore an unreadable pointer file.
    if (error instanceof ConfigurationError) return join(home, '.lmstudio');
    throw error;
  }
}

/** Tells whether a path exists. A dangling link counts, so that it gets a message. */
export const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** The files that match a pattern. */
interface Matches {
  readonly files: readonly string[];
  /** How many more match, and are left out. */
  readonly more: number;
}

/**
 * Returns the existing files that match a pattern, sorted. A pattern without `*` matches itself; so does one whose
 * folder cannot be read, so that opening it reports the error. Trusted files are listed even beyond the limit.
 */
export function filesAt(pattern: string, trusted: ReadonlySet<string> = NONE): Matches {
  const star = pattern.indexOf('*');
  if (star === -1) return { files: existing(pattern) ? [pattern] : [], more: 0 };
  const folder = dirname(pattern.slice(0, star + 1));
  const [segment = '', ...rest] = pattern.slice(folder.length + 1).split(/[/\\]/);
  const [start = '', end = ''] = segment.split('*');
  const names = namesIn(folder);
  if (names === undefined) return { files: [pattern], more: 0 };
  const all = names
    .filter((name) => name.startsWith(start) && name.endsWith(end) && name.length >= segment.length)
    .sort();
  const pathOf = (name: string) => join(folder, name, ...rest);
  const isTrusted = (name: string) => trusted.size > 0 && trusted.has(pathOf(name));
  const listed = all.filter((name, at) => at < LIMITS.files.configuration || isTrusted(name));
  return { files: listed.map(pathOf).filter(existing), more: all.length - listed.length };
}

const NONE: ReadonlySet<string> = new Set();

function existing(path: string): boolean {
  try {
    return isThere(path);
  } catch {
    return true;
  }
}

/** Lists a folder; empty when it is missing, undefined when it cannot be read. */
function namesIn(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? [] : undefined;
  }
}

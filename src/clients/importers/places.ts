/**
 * The world in, the folders programs keep their files in out, for each platform; and patterns with one `*` in, the files
 * they stand for out. The platform is the world's; separators are those of the machine, which has to open the files.
 * @module
 */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readSmallFile } from '../../config/referenced-file.ts';
import { absoluteFolder, folderNamed, type World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';

/** `~/.config`, or what `XDG_CONFIG_HOME` says. */
export const xdgConfig = (world: World): string => folderNamed('XDG_CONFIG_HOME', world) ?? join(world.home, '.config');
/** `~/.local/share`, or what `XDG_DATA_HOME` says. */
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

/** Where desktop programs keep their settings. */
export function applicationData(world: World): string {
  if (world.platform === 'darwin') return join(world.home, 'Library', 'Application Support');
  return world.platform === 'win32' ? appData(world) : xdgConfig(world);
}

/** One value for each platform, Linux standing for all others. */
export function byPlatform<T>({ platform }: World, values: { darwin: T; win32: T; linux: T }): T {
  return platform === 'darwin' || platform === 'win32' ? values[platform] : values.linux;
}

/** The `User` folder of an editor that descends from VS Code. */
export const editorFolder = (world: World, editor: string): string => join(applicationData(world), editor, 'User');

/** The editors in which extensions keep files of their own. */
export const EDITORS = ['Code', 'Code - Insiders', 'Cursor', 'Windsurf', 'VSCodium'] as const;

/** The home of LM Studio, which a pointer file may move. */
export function lmStudioHome(world: World): string {
  const { home } = world;
  const pointer = join(home, '.lmstudio-home-pointer');
  try {
    const [line = ''] = existsSync(pointer) ? readSmallFile(pointer, 'LM Studio').split(/\r?\n/) : [];
    return absoluteFolder(line.trim(), world) ?? join(home, '.lmstudio');
  } catch (error) {
    // A pointer nobody can read points nowhere.
    if (error instanceof ConfigurationError) return join(home, '.lmstudio');
    throw error;
  }
}

/** Whether there is something at a path, a dangling link included: that is worth a message. */
export const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/**
 * The existing files a pattern stands for, sorted; one without `*` stands for itself, and so does one whose folder may
 * not be looked into: opening it will say so. Many files hide none that a person has trusted.
 */
export function filesAt(pattern: string, trusted: ReadonlySet<string> = NONE): readonly string[] {
  const star = pattern.indexOf('*');
  if (star === -1) return existing(pattern) ? [pattern] : [];
  const folder = dirname(pattern.slice(0, star + 1));
  const [segment = '', ...rest] = pattern.slice(folder.length + 1).split(/[/\\]/);
  const [start = '', end = ''] = segment.split('*');
  const names = namesIn(folder);
  if (names === undefined) return [pattern];
  return names
    .filter((name) => name.startsWith(start) && name.endsWith(end) && name.length >= segment.length)
    .sort()
    .map((name) => join(folder, name, ...rest))
    .filter((path, at) => at < LIMITS.files.configuration || trusted.has(path))
    .filter(existing);
}

const NONE: ReadonlySet<string> = new Set();

function existing(path: string): boolean {
  try {
    return isThere(path);
  } catch {
    return true;
  }
}

/** What is in a folder; nothing when there is none, undefined when it cannot be known. */
function namesIn(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? [] : undefined;
  }
}

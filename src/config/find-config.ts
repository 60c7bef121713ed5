/**
 * Lists where a configuration may be, in order of precedence. Reads folders only, no files. In the working folder and
 * its parents up to the repository: `.anygpt/mcp-discovery.config.*`, then `anygpt.config.*`; then
 * `mcp-discovery.config.*` in the state folder and in `~/.anygpt`.
 * @module
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { noteRead } from './heard-reads.ts';
import { realFolder } from './real-folder.ts';
import { stateFolder, type World } from './world.ts';

/** The file extensions of a configuration, in order of precedence. */
export const CONFIG_ENDINGS = ['ts', 'mts', 'js', 'mjs', 'json', 'yaml', 'yml'] as const;

/** A file that may hold the configuration. */
export interface Candidate {
  readonly path: string;
  /** The folder that relative paths in the file start from. */
  readonly base: string;
  /** `project` belongs to a project folder and needs trust; `home` is the user's; `named` was asked for. */
  readonly place: 'project' | 'home' | 'named';
  /** The repository, or the folder of the file. Only set for `project`. */
  readonly root?: string | undefined;
  /** Files of the same name with an extension of lower precedence. */
  readonly ignored: readonly string[];
}

/** Returns every existing candidate, best first. */
export function findCandidates(world: World): readonly Candidate[] {
  const found: Candidate[] = [];
  const { folders, repository } = projectFolders(world);
  const real = (path: string) => realFolder(path, world.platform);
  const homes = [stateFolder(world), join(world.home, '.anygpt')].filter(
    (path, at, [first = '']) => at === 0 || real(path) !== real(first),
  );
  const known = new Set(homes.map(real));
  for (const folder of folders) {
    const own = join(folder, '.anygpt');
    const place = real(folder) === real(world.home) ? 'home' : 'project';
    const root = place === 'home' ? undefined : (repository ?? folder);
    if (!known.has(real(own))) found.push(...inFolder(own, 'mcp-discovery.config', { base: folder, place, root }));
    found.push(...inFolder(folder, 'anygpt.config', { base: folder, place, root }));
  }
  for (const folder of homes) {
    const base = basename(folder) === '.anygpt' ? dirname(folder) : folder;
    found.push(...inFolder(folder, 'mcp-discovery.config', { base, place: 'home' }));
  }
  return found;
}

/** Tells whether a file belongs to several products. Ours is then only its `discovery` section. */
export const isSharedFile = (path: string): boolean => basename(path).startsWith('anygpt.config.');

function inFolder(folder: string, name: string, about: Pick<Candidate, 'base' | 'place' | 'root'>): Candidate[] {
  const paths = CONFIG_ENDINGS.map((ending) => join(folder, `${name}.${ending}`));
  // Missing files are noted too, because they may appear later.
  for (const file of paths) noteRead(file);
  const [path, ...ignored] = paths.filter((file) => existsSync(file));
  return path === undefined ? [] : [{ ...about, path, ignored }];
}

/**
 * Returns the working folder and its parents up to the repository. The home folder and its parents are not a project.
 */
export function projectFolders(world: World): { folders: string[]; repository: string | undefined } {
  const folders: string[] = [];
  const home = realFolder(world.home, world.platform);
  for (let folder = world.cwd; ; folder = dirname(folder)) {
    const isHome = realFolder(folder, world.platform) === home;
    if (isHome && folders.length > 0) return { folders, repository: undefined };
    folders.push(folder);
    if (existsSync(join(folder, '.git'))) return { folders, repository: folder };
    if (isHome || dirname(folder) === folder) return { folders, repository: undefined };
  }
}

/**
 * Tells whether a path is the user's own configuration, which needs no trust wherever it is named. Other files in the
 * same folder do need trust. Links are not followed: a project could redirect its links at any time.
 */
export function isOwnFile(path: string, world: World): boolean {
  if (!basename(path).startsWith('mcp-discovery.config.')) return false;
  const comparable = (folder: string) => (world.platform === 'win32' ? resolve(folder).toLowerCase() : resolve(folder));
  const folder = comparable(dirname(path));
  return [stateFolder(world), join(world.home, '.anygpt')].some(
    (own) => folder === comparable(own) || folder === realFolder(own, world.platform),
  );
}

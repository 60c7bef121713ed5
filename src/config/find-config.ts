/**
 * Lists where a configuration may be, in order of precedence. Reads folders only, no files. In the working folder and
 * its parents up to the repository: `.anygpt/mcp-discovery.config.*`, then `anygpt.config.*`; then
 * `mcp-discovery.config.*` in the state folder and in `~/.anygpt`.
 * @module
 */
import { existsSync, lstatSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { LIMITS } from '../core/limits.ts';
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
  const { folders, repository, isHome } = projectFolders(world);
  const real = (path: string) => realFolder(path, world.platform);
  const homes = [stateFolder(world), join(world.home, '.anygpt')].filter(
    (path, at, [first = '']) => at === 0 || real(path) !== real(first),
  );
  const known = new Set(homes.map(real));
  for (const folder of folders) {
    const own = join(folder, '.anygpt');
    const place = isHome ? 'home' : 'project';
    const root = isHome ? undefined : (repository ?? folder);
    if (!existsSync(own) || !known.has(real(own)))
      found.push(...inFolder(own, 'mcp-discovery.config', { base: folder, place, root }));
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

/** The folders that a project's files are looked for in. */
export interface ProjectFolders {
  /** The nearest first. */
  readonly folders: readonly string[];
  readonly repository: string | undefined;
  /** The working folder is the home folder, which is not a project. It is then the only one. */
  readonly isHome: boolean;
  /** There are more parents than are looked at. */
  readonly isCut: boolean;
}

/**
 * Returns the working folder and its parents up to the repository. The home folder and its parents are not a project.
 */
export function projectFolders({ cwd, home, platform }: Pick<World, 'cwd' | 'home' | 'platform'>): ProjectFolders {
  const folders: string[] = [];
  const found = (changes: Partial<ProjectFolders> = {}): ProjectFolders => ({
    folders,
    repository: undefined,
    isHome: false,
    isCut: false,
    ...changes,
  });
  const realHome = realFolder(home, platform);
  let real = realFolder(cwd, platform);
  for (let folder = cwd; folders.length < LIMITS.files.parents; folder = dirname(folder)) {
    const isHome = real === realHome;
    if (isHome && folders.length > 0) return found();
    folders.push(folder);
    if (existsSync(join(folder, '.git'))) return found({ repository: folder, isHome });
    if (isHome || dirname(folder) === folder) return found({ isHome });
    // Following all links of every parent would take quadratic time.
    real = isLink(folder) ? realFolder(dirname(folder), platform) : dirname(real);
  }
  return found({ isCut: true });
}

/** True also if this cannot be found out. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return true;
  }
}

/** Warns that a project's files further up are not found. */
export const depthWarnings = (world: World): readonly string[] =>
  projectFolders(world).isCut
    ? [
        `This folder lies more than ${LIMITS.files.parents} folders deep, so project files further up are not looked for. Start in a folder nearer to the project's.`,
      ]
    : [];

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

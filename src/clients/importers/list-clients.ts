/**
 * Lists every client with its candidate files: their places on this platform, their owner, and whether they exist.
 * Opens folders only.
 * @module
 */

import { dirname, join } from 'node:path';
import { type ProjectFolders, projectFolders } from '../../config/find-config.ts';
import { TAKEN_OVER } from '../../config/parse-data.ts';
import { realWorld, type World } from '../../config/world.ts';
import { LIMITS } from '../../core/limits.ts';
import { counted } from '../../text/counted.ts';
import { oneLine } from '../../text/plain-text.ts';
import { CLIENT_TYPES, type Client, type ClientType, clientOf } from './clients.ts';
import { filesAt } from './places.ts';

/** The owner of a file: the user, an administrator, or a project, which needs trust. */
export type FileScope = 'user' | 'system' | 'project';

/** A file that a client may have. */
interface ClientFile {
  /** Absolute path. May contain `*` if no file exists. */
  readonly path: string;
  readonly scope: FileScope;
  readonly exists: boolean;
  /** A place of older versions, which counts only if none of the user's current files exists. */
  readonly former: boolean;
  /** The project's folder. Only set for `project`. */
  readonly root?: string | undefined;
  /** How many files after this one match the same pattern, and are not looked at. */
  readonly more?: number | undefined;
}

interface ListedClient {
  readonly type: ClientType;
  /** The display name. */
  readonly title: string;
  /** The path of keys to the servers inside a file. */
  readonly keys: readonly string[];
  /** Candidates: the most likely place of each scope first, the nearest project folder before others. */
  readonly files: readonly ClientFile[];
}

/** Says how many files beside this one are left out. */
export const moreText = (path: string, more: number): string =>
  `${oneLine(dirname(path), LIMITS.text.path)} has ${counted(more, 'more file')} of this kind than the ${LIMITS.files.configuration} that are looked at; ${more === 1 ? 'it is' : 'they are'} neither used nor trusted.`;

/** Returns every client, in the order of `auto`. */
export const listClients = (world: World = realWorld()): readonly ListedClient[] => {
  const folders = projectFolders(world);
  return CLIENT_TYPES.map((type) => {
    const client = clientOf(type);
    return { type, title: client.title, keys: client.keys[0] ?? [], files: clientFiles(client, world, folders) };
  });
};

function clientFiles(client: Client, world: World, folders: ProjectFolders): readonly ClientFile[] {
  const at = (patterns: readonly string[] = [], scope: FileScope, former = false) =>
    patterns.flatMap((pattern) => candidates(pattern, { scope, former }, world));
  return [
    ...at(client.user(world), 'user'),
    ...at(client.former?.(world), 'user', true),
    ...at(client.system?.(world), 'system'),
    ...projectFiles(client, world, folders),
  ];
}

/**
 * Returns the files that count: existing ones, without former places if a current file exists, and copies made by
 * take-over of the user's own files.
 */
export function countingFiles(
  client: Client,
  world: World,
  folders: ProjectFolders = projectFolders(world),
): readonly ClientFile[] {
  const all = clientFiles(client, world, folders);
  const files = all.filter(({ exists }) => exists);
  const current = files.some(({ scope, former }) => scope === 'user' && !former);
  const taken = all
    .filter(({ scope }) => scope === 'user')
    .map((file) => ({ ...file, path: file.path + TAKEN_OVER }))
    .filter(({ path }) => !path.includes('*') && filesAt(path).files.length > 0)
    .map((file) => ({ ...file, exists: true }));
  return [...files.filter(({ former }) => !former || !current), ...taken];
}

/** Tells whether a source for the whole client includes the take-over copy of this file. */
export const bringsTakenOver = (client: Client, file: string, world: World): boolean =>
  clientFiles(client, world, projectFolders(world)).some(({ path, scope }) => scope === 'user' && path === file);

/**
 * Returns files in the working folder and its parents up to the repository. Files of the home folder are the user's
 * own.
 */
function projectFiles({ project = [] }: Client, world: World, places: ProjectFolders): readonly ClientFile[] {
  const folders = places.isHome ? [] : places.folders;
  return folders.flatMap((root) =>
    project
      .flatMap((path) => candidates(join(root, path), { scope: 'project', former: false, root }, world))
      .filter(({ exists }) => exists || root === folders.at(-1)),
  );
}

function candidates(
  pattern: string,
  about: Pick<ClientFile, 'scope' | 'former' | 'root'>,
  { trustedFiles }: World,
): ClientFile[] {
  const { files, more } = filesAt(pattern, trustedFiles);
  if (files.length === 0) return [{ path: pattern, ...about, exists: false }];
  return files.map((path, at) => ({
    path,
    ...about,
    exists: true,
    ...(more > 0 && at === files.length - 1 && { more }),
  }));
}

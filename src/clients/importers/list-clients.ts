/**
 * Lists every client with its candidate files: their places on this platform, their owner, and whether they exist.
 * Opens folders only.
 * @module
 */
import { join } from 'node:path';
import { projectFolders } from '../../config/find-config.ts';
import { TAKEN_OVER } from '../../config/parse-data.ts';
import { realFolder } from '../../config/real-folder.ts';
import { realWorld, type World } from '../../config/world.ts';
import { CLIENT_TYPES, type Client, type ClientType, clientOf } from './clients.ts';
import { filesAt } from './places.ts';

/** The owner of a file: the user, an administrator, or a project, which needs trust. */
export type FileScope = 'user' | 'system' | 'project';

/** A file that a client may have. */
export interface ClientFile {
  /** Absolute path. May contain `*` if no file exists. */
  readonly path: string;
  readonly scope: FileScope;
  readonly exists: boolean;
  /** A place of older versions, which counts only if none of the user's current files exists. */
  readonly former: boolean;
  /** The project's folder. Only set for `project`. */
  readonly root?: string | undefined;
}

/** A client and its files. */
export interface ListedClient {
  readonly type: ClientType;
  /** The display name. */
  readonly title: string;
  /** The path of keys to the servers inside a file. */
  readonly keys: readonly string[];
  /** Candidates: the most likely place of each scope first, the nearest project folder before others. */
  readonly files: readonly ClientFile[];
}

/** Returns every client, in the order of `auto`. */
export const listClients = (world: World = realWorld()): readonly ListedClient[] =>
  CLIENT_TYPES.map((type) => {
    const client = clientOf(type);
    return { type, title: client.title, keys: client.keys[0] ?? [], files: clientFiles(client, world) };
  });

export function clientFiles(client: Client, world: World): readonly ClientFile[] {
  const at = (patterns: readonly string[] = [], scope: FileScope, former = false) =>
    patterns.flatMap((pattern) => candidates(pattern, { scope, former }, world));
  return [
    ...at(client.user(world), 'user'),
    ...at(client.former?.(world), 'user', true),
    ...at(client.system?.(world), 'system'),
    ...projectFiles(client, world),
  ];
}

/**
 * Returns the files that count: existing ones, without former places if a current file exists, and copies made by
 * take-over of the user's own files.
 */
export function countingFiles(client: Client, world: World): readonly ClientFile[] {
  const all = clientFiles(client, world);
  const files = all.filter(({ exists }) => exists);
  const current = files.some(({ scope, former }) => scope === 'user' && !former);
  const taken = all
    .filter(({ scope }) => scope === 'user')
    .map((file) => ({ ...file, path: file.path + TAKEN_OVER }))
    .filter(({ path }) => !path.includes('*') && filesAt(path).length > 0)
    .map((file) => ({ ...file, exists: true }));
  return [...files.filter(({ former }) => !former || !current), ...taken];
}

/** Tells whether a source for the whole client includes the take-over copy of this file. */
export const bringsTakenOver = (client: Client, file: string, world: World): boolean =>
  clientFiles(client, world).some(({ path, scope }) => scope === 'user' && path === file);

/**
 * Returns files in the working folder and its parents up to the repository. Files of the home folder are the user's
 * own.
 */
function projectFiles({ project = [] }: Client, world: World): readonly ClientFile[] {
  const folders = projectFolders(world).folders.filter(
    (folder) => realFolder(folder, world.platform) !== realFolder(world.home, world.platform),
  );
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
  const files = filesAt(pattern, trustedFiles).map((path) => ({ path, ...about, exists: true }));
  return files.length > 0 ? files : [{ path: pattern, ...about, exists: false }];
}

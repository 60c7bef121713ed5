/**
 * The world in, every client with its candidate files out: where they are on this platform, whose they are, and whether
 * they exist. Nothing is opened but folders.
 * @module
 */
import { join } from 'node:path';
import { projectFolders } from '../../config/find-config.ts';
import { TAKEN_OVER } from '../../config/parse-data.ts';
import { realFolder } from '../../config/real-folder.ts';
import { realWorld, type World } from '../../config/world.ts';
import { CLIENT_TYPES, type Client, type ClientType, clientOf } from './clients.ts';
import { filesAt } from './places.ts';

/** Whose a file is: the user's, an administrator's, or that of a project, which needs trust. */
export type FileScope = 'user' | 'system' | 'project';

/** One file a client may have. */
export interface ClientFile {
  /** Absolute. Where nothing exists yet this may hold a `*`. */
  readonly path: string;
  readonly scope: FileScope;
  readonly exists: boolean;
  /** A place of older versions, which counts only when the user's own files do not exist. */
  readonly former: boolean;
  /** The folder of the project; only set for `project`. */
  readonly root?: string | undefined;
}

/** A client and its files. */
export interface ListedClient {
  readonly type: ClientType;
  /** Its name for people. */
  readonly title: string;
  /** The way to the servers inside a file. */
  readonly keys: readonly string[];
  /** Candidates, the most likely place of each scope first; those of the nearest project folder before others. */
  readonly files: readonly ClientFile[];
}

/** Every client, in the order in which `auto` reads them. */
export const listClients = (world: World = realWorld()): readonly ListedClient[] =>
  CLIENT_TYPES.map((type) => {
    const client = clientOf(type);
    return { type, title: client.title, keys: client.keys[0] ?? [], files: clientFiles(client, world) };
  });

/** The files of one client. */
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
 * The files that count: those that exist, without former places when there is a newer file, and what was taken over from
 * the user's own.
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

/** Whether a source of the client brings what was taken over from this file. */
export const bringsTakenOver = (client: Client, file: string, world: World): boolean =>
  clientFiles(client, world).some(({ path, scope }) => scope === 'user' && path === file);

/** Files in the working folder and its parents up to the repository; the home folder's files are the user's own. */
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

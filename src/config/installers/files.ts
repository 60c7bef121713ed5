/**
 * The one place that touches clients' files: reads them to the byte, keeps a copy, and replaces them as a whole or not at
 * all. A file that changed since it was read is left alone.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { access, chmod, chown, constants, lstat, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigurationError, DiscoveryError } from '../../errors.ts';
import { readIfPresent } from '../read-file.ts';

/** A file as it was when it was read. */
export interface FoundFile {
  readonly path: string;
  /** Undefined where there is none. */
  readonly text: string | undefined;
  /** The file itself, where the path is a symbolic link to it. */
  readonly target: string;
}

/** What is kept of a file, beside it. */
export interface KeptFile {
  readonly path: string;
  readonly text: string;
  /** Servers were moved behind the gateway, and are only here. */
  readonly taken: boolean;
}

/** The name of a copy. */
export const keptPath = (path: string, taken: boolean): string => `${path}.anygpt-${taken ? 'taken-over' : 'backup'}`;

/** Reads a file, byte order mark and line ends included. */
export async function readFound(path: string): Promise<FoundFile> {
  const text = await readIfPresent(path, { ignoreBOM: true });
  const link = (await lstat(path).catch(absent))?.isSymbolicLink() ?? false;
  if (text === undefined && link)
    throw new ConfigurationError(`${path} is a symbolic link to a file that does not exist.`);
  return { path, text, target: link ? await realpath(path) : path };
}

/** What is kept of a file; what was taken over comes before a plain copy. */
export async function readKept(path: string): Promise<KeptFile | undefined> {
  for (const taken of [true, false]) {
    const text = await readIfPresent(keptPath(path, taken), { ignoreBOM: true });
    if (text !== undefined) return { path: keptPath(path, taken), text, taken };
  }
  return undefined;
}

/** Keeps a copy that only its owner can read. */
export const keep = (path: string, text: string): Promise<void> => storing(path, () => put(path, text, 0o600));

/** Takes a copy, or a file that we made ourselves, away. */
export const discard = (path: string): Promise<void> => storing(path, () => rm(path, { force: true }));

/** Replaces a file, unless it is no longer what was read. Mode and owner stay; a link stays a link. */
export async function replaceFound(file: FoundFile, text: string): Promise<void> {
  const { target } = file;
  await storing(file.path, async () => {
    const info = await stat(target).catch(absent);
    if (info === undefined) await mkdir(dirname(target), { recursive: true });
    else await access(target, constants.W_OK);
    await put(target, text, info === undefined ? 0o600 : info.mode & 0o7777, async (temporary) => {
      // Only an administrator can give files away, and only for one is this needed.
      if (info !== undefined) await chown(temporary, info.uid, info.gid).catch(() => undefined);
      await refuseChanged(file);
    });
  });
}

/** Takes a file away, unless it is no longer what was read. */
export async function removeFound(file: FoundFile): Promise<void> {
  await refuseChanged(file);
  await discard(file.target);
}

async function refuseChanged({ path, target, text }: FoundFile): Promise<void> {
  const now = await readIfPresent(target, { ignoreBOM: true });
  if (now === text) return;
  throw new ConfigurationError(`${path} was changed by another program just now, so nothing was written. Try again.`);
}

/** Old or new, never half: a temporary file in the same folder, to the disk, then over the old name. */
async function put(
  path: string,
  text: string,
  mode: number,
  check: (temporary: string) => Promise<void> = async () => undefined,
): Promise<void> {
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(text).finally(() => handle.sync().finally(() => handle.close()));
    await chmod(temporary, mode);
    await check(temporary);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

const absent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
};

async function storing(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof DiscoveryError) throw error;
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const why =
      code === 'EACCES' || code === 'EPERM' || code === 'EROFS'
        ? 'may not be written by this user'
        : 'could not be written';
    throw new DiscoveryError('STORAGE_ERROR', `${path} ${why} (${code}). Nothing was changed.`, { cause: error });
  }
}

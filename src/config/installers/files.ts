/**
 * The one place that touches clients' files: reads them to the byte, keeps a copy, and replaces them as a whole or not at
 * all. A file that changed since it was read is left alone.
 * @module
 */
import { access, chmod, chown, constants, lstat, mkdir, realpath, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigurationError, DiscoveryError } from '../../errors.ts';
import { TAKEN_OVER } from '../parse-data.ts';
import { readIfPresent } from '../read-file.ts';
import { replaceFile } from '../write-atomically.ts';

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
export const keptPath = (path: string, taken: boolean): string => path + (taken ? TAKEN_OVER : '.anygpt-backup');

/** Reads a file, byte order mark and line ends included. */
export async function readFound(path: string): Promise<FoundFile> {
  const text = await readIfPresent(path, { ignoreBOM: true });
  const link = (await lstat(path).catch(absent))?.isSymbolicLink() ?? false;
  if (text === undefined && link)
    throw new ConfigurationError(`${path} is a symbolic link to a file that does not exist.`);
  return { path, text, target: link ? await realpath(path) : path };
}

/** What is kept of a file; what was taken over comes before a plain copy, unless only that is wanted. */
export async function readKept(path: string, orTaken = true): Promise<KeptFile | undefined> {
  for (const taken of orTaken ? [true, false] : [false]) {
    const text = await readIfPresent(keptPath(path, taken), { ignoreBOM: true });
    if (text !== undefined) return { path: keptPath(path, taken), text, taken };
  }
  return undefined;
}

/** Keeps a copy that only its owner can read. */
export const keep = (path: string, text: string): Promise<void> => storing(path, () => replaceFile(path, text, 0o600));

/** Takes a copy, or a file that we made ourselves, away. */
export const discard = (path: string): Promise<void> => storing(path, () => rm(path, { force: true }));

/** Replaces a file, unless it is no longer what was read. Mode and owner stay; a link stays a link. */
export async function replaceFound(file: FoundFile, text: string): Promise<void> {
  const { target } = file;
  await storing(file.path, async () => {
    const info = await stat(target).catch(absent);
    if (info === undefined) await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    else await access(target, constants.W_OK);
    await replaceFile(target, text, 0o600, async (temporary) => {
      if (info !== undefined) await chmod(temporary, info.mode & 0o7777);
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

/** A file is no longer what it was when the plan was made. */
export class ChangedFile extends ConfigurationError {}

/** Throws `ChangedFile` for a file that is no longer what was read. */
export async function refuseChanged({ path, target, text }: FoundFile): Promise<void> {
  if ((await readIfPresent(target, { ignoreBOM: true })) === text) return;
  throw new ChangedFile(`${path} was changed by another program just now, so nothing was written. Try again.`);
}

/** Lets `ChangedFile` pass, for what need not be done then. */
export const unlessChanged = (error: unknown): void => {
  if (!(error instanceof ChangedFile)) throw error;
};

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

/**
 * Reads and writes clients' files; no other module touches them. Reads them to the byte, keeps a copy, and replaces
 * them atomically. A file that changed since it was read is left alone.
 * @module
 */

import { access, chmod, chown, constants, type FileHandle, lstat, mkdir, realpath, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Excerpt, isUnchanged, type Policy, writeChanged } from '../../config/json-excerpt.ts';
import { TAKEN_OVER } from '../../config/parse-data.ts';
import { FileTooLarge, readIfPresent } from '../../config/read-file.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { unwritable } from '../../disk/file-error.ts';
import { replaceFile, sweep } from '../../disk/write-atomically.ts';
import { readClientText } from '../importers/client-text.ts';

export interface FoundFile {
  readonly path: string;
  /** Undefined if the file is missing. */
  readonly text: string | undefined;
  /** The real path, if `path` is a symbolic link. */
  readonly target: string;
  /** Set if the file is too large to be read whole. */
  readonly excerpt?: Excerpt | undefined;
}

/** The copy kept beside a file. */
export interface KeptFile {
  readonly path: string;
  readonly text: string;
  /** Servers were moved behind the gateway and exist only here. */
  readonly taken: boolean;
  readonly excerpt?: Excerpt | undefined;
}

/** Returns the path of a copy. */
export const keptPath = (path: string, taken: boolean): string => path + (taken ? TAKEN_OVER : '.anygpt-backup');

/**
 * Reads a file, including byte order mark and line ends.
 * @param policy selects the parts of a large file; without it a large file is an error
 */
export async function readFound(path: string, policy?: Policy): Promise<FoundFile> {
  const { text, excerpt } = (await readClientText(path, policy)) ?? {};
  const link = (await lstat(path).catch(absent))?.isSymbolicLink() ?? false;
  if (text === undefined && link)
    throw new ConfigurationError(`${path} is a symbolic link to a file that does not exist.`);
  return { path, text, target: link ? await realpath(path) : path, excerpt };
}

/** Returns the copy of a file; a take-over copy comes before a plain one, unless `orTaken` is false. */
export async function readKept(path: string, policy?: Policy, orTaken = true): Promise<KeptFile | undefined> {
  for (const taken of orTaken ? [true, false] : [false]) {
    const found = await readClientText(keptPath(path, taken), policy);
    if (found !== undefined) return { path: keptPath(path, taken), taken, ...found };
  }
  return undefined;
}

/** Keeps a copy that only its owner can read: the text, or, for an excerpt, the whole file with the text in it. */
export const keep = (path: string, text: string, from?: Pick<FoundFile, 'target' | 'excerpt'>): Promise<void> =>
  storing(path, () => replaceFile(path, contentOf(path, text, from), 0o600));

/** Returns the text; for an excerpt, a function that writes the whole file. */
function contentOf(path: string, text: string, from: Pick<FoundFile, 'target' | 'excerpt'> | undefined) {
  const { excerpt, target } = from ?? {};
  if (excerpt === undefined || target === undefined) return text;
  return async (handle: FileHandle) => {
    if (!(await writeChanged(target, excerpt, text, handle))) throw changed(path);
  };
}

/** Deletes a copy, or a file that we created. */
export const discard = (path: string): Promise<void> => storing(path, () => rm(path, { force: true }));

/** Replaces a file, unless it changed since it was read. Mode and owner stay; a link stays a link. */
export async function replaceFound(file: FoundFile, text: string): Promise<void> {
  const { target } = file;
  await storing(file.path, async () => {
    const info = await stat(target).catch(absent);
    if (info === undefined) await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    else await access(target, constants.W_OK);
    await replaceFile(target, contentOf(file.path, text, file), 0o600, async (temporary) => {
      if (info !== undefined) await chmod(temporary, info.mode & 0o7777);
      // Only root can change the owner, and only root needs to.
      if (info !== undefined) await chown(temporary, info.uid, info.gid).catch(() => undefined);
      await refuseChanged(file);
    });
  });
}

/** Deletes a file, unless it changed since it was read. */
export async function removeFound(file: FoundFile): Promise<void> {
  await refuseChanged(file);
  await sweep(file.target);
  await discard(file.target);
}

/** The file changed since the plan was made. */
export class ChangedFile extends ConfigurationError {}

/** Throws `ChangedFile` if the file changed since it was read. */
export async function refuseChanged({ path, target, text, excerpt }: FoundFile): Promise<void> {
  const same = excerpt ? await isUnchanged(target, excerpt) : (await readUnlessLarge(target)) === text;
  if (!same) throw changed(path);
}

/** A file that is now too large has changed. */
const readUnlessLarge = (path: string): Promise<string | undefined | null> =>
  readIfPresent(path, { ignoreBOM: true }).catch((error: unknown) => {
    if (error instanceof FileTooLarge) return null;
    throw error;
  });

const changed = (path: string): ChangedFile =>
  new ChangedFile(`${path} was changed by another program just now, so nothing was written. Try again.`);

/** Ignores `ChangedFile`, for steps that are then unnecessary. */
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
    throw unwritable(path, error);
  }
}

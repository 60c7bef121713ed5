/**
 * The one place that touches clients' files: reads them to the byte, keeps a copy, and replaces them as a whole or not at
 * all. A file that changed since it was read is left alone.
 * @module
 */
import { access, chmod, chown, constants, type FileHandle, lstat, mkdir, realpath, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Excerpt, isUnchanged, type Policy, writeChanged } from '../../config/json-excerpt.ts';
import { TAKEN_OVER } from '../../config/parse-data.ts';
import { FileTooLarge, readIfPresent } from '../../config/read-file.ts';
import { ConfigurationError, DiscoveryError } from '../../core/errors.ts';
import { replaceFile } from '../../disk/write-atomically.ts';
import { readClientText } from '../importers/client-text.ts';

/** A file as it was when it was read. */
export interface FoundFile {
  readonly path: string;
  /** Undefined where there is none. */
  readonly text: string | undefined;
  /** The file itself, where the path is a symbolic link to it. */
  readonly target: string;
  /** What the text is an excerpt of, where the file is too large to be read whole. */
  readonly excerpt?: Excerpt | undefined;
}

/** What is kept of a file, beside it. */
export interface KeptFile {
  readonly path: string;
  readonly text: string;
  /** Servers were moved behind the gateway, and are only here. */
  readonly taken: boolean;
  readonly excerpt?: Excerpt | undefined;
}

/** The name of a copy. */
export const keptPath = (path: string, taken: boolean): string => path + (taken ? TAKEN_OVER : '.anygpt-backup');

/**
 * Reads a file, byte order mark and line ends included.
 * @param policy what is wanted of a large file; without it a large file is an error
 */
export async function readFound(path: string, policy?: Policy): Promise<FoundFile> {
  const { text, excerpt } = (await readClientText(path, policy)) ?? {};
  const link = (await lstat(path).catch(absent))?.isSymbolicLink() ?? false;
  if (text === undefined && link)
    throw new ConfigurationError(`${path} is a symbolic link to a file that does not exist.`);
  return { path, text, target: link ? await realpath(path) : path, excerpt };
}

/** What is kept of a file; what was taken over comes before a plain copy, unless only that is wanted. */
export async function readKept(path: string, policy?: Policy, orTaken = true): Promise<KeptFile | undefined> {
  for (const taken of orTaken ? [true, false] : [false]) {
    const found = await readClientText(keptPath(path, taken), policy);
    if (found !== undefined) return { path: keptPath(path, taken), taken, ...found };
  }
  return undefined;
}

/** Keeps a copy that only its owner can read: the text, or the file that it is an excerpt of with the text in it. */
export const keep = (path: string, text: string, from?: Pick<FoundFile, 'target' | 'excerpt'>): Promise<void> =>
  storing(path, () => replaceFile(path, contentOf(path, text, from), 0o600));

/** A text as it is; for an excerpt, what writes the whole file. */
function contentOf(path: string, text: string, from: Pick<FoundFile, 'target' | 'excerpt'> | undefined) {
  const { excerpt, target } = from ?? {};
  if (excerpt === undefined || target === undefined) return text;
  return async (handle: FileHandle) => {
    if (!(await writeChanged(target, excerpt, text, handle))) throw changed(path);
  };
}

/** Takes a copy, or a file that we made ourselves, away. */
export const discard = (path: string): Promise<void> => storing(path, () => rm(path, { force: true }));

/** Replaces a file, unless it is no longer what was read. Mode and owner stay; a link stays a link. */
export async function replaceFound(file: FoundFile, text: string): Promise<void> {
  const { target } = file;
  await storing(file.path, async () => {
    const info = await stat(target).catch(absent);
    if (info === undefined) await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    else await access(target, constants.W_OK);
    await replaceFile(target, contentOf(file.path, text, file), 0o600, async (temporary) => {
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
export async function refuseChanged({ path, target, text, excerpt }: FoundFile): Promise<void> {
  const same = excerpt ? await isUnchanged(target, excerpt) : (await readUnlessLarge(target)) === text;
  if (!same) throw changed(path);
}

/** A file that has grown too large is not what it was. */
const readUnlessLarge = (path: string): Promise<string | undefined | null> =>
  readIfPresent(path, { ignoreBOM: true }).catch((error: unknown) => {
    if (error instanceof FileTooLarge) return null;
    throw error;
  });

const changed = (path: string): ChangedFile =>
  new ChangedFile(`${path} was changed by another program just now, so nothing was written. Try again.`);

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

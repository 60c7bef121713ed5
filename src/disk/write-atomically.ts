/**
 * Writes a file atomically.
 * @module
 */

import { randomBytes } from 'node:crypto';
import { constants, copyFile, type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ageSince, wallNow } from '../async/clock.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

/** Writes a file, and creates its folder if missing. Disk errors are STORAGE_ERROR. */
export async function writeAtomically(file: string, text: string, mode = 0o600): Promise<void> {
  const isPrivate = (mode & 0o077) === 0;
  try {
    await mkdir(dirname(file), { recursive: true, mode: isPrivate ? 0o700 : 0o755 });
    await replaceFile(file, text, mode);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new DiscoveryError('STORAGE_ERROR', `${file} could not be written (${code}).`, { cause: error });
  }
}

/** Copies a file to `.bak`, `.bak.2` and so on; earlier copies stay. */
export async function copyBeside(file: string): Promise<string> {
  for (let number = 1; ; number++) {
    const copy = `${file}.bak${number === 1 ? '' : `.${number}`}`;
    try {
      await copyFile(file, copy, constants.COPYFILE_EXCL);
      return copy;
    } catch (error) {
      const { code = String(error) } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST')
        throw new DiscoveryError('STORAGE_ERROR', `${copy} could not be written (${code}).`, { cause: error });
    }
  }
}

/**
 * Replaces a file in an existing folder: temporary file, flush, rename, flush of the folder.
 * @param content the text, or a function that writes it
 * @param prepare called before the new file replaces the old one
 */
export async function replaceFile(
  file: string,
  content: string | ((handle: FileHandle) => Promise<void>),
  mode: number,
  prepare: (temporary: string) => Promise<void> = async () => undefined,
): Promise<void> {
  await sweep(file);
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  const handle = await open(temporary, 'wx', mode);
  try {
    const written = typeof content === 'string' ? handle.writeFile(content) : content(handle);
    await written.finally(() => handle.sync().finally(() => handle.close()));
    await prepare(temporary);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

const TEMPORARY = /\.(\d+)\.[0-9a-f]{12}\.tmp$/;

/** Removes temporary files of killed processes, of this file and of copies named after it. */
export async function sweep(file: string): Promise<void> {
  const folder = dirname(file);
  // A folder that cannot be listed may still be writable.
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = name.startsWith(`${basename(file)}.`) ? TEMPORARY.exec(name)?.[1] : undefined;
    if (pid === undefined) continue;
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    // The process may run on another machine that shares the folder, so its file is given some time in any case.
    const most = isRunning(Number(pid)) ? LIMITS.age.abandoned : LIMITS.age.lock;
    if (info !== undefined && ageSince(info.mtimeMs, wallNow()) > most) await rm(path, { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The file is already in place, so a folder that cannot be flushed, as on Windows, is not an error. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle
    ?.sync()
    .catch(() => undefined)
    .finally(() => handle.close());
}

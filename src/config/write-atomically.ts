/**
 * A file and its text in, the file on disk out: old or new, never half.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DiscoveryError } from '../errors.ts';

/** Writes a file, its folder too if that is not there. Failures of the disk are STORAGE_ERROR. */
export async function writeAtomically(file: string, text: string, mode = 0o600): Promise<void> {
  const isPrivate = (mode & 0o077) === 0;
  try {
    await mkdir(dirname(file), { recursive: true, mode: isPrivate ? 0o700 : 0o755 });
    await replaceFile(file, text, mode);
    await syncFolder(dirname(file));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new DiscoveryError('STORAGE_ERROR', `${file} could not be written (${code}).`, { cause: error });
  }
}

/** Temporary file, flush, rename. */
async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  const handle = await open(temporary, 'wx', mode);
  try {
    await handle.writeFile(text).finally(() => handle.sync().finally(() => handle.close()));
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows cannot open a folder for this.
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

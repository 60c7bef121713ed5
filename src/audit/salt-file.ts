/**
 * A path in, the salt of this installation out: made once, readable by its owner only.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const SALT_BYTES = 32;

/** Reads the salt, or makes one; several processes starting at once end up with the same. */
export async function loadSalt(file: string): Promise<Uint8Array> {
  const found = await readSalt(file);
  if (found?.length === SALT_BYTES) return found;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  const salt = randomBytes(SALT_BYTES);
  await writeFile(temporary, salt, { mode: 0o600, flag: 'wx', flush: true });
  if (found !== undefined) {
    // Cut short or foreign: the only thing lost is that old hashes no longer compare with new ones.
    await rename(temporary, file);
    return (await readSalt(file)) ?? salt;
  }
  try {
    // Unlike a rename, a link never replaces: the first process wins and the others read its salt.
    await link(temporary, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await unlink(temporary);
  }
  return (await readSalt(file)) ?? salt;
}

async function readSalt(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException | undefined)?.code;

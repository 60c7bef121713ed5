/**
 * Loads the salt of this installation: created once, readable by its owner only.
 * @module
 */

import { randomBytes } from 'node:crypto';
import { link, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ageSince, wallNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';
import { codeOf, unlessMissing } from '../disk/file-error.ts';
import { makeFolder } from '../disk/make-folder.ts';

const SALT_BYTES = 32;

/** Reads or creates the salt. Several processes that start at once get the same one. */
export async function loadSalt(file: string): Promise<Uint8Array> {
  const found = await readSalt(file);
  if (found?.length !== SALT_BYTES) return makeSalt(file, found !== undefined);
  await sweep(file).catch(() => {
    // A few leftover bytes on disk must not prevent reading the salt.
  });
  return found;
}

async function makeSalt(file: string, replace: boolean): Promise<Uint8Array> {
  await makeFolder(dirname(file));
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  const salt = randomBytes(SALT_BYTES);
  try {
    await writeFile(temporary, salt, { mode: 0o600, flag: 'wx', flush: true });
    // Truncated or foreign: the only loss is that old hashes no longer compare with new ones.
    if (replace) await rename(temporary, file);
    // Unlike a rename, a link never replaces: the first process wins and the others read its salt.
    else await link(temporary, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  return (await readSalt(file)) ?? salt;
}

const readSalt = (file: string): Promise<Uint8Array | undefined> => readFile(file).catch(unlessMissing);

/** Removes temporary files of processes that died while creating a salt. */
async function sweep(file: string): Promise<void> {
  const folder = dirname(file);
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`${basename(file)}.`) || !name.endsWith('.tmp')) continue;
    const path = join(folder, name);
    if (ageSince((await stat(path)).mtimeMs, wallNow()) > LIMITS.age.temporary) await rm(path, { force: true });
  }
}

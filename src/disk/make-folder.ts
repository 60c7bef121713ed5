/**
 * Creates a folder and its parents. Node's own `recursive` never returns if a folder exists but nothing can be created
 * in it because "there is no such folder", as under /proc.
 * @module
 */

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from './file-error.ts';

/** Creates a folder for its owner only. An existing folder is unchanged. */
export async function makeFolder(path: string): Promise<void> {
  const parent = dirname(path);
  try {
    await make(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    await make(path);
  }
}

/** Another process may create it at the same moment. */
const make = (path: string): Promise<void> =>
  mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });

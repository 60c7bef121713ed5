/**
 * A path in, a folder of that name on disk out, with all those it lies in. Node's own `recursive` never returns where a
 * folder exists and nothing can be made in it because "there is no such folder", as under /proc.
 * @module
 */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a folder for its owner only. What is there stays as it is. */
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

/** Another process may make the same at the same moment. */
const make = (path: string): Promise<void> =>
  mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException | undefined)?.code;

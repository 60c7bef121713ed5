/**
 * Writes exported files below a folder. No path leaves the folder, neither by its name nor through a link.
 * @module
 */
import { mkdir, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { DiscoveryError } from '../../core/errors.ts';
import { replaceFile } from '../../disk/write-atomically.ts';
import type { ExportedFile } from './files-by-server.ts';

/** Writes the files, replaces those that exist, and returns their paths. Disk errors are STORAGE_ERROR. */
export async function writeFiles(folder: string, files: readonly ExportedFile[]): Promise<string[]> {
  const root = resolve(folder);
  const written: string[] = [];
  const checked = new Set<string>();
  for (const { path, text } of files) {
    const file = join(root, path);
    if (!isBelow(root, file)) throw refused(file, 'it is outside the folder of the export');
    try {
      const parent = dirname(file);
      if (!checked.has(parent)) {
        await mkdir(parent, { recursive: true });
        if (parent !== root && !isBelow(await realpath(root), await realpath(parent)))
          throw refused(file, 'its folder is a link that leads out of the folder of the export');
        checked.add(parent);
      }
      await replaceFile(file, text, 0o644);
      written.push(file);
    } catch (error) {
      if (error instanceof DiscoveryError) throw error;
      throw refused(file, (error as NodeJS.ErrnoException).code ?? String(error), error);
    }
  }
  return written;
}

const isBelow = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && resolve(root, way) === path;
};

const refused = (file: string, reason: string, cause?: unknown): DiscoveryError =>
  new DiscoveryError('STORAGE_ERROR', `${file} could not be written (${reason}).`, { cause });

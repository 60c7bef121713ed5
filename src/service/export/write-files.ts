/**
 * Writes exported files below a folder. No path leaves the folder, neither by its name nor through a link.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { DiscoveryError } from '../../core/errors.ts';
import type { ExportedFile } from './files-by-server.ts';

interface WriteOptions {
  /** A folder that the files may not leave, not even if a part of the way to their own folder is a link. */
  readonly within?: string | undefined;
  /** Stops before the next file. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each file with how many are written. */
  onFile?(count: number): void;
}

/** Writes the files and replaces those that exist. Disk errors are STORAGE_ERROR. */
export async function writeFiles(
  folder: string,
  files: readonly ExportedFile[],
  { within, signal, onFile }: WriteOptions = {},
): Promise<void> {
  const root = resolve(folder);
  if (within !== undefined) await refuseLinks(root, resolve(within));
  const checked = new Set<string>();
  for (const [at, { path, text }] of files.entries()) {
    if (signal?.aborted) return;
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
      await replace(file, text);
      onFile?.(at + 1);
    } catch (error) {
      if (error instanceof DiscoveryError) throw error;
      throw refused(file, (error as NodeJS.ErrnoException).code ?? String(error), error);
    }
  }
}

/** Throws if a part of the way from one folder down to another is a link that leads out of the first. */
async function refuseLinks(root: string, within: string): Promise<void> {
  for (let path = root; isBelow(within, path); path = dirname(path)) {
    const info = await lstat(path).catch(() => undefined);
    if (!info?.isSymbolicLink()) continue;
    const target = await realpath(path).catch(() => '');
    if (!isBelow(await realpath(within), target))
      throw refused(root, `${path} is a link that leads out of ${within}. Name the folder with --out`);
  }
}

/** Replaces a file, or a link of that name, whole. It is not flushed: an export can be repeated, and has many files. */
async function replace(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx' });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

const isBelow = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && resolve(root, way) === path;
};

const refused = (file: string, reason: string, cause?: unknown): DiscoveryError =>
  new DiscoveryError('STORAGE_ERROR', `${file} could not be written (${reason}).`, { cause });

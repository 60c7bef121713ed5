/**
 * Unpacks a zip archive of a stranger into a new folder. All names and sizes are checked before anything is written: no
 * path leads out, nothing is a link, no name comes twice on any file system, and the whole is bounded.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { makeFolder } from '../disk/make-folder.ts';
import { isPlain } from '../text/plain-text.ts';

/** Tells whether an archive can be unpacked. Throws CONFIGURATION_ERROR with the reason if not. Writes nothing. */
export const checkBundle = (path: string): Promise<void> => withArchive(path, async () => {});

/** Unpacks an archive, so that `folder` has all of it or does not exist. A folder that exists is left as it is. */
export async function unpackBundle(path: string, folder: string): Promise<void> {
  await makeFolder(dirname(folder));
  const fresh = `${folder}.${randomBytes(8).toString('hex')}`;
  try {
    await withArchive(path, async (archive, entries) => {
      await mkdir(fresh, { mode: 0o700 });
      for (const entry of entries) await write(archive, entry, fresh);
    });
    await rename(fresh, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST' && error.code !== 'EPERM') throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function withArchive(
  path: string,
  work: (archive: ZipFile, entries: readonly Entry[]) => Promise<void>,
): Promise<void> {
  try {
    const archive = await openPromise(path, { autoClose: false, strictFileNames: true });
    try {
      if (archive.entryCount > LIMITS.registry.bundleFiles)
        throw new Error(`it has more than ${LIMITS.registry.bundleFiles} files`);
      const entries: Entry[] = [];
      for await (const entry of archive.eachEntry()) entries.push(entry);
      refuseHostile(entries);
      await work(archive, entries);
    } finally {
      archive.close();
    }
  } catch (error) {
    if (!(error instanceof Error) || 'syscall' in error) throw error;
    throw new ConfigurationError(`The bundle cannot be unpacked: ${error.message}.`, [], { cause: error });
  }
}

const isFolder = ({ fileName }: Entry): boolean => fileName.endsWith('/');

/** Names that mean something else, or the same as another name, on some file system. */
const STRANGE = /^[\s/]|[\\:*?"<>|]|(?:^|\/)\.{1,2}(?:\/|$)|[. ](?:\/|$)|\/\//;
const RESERVED = /(?:^|\/)(?:con|prn|aux|nul|com\d|lpt\d)(?:\.[^/]*)?(?:\/|$)/i;

function refuseHostile(entries: readonly Entry[]): void {
  const files = new Set<string>();
  const folders = new Set<string>();
  let size = 0;
  for (const entry of entries) {
    const { fileName } = entry;
    const shown = JSON.stringify(fileName.slice(0, 200));
    if (fileName.length > LIMITS.text.path || !isPlain(fileName) || /[\r\n\t]/.test(fileName))
      throw new Error(`the name ${shown} is too long or has hidden characters`);
    if (STRANGE.test(fileName) || RESERVED.test(fileName)) throw new Error(`the name ${shown} is not allowed`);
    const type = (entry.externalFileAttributes >>> 16) & 0o170000;
    if (type !== 0 && type !== 0o100000 && type !== 0o040000) throw new Error(`${shown} is a link or a device`);
    if (entry.isEncrypted()) throw new Error(`${shown} is encrypted`);
    size += entry.uncompressedSize;
    if (size > LIMITS.registry.unpacked)
      throw new Error(`it has more than ${LIMITS.registry.unpacked / 2 ** 20} MiB when it is unpacked`);
    // Some file systems do not tell cases and forms of a letter apart.
    const parts = fileName.normalize('NFKC').toLowerCase().replace(/\/$/, '').split('/');
    const whole = parts.join('/');
    if (isFolder(entry)) folders.add(whole);
    else if (files.has(whole)) throw new Error(`the name ${shown} comes twice`);
    else files.add(whole);
    for (let depth = 1; depth < parts.length; depth++) folders.add(parts.slice(0, depth).join('/'));
  }
  for (const folder of folders)
    if (files.has(folder)) throw new Error(`${JSON.stringify(folder)} is both a file and a folder`);
}

/** The stream ends with an error as soon as it gives more bytes than the directory says. */
async function write(archive: ZipFile, entry: Entry, root: string): Promise<void> {
  const path = join(root, entry.fileName);
  await mkdir(isFolder(entry) ? path : dirname(path), { recursive: true, mode: 0o700 });
  if (isFolder(entry)) return;
  const isProgram = ((entry.externalFileAttributes >>> 16) & 0o100) !== 0;
  const file = await open(path, 'wx', isProgram ? 0o700 : 0o600);
  try {
    for await (const bytes of await archive.openReadStreamPromise(entry)) await file.writeFile(bytes);
  } finally {
    await file.close();
  }
}

/**
 * Reads the text of one entry of a zip archive. Only the directory and the entry itself are read; sizes are bounded before
 * anything is unpacked, and nothing is written.
 * @module
 */
import { buffer } from 'node:stream/consumers';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';

/** Returns the text of an entry; undefined when the archive has none of that name. */
export async function readZipEntry(path: string, name: string): Promise<string | undefined> {
  try {
    const archive = await openPromise(path);
    try {
      if (archive.entryCount > LIMITS.files.zipEntries)
        throw new Error(`it has more than ${LIMITS.files.zipEntries} entries`);
      for await (const entry of archive.eachEntry()) if (entry.fileName === name) return await textOf(archive, entry);
      return undefined;
    } finally {
      archive.close();
    }
  } catch (error) {
    if (!(error instanceof Error) || 'syscall' in error) throw error;
    throw new ConfigurationError(`${path} is not a usable zip archive: ${error.message}.`, [], { cause: error });
  }
}

/** The stream ends with an error as soon as it gives more bytes than the directory says. */
async function textOf(archive: ZipFile, entry: Entry): Promise<string> {
  const { fileName, uncompressedSize, compressedSize } = entry;
  if (Math.max(uncompressedSize, compressedSize) > LIMITS.files.zipEntry)
    throw new Error(`${fileName} is larger than 1 MiB`);
  const content = await buffer(await archive.openReadStreamPromise(entry));
  return new TextDecoder('utf-8', { fatal: true }).decode(content);
}

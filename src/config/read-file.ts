/**
 * Reads the text of a regular file of limited size, or throws an error that says what is wrong.
 * @module
 */
import { open, stat } from 'node:fs/promises';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { noteRead } from './heard-reads.ts';

/** A file that is larger than we read. */
export class FileTooLarge extends ConfigurationError {}

/**
 * Returns the text of a file, or undefined when it is missing.
 * @param ignoreBOM keep a byte order mark, for callers that write the file back
 * @param maxBytes larger files are refused with `FileTooLarge`
 */
export async function readIfPresent(
  path: string,
  { ignoreBOM = false, maxBytes = LIMITS.files.bytes } = {},
): Promise<string | undefined> {
  noteRead(path);
  try {
    const info = await stat(path);
    if (info.isDirectory()) throw refused(path, 'is a folder. Name the file inside it');
    if (!info.isFile()) throw refused(path, 'is not a regular file');
    if (info.size > maxBytes) throw tooLarge(path, maxBytes);
    return decode(path, await readBounded(path, maxBytes), ignoreBOM);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const hint =
      code === 'EACCES' || code === 'EPERM' ? 'may not be read by this user. Check its permissions' : undefined;
    throw refused(path, hint ?? `cannot be read (${code ?? String(error)})`, error);
  }
}

/** Reads in chunks and stops once the limit is exceeded, so that a growing file is noticed. */
async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const chunks: Buffer[] = [];
    let total = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(64 * 1024));
      if (bytesRead === 0) return Buffer.concat(chunks, total);
      total += bytesRead;
      if (total > maxBytes) throw tooLarge(path, maxBytes);
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

function decode(path: string, bytes: Buffer, ignoreBOM: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM }).decode(bytes);
  } catch (error) {
    throw refused(path, 'is not UTF-8 text. Save it as UTF-8', error);
  }
}

const refused = (path: string, what: string, cause?: unknown) =>
  new ConfigurationError(`${path} ${what}.`, [], cause === undefined ? {} : { cause });

const tooLarge = (path: string, maxBytes: number) =>
  new FileTooLarge(`${path} is larger than ${maxBytes / 1024 / 1024} MiB, the limit for a configuration.`);

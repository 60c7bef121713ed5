/**
 * Reads selected members of a large JSON file in bounded memory. The surrounding text is kept as written, and each
 * skipped value becomes `0`. The excerpt is therefore valid JSON, and a change to it can be applied to the file.
 * @module
 */

import { type FileHandle, open } from 'node:fs/promises';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { sharedEnds } from '../text/shared-ends.ts';
import { type Cut, JsonScan, type Policy } from './json-scan.ts';
import { FileTooLarge } from './read-file.ts';

export type { Policy } from './json-scan.ts';

/** Identifies one state of a file. */
interface Stamp {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ino: bigint;
}

/** The part of a file that was read. */
export interface Excerpt {
  readonly bytes: Buffer;
  readonly cuts: readonly Cut[];
  readonly stamp: Stamp;
}

const CHUNK = 1024 * 1024;

/** Reads an excerpt of an existing file. */
export async function readExcerpt(path: string, policy: Policy): Promise<Excerpt> {
  const file = await open(path, 'r');
  try {
    for (let tries = 1; ; tries++) {
      const stamp = await stampOf(file);
      if (stamp.size > LIMITS.files.clientBytes)
        throw new FileTooLarge(
          `${path} is larger than ${LIMITS.files.clientBytes / 1024 / 1024} MiB, the most that is read.`,
        );
      const scan = new JsonScan(path, policy);
      const buffer = Buffer.allocUnsafe(CHUNK);
      for (let position = 0; ; ) {
        const { bytesRead } = await file.read(buffer, 0, CHUNK, position);
        if (bytesRead === 0) break;
        scan.push(buffer.subarray(0, bytesRead));
        position += bytesRead;
      }
      if (isSame(stamp, await stampOf(file))) return { ...scan.end(), stamp };
      if (tries === LIMITS.files.readTries) throw refused(path, 'is being written by another program. Try again');
    }
  } finally {
    await file.close();
  }
}

/** Decodes the excerpt as UTF-8. A byte order mark stays. */
export function excerptText(path: string, { bytes }: Excerpt): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw refused(path, 'is not UTF-8 text. Save it as UTF-8', error);
  }
}

/** Tells whether a file is unchanged since the excerpt was made. */
export async function isUnchanged(path: string, { stamp }: Excerpt): Promise<boolean> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return false;
  try {
    return isSame(stamp, await stampOf(file));
  } finally {
    await file.close();
  }
}

/**
 * Writes the whole file, with the change that was made to the excerpt.
 * @returns false when the file changed since the excerpt was made
 */
export async function writeChanged(path: string, excerpt: Excerpt, text: string, to: FileHandle): Promise<boolean> {
  const { from, until, put } = changeOf(path, excerpt, Buffer.from(text));
  const file = await open(path, 'r');
  try {
    const { stamp } = excerpt;
    if (!isSame(stamp, await stampOf(file))) return false;
    await copyPart(file, to, 0, from);
    await writeAll(to, put);
    await copyPart(file, to, until, Number(stamp.size));
    return isSame(stamp, await stampOf(file));
  } finally {
    await file.close();
  }
}

async function copyPart(from: FileHandle, to: FileHandle, start: number, end: number): Promise<void> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  for (let position = start; position < end; ) {
    const { bytesRead } = await from.read(buffer, 0, Math.min(CHUNK, end - position), position);
    if (bytesRead === 0) return;
    await writeAll(to, buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}

/** A nearly full disk may accept only part of the bytes without an error. */
async function writeAll(to: FileHandle, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await to.write(bytes, written, bytes.length - written);
    written += bytesWritten;
  }
}

/** Finds the part of the file that changes, and its replacement. */
function changeOf(path: string, { bytes, cuts }: Excerpt, after: Buffer) {
  const { head, tail } = sharedEnds(bytes, after);
  const end = bytes.length - tail;
  if (cuts.some(({ at }) => at >= head && at < end))
    throw refused(path, 'cannot be edited without touching more than our entry');
  const left = cuts.filter(({ at }) => at < head).reduce((sum, cut) => sum + cut.end - cut.start - 1, 0);
  return { from: head + left, until: end + left, put: after.subarray(head, after.length - tail) };
}

async function stampOf(file: FileHandle): Promise<Stamp> {
  const { size, mtimeNs, ino } = await file.stat({ bigint: true });
  return { size, mtimeNs, ino };
}

const isSame = (a: Stamp, b: Stamp): boolean => a.size === b.size && a.mtimeNs === b.mtimeNs && a.ino === b.ino;

const refused = (path: string, what: string, cause?: unknown) =>
  new ConfigurationError(`${path} ${what}.`, [], cause === undefined ? {} : { cause });

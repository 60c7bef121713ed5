/**
 * Records which files a load of the configuration reads or looks for, including missing ones. A gateway watches them,
 * so that it notices a file that appears or is repaired.
 * @module
 */
import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { LIMITS } from '../core/limits.ts';

/** Signature of each file, taken just before it was read, by path. */
export type HeardReads = ReadonlyMap<string, string>;

const listeners = new Set<(path: string) => void>();

/** Announces that a file is about to be read or was looked for. */
export function noteRead(path: string): void {
  for (const hear of listeners) hear(path);
}

/**
 * Runs work and collects the files it reads into `reads`. Two loads at the same time also record each other's files;
 * the only cost is that a few too many are watched.
 */
export async function hearReads<T>(reads: Map<string, string>, work: () => Promise<T>): Promise<T> {
  const hear = (path: string) => {
    if (!reads.has(path) && reads.size < LIMITS.files.watched) reads.set(path, signatureOf(path));
  };
  listeners.add(hear);
  try {
    return await work();
  } finally {
    listeners.delete(hear);
  }
}

/**
 * Returns a signature of a file. Equal signatures mean that the file was not written in between. Links are followed.
 */
function signatureOf(path: string): string {
  try {
    return toSignature(statSync(path, { bigint: true }));
  } catch (error) {
    return toFault(error);
  }
}

/** Like `signatureOf`, but asynchronous: a network folder may respond slowly. */
export const lookAt = (path: string): Promise<string> => stat(path, { bigint: true }).then(toSignature, toFault);

const toSignature = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;

const toFault = (error: unknown): string => {
  const { code = 'unreadable' } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR' ? ABSENT : code;
};

/** The signature of a missing file. */
export const ABSENT = 'absent';

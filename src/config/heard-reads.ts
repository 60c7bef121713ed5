/**
 * Tells which files a load of the configuration reads or looks for, those that are missing included: what a gateway
 * watches so that a file that comes back, or is mended, is noticed.
 * @module
 */
import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { LIMITS } from '../core/limits.ts';

/** Files by path, each with its signature from just before it was read. */
export type HeardReads = ReadonlyMap<string, string>;

const listeners = new Set<(path: string) => void>();

/** Says that a file is about to be read or was looked for. */
export function noteRead(path: string): void {
  for (const hear of listeners) hear(path);
}

/**
 * Runs work and collects what it reads into `reads`. Two loads at a time hear each other's files, too: then a few too
 * many are watched.
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

/** Two equal signatures of a file mean that nobody has written it in between. Links are followed. */
export function signatureOf(path: string): string {
  try {
    return toSignature(statSync(path, { bigint: true }));
  } catch (error) {
    return toFault(error);
  }
}

/** The same without holding up the process: a network folder may take long to answer. */
export const lookAt = (path: string): Promise<string> => stat(path, { bigint: true }).then(toSignature, toFault);

const toSignature = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;

const toFault = (error: unknown): string => {
  const { code = 'unreadable' } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR' ? ABSENT : code;
};

/** The signature of a file that is not there. */
export const ABSENT = 'absent';

/**
 * A file and some work in, the work done while no other process that asks does anything to that file out. The lock is a
 * file beside it that only one can make; one that nobody has touched for ten seconds was left by a process that is gone.
 * @module
 */

import { randomBytes } from 'node:crypto';
import { link, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ageSince, elapsedNow, wallNow } from '../async/clock.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { makeFolder } from './make-folder.ts';

/** What a lock may be told. */
export interface LockOptions {
  /** Milliseconds without a sign of life after which a lock is taken over. */
  readonly staleMs?: number | undefined;
  /** Milliseconds to wait for another process. */
  readonly waitMs?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

const STALE_MS = 10_000;
const LONGEST_PAUSE_MS = 50;

/** The lock that belongs to a file. */
export const lockPath = (file: string): string => `${file}.anygpt-lock`;

/**
 * Does the work under the lock of a file; the folder is made if it is not there. Not for work inside such work on the
 * same file. A lock that cannot be had is STORAGE_ERROR.
 */
export async function withLock<T>(file: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const { staleMs = STALE_MS } = options;
  const lock = lockPath(file);
  const mine = `${process.pid} ${randomBytes(8).toString('hex')}\n`;
  await acquire(lock, mine, options).catch((error: unknown) => {
    if (error instanceof DiscoveryError) throw error;
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const why = ['EACCES', 'EPERM', 'EROFS'].includes(code)
      ? 'may not be written by this user'
      : 'could not be written';
    throw new DiscoveryError('STORAGE_ERROR', `${file} ${why} (${code}). Nothing was changed.`, { cause: error });
  });
  // Work that takes longer shows that it is alive; a lock that is gone has been taken over, and needs no sign.
  const alive = setInterval(() => {
    const time = new Date(wallNow());
    void utimes(lock, time, time).catch(() => undefined);
  }, staleMs / 4);
  alive.unref();
  try {
    return await work();
  } finally {
    clearInterval(alive);
    if ((await contentOf(lock)) === mine) await rm(lock, { force: true });
  }
}

async function acquire(lock: string, mine: string, options: LockOptions): Promise<void> {
  const { staleMs = STALE_MS, waitMs = LIMITS.time.lock, now = wallNow } = options;
  const until = elapsedNow() + waitMs;
  await makeFolder(dirname(lock));
  for (let tries = 0; !(await made(lock, mine)); tries++) {
    const info = await stat(lock).catch(absent);
    if (info !== undefined && ageSince(info.mtimeMs, now()) > staleMs) await breakStale(lock, mine, info.mtimeMs);
    else if (elapsedNow() >= until)
      throw new DiscoveryError(
        'STORAGE_ERROR',
        `Another anygpt is at work (${lock}). Nothing was changed. Try again when it is done.`,
      );
    else await new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST_PAUSE_MS, 5 + tries * 5)));
  }
}

/** Makes the lock; false where there is one. */
async function made(lock: string, mine: string): Promise<boolean> {
  try {
    const handle = await open(lock, 'wx', 0o600);
    await handle.writeFile(mine).finally(() => handle.close());
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Windows refuses a name whose file is just being removed.
    if (code === 'EEXIST' || (process.platform === 'win32' && code === 'EPERM')) return false;
    throw error;
  }
}

/** Moves a dead lock away. Of several who try one succeeds; whoever moved a live one by that puts it back. */
async function breakStale(lock: string, mine: string, mtimeMs: number): Promise<void> {
  const aside = `${lock}.${mine.trim().replace(' ', '.')}`;
  const moved = await rename(lock, aside).then(() => true, absent);
  if (moved === undefined) return;
  const info = await stat(aside);
  if (info.mtimeMs !== mtimeMs) await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
}

const contentOf = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(absent);

const absent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};

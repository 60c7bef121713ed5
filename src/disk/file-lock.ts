/**
 * Runs work under an advisory file lock. The lock is a file that only one process can create. A lock not touched for
 * ten seconds is stale: its process is gone.
 * @module
 */

import { randomBytes } from 'node:crypto';
import { link, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ageSince, elapsedNow, wallNow } from '../async/clock.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { unlessMissing, unwritable } from './file-error.ts';
import { makeFolder } from './make-folder.ts';

interface LockOptions {
  /** Milliseconds without a heartbeat after which a lock is stale. */
  readonly staleMs?: number | undefined;
  /** Milliseconds to wait for another process. */
  readonly waitMs?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

export const lockPath = (file: string): string => `${file}.anygpt-lock`;

/** Tells whether some process holds the lock of a file now. */
export async function isLocked(file: string): Promise<boolean> {
  const info = await stat(lockPath(file)).catch(() => undefined);
  return info !== undefined && ageSince(info.mtimeMs, wallNow()) < LIMITS.age.lock;
}

/**
 * Runs work under the lock of a file; creates the folder if it is missing. Must not be nested for the same file. A lock
 * that cannot be acquired is STORAGE_ERROR.
 */
export async function withLock<T>(file: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const { staleMs = LIMITS.age.lock } = options;
  const lock = lockPath(file);
  const mine = `${process.pid} ${randomBytes(8).toString('hex')}\n`;
  await acquire(lock, mine, options).catch((error: unknown) => {
    throw unwritable(file, error);
  });
  // Heartbeat for long work. If the lock is gone, it was taken over and needs no heartbeat.
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
  const { staleMs = LIMITS.age.lock, waitMs = LIMITS.time.lock, now = wallNow } = options;
  const until = elapsedNow() + waitMs;
  await makeFolder(dirname(lock));
  for (let tries = 0; !(await made(lock, mine)); tries++) {
    const info = await stat(lock).catch(unlessMissing);
    if (info !== undefined && ageSince(info.mtimeMs, now()) > staleMs) await breakStale(lock, mine, info.mtimeMs);
    else if (elapsedNow() >= until)
      throw new DiscoveryError(
        'STORAGE_ERROR',
        `Another anygpt process holds the lock ${lock}. Nothing was changed. Try again when it has finished.`,
      );
    else await new Promise((resolve) => setTimeout(resolve, Math.min(LIMITS.pace.lock, 5 + tries * 5)));
  }
}

/** Creates the lock; returns false if it exists. */
async function made(lock: string, mine: string): Promise<boolean> {
  try {
    const handle = await open(lock, 'wx', 0o600);
    await handle.writeFile(mine).finally(() => handle.close());
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Windows refuses the name of a file that is being removed.
    if (code === 'EEXIST' || (process.platform === 'win32' && code === 'EPERM')) return false;
    throw error;
  }
}

/** Moves a stale lock aside. Of several processes one succeeds; a process that moved a live lock restores it. */
async function breakStale(lock: string, mine: string, mtimeMs: number): Promise<void> {
  const aside = `${lock}.${mine.trim().replace(' ', '.')}`;
  const moved = await rename(lock, aside).then(() => true, unlessMissing);
  if (moved === undefined) return;
  const info = await stat(aside);
  if (info.mtimeMs !== mtimeMs) await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
}

const contentOf = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(unlessMissing);

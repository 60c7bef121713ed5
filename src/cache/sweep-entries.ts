/**
 * Removes files of a store that are old, and the oldest if all together are too large.
 * @module
 */

import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ageSince, wallNow } from '../async/clock.ts';
import { unlessMissing } from '../disk/file-error.ts';
import { isEntryFileName } from './entry-file.ts';

/** What may stay. */
interface SweepOptions {
  readonly olderThanMs: number;
  readonly maxBytes: number;
  readonly now?: (() => number) | undefined;
}

/** Removes files of a file store. Other processes may do the same at the same time. */
export async function sweepEntries(
  root: string,
  { olderThanMs, maxBytes, now = wallNow }: SweepOptions,
): Promise<void> {
  const files: { readonly path: string; readonly size: number; readonly age: number }[] = [];
  for (const name of (await readdir(root).catch(unlessMissing)) ?? []) {
    const path = join(root, name);
    const stats = isEntryFileName(name) ? await lstat(path).catch(unlessMissing) : undefined;
    if (stats) files.push({ path, size: stats.size, age: ageSince(stats.mtimeMs, now()) });
  }
  let room = maxBytes;
  for (const { path, size, age } of files.sort((a, b) => a.age - b.age)) {
    room -= size;
    if (age > olderThanMs || room < 0) await rm(path, { force: true });
  }
}

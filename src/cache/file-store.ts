/**
 * Stores values in a folder, one file per key. Writes are atomic and safe with several processes: they go to a
 * temporary file, which is synced and renamed over the old one. Links in the folder are replaced, not followed.
 * @module
 */

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { wallNow } from '../async/clock.ts';
import { ValidationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { codeOf, unlessMissing } from '../disk/file-error.ts';
import { makeFolder } from '../disk/make-folder.ts';
import { entryFileName, entryHeader, entryKey, entryValue, isEntryFileName } from './entry-file.ts';
import { storageError } from './storage-error.ts';
import type { Store } from './store.ts';

interface FileStoreOptions {
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
  readonly platform?: NodeJS.Platform | undefined;
}

const CORRUPT = '.entry.corrupt-';
// Do not follow links, and do not block on a pipe.
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
// Errors for a path that exists but cannot be used.
const UNUSABLE: ReadonlySet<unknown> = new Set(['ELOOP', 'EISDIR', 'EACCES', 'EPERM', 'ENXIO', 'EMLINK']);
const IN_THE_WAY: ReadonlySet<unknown> = new Set(['EISDIR', 'ENOTEMPTY', 'EEXIST', 'EPERM']);

/** Stores values in `root`, which is created at the first write. Disk errors are STORAGE_ERROR. */
export class FileStore implements Store {
  readonly root: string;
  readonly #now: () => number;
  readonly #platform: NodeJS.Platform;
  readonly #tails = new Map<string, Promise<void>>();
  #swept: Promise<void> | undefined;

  constructor(root: string, options: FileStoreOptions = {}) {
    this.root = root;
    this.#now = options.now ?? wallNow;
    this.#platform = options.platform ?? process.platform;
  }

  /** Returns the file for this key, existing or not. */
  pathOf(key: string): string {
    if (key.length > LIMITS.cache.key)
      throw new ValidationError(`A cache key has at most ${LIMITS.cache.key} characters.`);
    return join(this.root, entryFileName(key));
  }

  async read(key: string): Promise<Uint8Array | undefined> {
    const path = this.pathOf(key);
    const found = await this.#reading(path, async (handle) => {
      const stats = await handle.stat();
      if (!stats.isFile() || stats.size > LIMITS.cache.value + LIMITS.cache.key * 8) return 'unusable';
      return entryValue(key, await handle.readFile()) ?? 'unusable';
    });
    if (found !== 'unusable') return found;
    await this.setAside(key);
    return undefined;
  }

  /** @param value the bytes, or their parts */
  async write(key: string, value: Uint8Array | readonly Uint8Array[]): Promise<void> {
    const path = this.pathOf(key);
    const parts = value instanceof Uint8Array ? [value] : value;
    const size = parts.reduce((sum, { length }) => sum + length, 0);
    if (size > LIMITS.cache.value) {
      throw new ValidationError(`A cache value has at most ${LIMITS.cache.value} bytes; this value has ${size}.`);
    }
    await this.#inOrder(key, () => this.#replace(path, [entryHeader(key, parts), ...parts]));
  }

  async delete(key: string): Promise<void> {
    const path = this.pathOf(key);
    await this.#inOrder(key, () => this.#guarded('delete', path, () => remove(path)));
  }

  async clear(): Promise<void> {
    await Promise.all(this.#tails.values());
    const names = (await this.#names()).filter((name) => isEntryFileName(name) || name.includes(CORRUPT));
    for (const name of names) {
      const path = join(this.root, name);
      await this.#guarded('delete', path, () => remove(path));
    }
    await this.#sweepOnce();
  }

  async keys(): Promise<string[]> {
    const keys: string[] = [];
    for (const name of (await this.#names()).filter(isEntryFileName)) {
      const key = await this.#reading(join(this.root, name), async (handle) => {
        if (!(await handle.stat()).isFile()) return undefined;
        const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(LIMITS.cache.key * 8), position: 0 });
        return entryKey(buffer.subarray(0, bytesRead));
      });
      if (key !== undefined && key !== 'unusable' && entryFileName(key) === name) keys.push(key);
    }
    return keys.sort();
  }

  async setAside(key: string): Promise<void> {
    await this.#setAside(this.pathOf(key));
  }

  async #replace(path: string, parts: readonly Uint8Array[]): Promise<void> {
    await this.#sweepOnce();
    const temporary = `${path}.${process.pid}-${randomBytes(8).toString('hex')}.tmp`;
    await this.#guarded('write', path, async () => {
      try {
        await this.#writeTemporary(temporary, parts);
        await this.#renameOver(temporary, path);
      } catch (error) {
        await remove(temporary).catch(() => {
          // Report the first error; leftovers are swept later.
        });
        throw error;
      }
      await this.#syncFolder();
    });
  }

  async #writeTemporary(temporary: string, parts: readonly Uint8Array[]): Promise<void> {
    let handle: FileHandle;
    try {
      handle = await open(temporary, 'wx', 0o600);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      await makeFolder(this.root);
      handle = await open(temporary, 'wx', 0o600);
    }
    try {
      for (const part of parts) await handle.writeFile(part);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  async #renameOver(temporary: string, path: string): Promise<void> {
    try {
      await rename(temporary, path);
    } catch (error) {
      if (!IN_THE_WAY.has(codeOf(error))) throw error;
      await this.#setAside(path);
      await rename(temporary, path);
    }
  }

  async #syncFolder(): Promise<void> {
    // Windows cannot open folders; the rename alone must do.
    if (this.#platform === 'win32') return;
    const folder = await open(this.root, constants.O_RDONLY);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async #setAside(path: string): Promise<void> {
    await this.#guarded('set aside', path, async () => {
      // Another process may be faster.
      await rename(path, `${path}.corrupt-${this.#now()}-${randomBytes(3).toString('hex')}`).catch(unlessMissing);
      const time = (name: string): number => Number.parseInt(name.slice(name.indexOf(CORRUPT) + CORRUPT.length), 10);
      const aside = (await this.#names()).filter((name) => name.includes(CORRUPT)).sort((a, b) => time(b) - time(a));
      for (const name of aside.slice(LIMITS.cache.setAside)) await remove(join(this.root, name));
    });
  }

  /** Removes temporary files of dead writers; recent ones may belong to a live one. */
  #sweepOnce(): Promise<void> {
    this.#swept ??= this.#sweep().catch(() => {
      // Leftovers cost space, not correctness: a write must not fail because of them.
    });
    return this.#swept;
  }

  async #sweep(): Promise<void> {
    for (const name of await this.#names()) {
      if (!/\.entry\.\d+-[0-9a-f]{16}\.tmp$/.test(name)) continue;
      const path = join(this.root, name);
      if (this.#now() - (await lstat(path)).mtimeMs > LIMITS.age.temporary) await remove(path);
    }
  }

  #names(): Promise<string[]> {
    return this.#guarded('list', this.root, async () => (await readdir(this.root).catch(unlessMissing)) ?? []);
  }

  async #reading<T>(path: string, act: (handle: FileHandle) => Promise<T>): Promise<T | 'unusable' | undefined> {
    return this.#guarded('read', path, async () => {
      let handle: FileHandle;
      try {
        handle = await open(path, READ_FLAGS);
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        if (UNUSABLE.has(codeOf(error))) return 'unusable';
        throw error;
      }
      try {
        return await act(handle);
      } finally {
        await handle.close();
      }
    });
  }

  async #guarded<T>(verb: string, path: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      throw storageError(verb, path, error);
    }
  }

  #inOrder(key: string, act: () => Promise<void>): Promise<void> {
    const run = (this.#tails.get(key) ?? Promise.resolve()).then(act);
    const tail = run
      .catch(() => {
        // The caller gets the error; the next write only waits for the end.
      })
      .finally(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    this.#tails.set(key, tail);
    return run;
  }
}

const remove = (path: string): Promise<void> => rm(path, { force: true, recursive: true });

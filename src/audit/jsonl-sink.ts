/**
 * Lines in, a file on disk out. Appended, rotated by size, shared safely with other processes that write the same file:
 * every write is one O_APPEND call, rotation renames to a name of its own, and a writer notices that it was rotated away.
 * @module
 */

import { randomBytes } from 'node:crypto';
import { constants, type Stats, writeSync } from 'node:fs';
import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ageSince, wallNow } from '../async/clock.ts';
import { DEFAULTS } from '../core/limits.ts';
import { makeFolder } from '../disk/make-folder.ts';
import type { AuditSink } from './audit-entry.ts';
import { type Retention, retain } from './retention.ts';

/** Where the file is and when it is rotated. */
export interface JsonlSinkOptions {
  readonly file: string;
  /** A file that would grow beyond this is rotated. Default 10 MiB. */
  readonly maxBytes?: number | undefined;
  /** How many rotated files are kept beside the current one. Default 5. */
  readonly files?: number | undefined;
  /** Rotated files that were last written to longer ago are removed at the next rotation. Default 90. */
  readonly days?: number | undefined;
  /** Of rotated files that are too many, so many calls of each tool are kept. Default 100. */
  readonly perTool?: number | undefined;
  readonly now?: (() => number) | undefined;
}

const STALE_LOCK_MS = 30_000;
/** How long a file that was looked at is taken for what it was: as long as that, lines may go to one that was rotated away. */
const LOOK_EVERY_MS = 250;
const NEWLINE = 0x0a;

/** The audit file. Nothing is created before the first write. */
export class JsonlSink implements AuditSink {
  readonly #file: string;
  readonly #maxBytes: number;
  readonly #retention: Retention;
  readonly #now: () => number;
  #handle: FileHandle | undefined;
  #identity = '';
  /** The file ends in half a line: the next write starts a new one. */
  #torn = false;
  #partial: { readonly lines: string; readonly from: number } | undefined;
  /** Bytes that may be added without another look, and until when. */
  #room = 0;
  #lookAgain = Number.NEGATIVE_INFINITY;

  constructor(options: JsonlSinkOptions) {
    this.#file = options.file;
    this.#maxBytes = options.maxBytes ?? DEFAULTS.audit.maxBytes;
    this.#retention = {
      files: options.files ?? DEFAULTS.audit.files,
      days: options.days ?? DEFAULTS.audit.days,
      perTool: options.perTool ?? 100,
      keptBytes: this.#maxBytes,
    };
    this.#now = options.now ?? wallNow;
  }

  /**
   * Mostly at once and without another thread: that takes a few microseconds, and what was written survives whatever
   * happens to this process next.
   */
  write(lines: string): Promise<void> | void {
    const bytes = Buffer.from(lines, 'utf8');
    if (!this.#appended(lines, bytes)) return this.#writeCarefully(lines, bytes);
  }

  #appended(lines: string, bytes: Buffer): boolean {
    const handle = this.#handle;
    if (handle === undefined || this.#torn || this.#partial || bytes.length > this.#room) return false;
    const left = this.#lookAgain - this.#now();
    // A clock that was set back is no reason to look never.
    if (left <= 0 || left > LOOK_EVERY_MS) return false;
    let written = 0;
    try {
      written = writeSync(handle.fd, bytes);
    } catch {
      // The careful way meets the same trouble, and says so.
      return false;
    }
    this.#room -= written;
    if (written === bytes.length) return true;
    this.#cutShort(lines, bytes, 0, written);
    return false;
  }

  async #writeCarefully(lines: string, bytes: Buffer): Promise<void> {
    let from = this.#partial?.lines === lines ? this.#partial.from : 0;
    this.#partial = undefined;
    const handle = await this.#current(bytes.length - from);
    while (from < bytes.length) {
      const rest = bytes.subarray(from);
      const chunk = this.#torn ? Buffer.concat([Buffer.of(NEWLINE), rest]) : rest;
      const { bytesWritten } = await this.#writeOnce(handle, chunk, lines, from);
      if (bytesWritten === 0) throw new Error(`Nothing could be written to ${this.#file}.`);
      const kept = Math.max(0, bytesWritten - (chunk.length - rest.length));
      if (kept === rest.length) {
        this.#torn = false;
        this.#partial = undefined;
        this.#room -= bytesWritten;
        return;
      }
      from = this.#cutShort(lines, bytes, from, kept);
    }
  }

  /** As on a full disk: goes on after the last whole line, so that no other writer's line gets inside ours. */
  #cutShort(lines: string, bytes: Buffer, from: number, kept: number): number {
    const whole = from + bytes.subarray(from, from + kept).lastIndexOf(NEWLINE) + 1;
    this.#torn = whole < from + kept;
    this.#partial = { lines, from: whole };
    return whole;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #writeOnce(handle: FileHandle, chunk: Buffer, lines: string, from: number): Promise<{ bytesWritten: number }> {
    try {
      return await handle.write(chunk);
    } catch (error) {
      this.#partial = { lines, from };
      throw error;
    }
  }

  async #current(adding: number): Promise<FileHandle> {
    const found = await statOrUndefined(this.#file);
    this.#lookAgain = this.#now() + LOOK_EVERY_MS;
    if (this.#handle === undefined || found === undefined || identityOf(found) !== this.#identity) {
      return this.#open();
    }
    this.#room = this.#roomIn(found);
    const full = found.isFile() && found.size > 0 && adding > this.#room;
    if (full) await this.#rotate();
    return this.#handle ?? this.#open();
  }

  async #open(): Promise<FileHandle> {
    await this.close();
    await makeFolder(dirname(this.#file));
    const handle = await open(this.#file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
    this.#handle = handle;
    const found = await handle.stat();
    this.#identity = identityOf(found);
    this.#room = this.#roomIn(found);
    this.#torn = false;
    if (found.isFile() && found.size > 0) {
      const last = Buffer.alloc(1);
      await handle.read(last, 0, 1, found.size - 1);
      this.#torn = last[0] !== NEWLINE;
    }
    return handle;
  }

  /** A device or a pipe may keep its writer waiting, so nothing is added to one at once. */
  #roomIn(found: Stats): number {
    return found.isFile() ? this.#maxBytes - found.size : 0;
  }

  /** Moves a full file away, unless another process is at it; appending goes on in either case. */
  async #rotate(): Promise<void> {
    const lock = `${this.#file}.lock`;
    if (!(await this.#takeLock(lock))) return;
    try {
      const found = await statOrUndefined(this.#file);
      // Windows renames no file that is open.
      await this.close();
      if (found === undefined || identityOf(found) !== this.#identity) return;
      const stamp = new Date(this.#now()).toISOString().replaceAll(':', '-');
      await rename(this.#file, `${this.#file}.${stamp}-${randomBytes(3).toString('hex')}`);
      await this.#note(await retain(this.#file, this.#retention, this.#now()));
    } catch (error) {
      // A file that is too long is better than a record that is missing.
      if (!['EPERM', 'EACCES', 'EBUSY'].includes(String(codeOf(error)))) throw error;
    } finally {
      await unlinkIfThere(lock);
    }
  }

  async #takeLock(lock: string): Promise<boolean> {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      return true;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      const found = await statOrUndefined(lock);
      // Left by a process that died while rotating; the next write may take it.
      if (found !== undefined && ageSince(found.mtimeMs, this.#now()) > STALE_LOCK_MS) await unlinkIfThere(lock);
      return false;
    }
  }

  /** What is gone is written down where it would have been found. */
  async #note(dropped: number): Promise<void> {
    if (dropped === 0) return;
    const line = { time: new Date(this.#now()).toISOString(), event: 'dropped', count: dropped };
    await (await this.#open()).write(`${JSON.stringify(line)}\n`);
  }
}

const identityOf = (stats: Stats): string => `${stats.dev}:${stats.ino}`;
const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException | undefined)?.code;

async function statOrUndefined(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function unlinkIfThere(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

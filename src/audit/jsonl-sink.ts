/**
 * Appends audit lines to a file and rotates it by size. Several processes can share the file: every write is one
 * O_APPEND call, rotation renames to a unique name, and a writer notices that its file was rotated.
 * @module
 */

import { randomBytes } from 'node:crypto';
import { constants, type Stats, writeSync } from 'node:fs';
import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ageSince, wallNow } from '../async/clock.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { codeOf, unlessMissing } from '../disk/file-error.ts';
import { makeFolder } from '../disk/make-folder.ts';
import type { AuditSink } from './audit-entry.ts';
import { type Retention, retain } from './retention.ts';

/** The file and its rotation. */
export interface JsonlSinkOptions {
  readonly file: string;
  /** A file that would exceed this size is rotated. Default 10 MiB. */
  readonly maxBytes?: number | undefined;
  /** How many rotated files are kept. Default 5. */
  readonly files?: number | undefined;
  /** At each rotation, rotated files last written longer ago are removed. Default 90. */
  readonly days?: number | undefined;
  /** How many calls of each tool are kept from surplus rotated files. Default 100. */
  readonly perTool?: number | undefined;
  readonly now?: (() => number) | undefined;
}

const NEWLINE = 0x0a;

/** The audit file. Nothing is created before the first write. */
export class JsonlSink implements AuditSink {
  readonly #file: string;
  readonly #maxBytes: number;
  readonly #retention: Retention;
  readonly #now: () => number;
  #handle: FileHandle | undefined;
  #identity = '';
  /** The file ends in half a line, so the next write starts a new one. */
  #torn = false;
  #partial: { readonly lines: string; readonly from: number } | undefined;
  /** Bytes that may be appended without another stat, and until when. */
  #room = 0;
  #lookAgain = Number.NEGATIVE_INFINITY;

  constructor(options: JsonlSinkOptions) {
    this.#file = options.file;
    this.#maxBytes = options.maxBytes ?? DEFAULTS.audit.maxBytes;
    this.#retention = {
      files: options.files ?? DEFAULTS.audit.files,
      days: options.days ?? DEFAULTS.audit.days,
      perTool: options.perTool ?? LIMITS.audit.perTool,
      keptBytes: this.#maxBytes,
    };
    this.#now = options.now ?? wallNow;
  }

  /** Usually writes synchronously: this takes a few microseconds, and the lines survive a crash of the process. */
  write(lines: string): Promise<void> | void {
    const bytes = Buffer.from(lines, 'utf8');
    if (!this.#appended(lines, bytes)) return this.#writeCarefully(lines, bytes);
  }

  #appended(lines: string, bytes: Buffer): boolean {
    const handle = this.#handle;
    if (handle === undefined || this.#torn || this.#partial || bytes.length > this.#room) return false;
    const left = this.#lookAgain - this.#now();
    // If the clock was set back, check again.
    if (left <= 0 || left > LIMITS.pace.stat) return false;
    let written = 0;
    try {
      written = writeSync(handle.fd, bytes);
    } catch {
      // The slow path meets the same error and reports it.
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
      if (bytesWritten === 0) throw new Error(`No bytes could be written to ${this.#file}. Check the free disk space.`);
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

  /**
   * After a partial write, as on a full disk, continues after the last whole line, so that no other writer's line lands
   * inside ours.
   */
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
    const found = await stat(this.#file).catch(unlessMissing);
    this.#lookAgain = this.#now() + LIMITS.pace.stat;
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

  /** A device or a pipe may block, so it is never written synchronously. */
  #roomIn(found: Stats): number {
    return found.isFile() ? this.#maxBytes - found.size : 0;
  }

  /** Rotates a full file, unless another process is doing so; appending continues in either case. */
  async #rotate(): Promise<void> {
    const lock = `${this.#file}.lock`;
    if (!(await this.#takeLock(lock))) return;
    try {
      const found = await stat(this.#file).catch(unlessMissing);
      // Windows cannot rename an open file.
      await this.close();
      if (found === undefined || identityOf(found) !== this.#identity) return;
      const stamp = new Date(this.#now()).toISOString().replaceAll(':', '-');
      await rename(this.#file, `${this.#file}.${stamp}-${randomBytes(3).toString('hex')}`);
      await this.#note(await retain(this.#file, this.#retention, this.#now()));
    } catch (error) {
      // An oversized file is better than a missing record.
      if (!['EPERM', 'EACCES', 'EBUSY'].includes(String(codeOf(error)))) throw error;
    } finally {
      await unlink(lock).catch(unlessMissing);
    }
  }

  async #takeLock(lock: string): Promise<boolean> {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      return true;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      const found = await stat(lock).catch(unlessMissing);
      // Left by a process that died while rotating; the next write may take the lock.
      if (found !== undefined && ageSince(found.mtimeMs, this.#now()) > LIMITS.age.auditLock)
        await unlink(lock).catch(unlessMissing);
      return false;
    }
  }

  /** Writes the number of removed records into the log. */
  async #note(dropped: number): Promise<void> {
    if (dropped === 0) return;
    const line = { time: new Date(this.#now()).toISOString(), event: 'dropped', count: dropped };
    await (await this.#open()).write(`${JSON.stringify(line)}\n`);
  }
}

const identityOf = (stats: Stats): string => `${stats.dev}:${stats.ino}`;

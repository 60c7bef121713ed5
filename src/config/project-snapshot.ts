/**
 * Reads the files that came with a project, each once: what was hashed is what is shown is what runs, whoever writes
 * meanwhile. Bytes are kept for the time of one load. Only admitted files are handed out.
 * @module
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';
import { noteRead } from './heard-reads.ts';
import { isInside } from './paths.ts';
import type { TrustRecord } from './trust-store.ts';

/** All files of one load together that no person has trusted; they are only hashed. */
const TOTAL_MIB = 8;

/** What identifies a configuration as a person saw it. */
export interface Fingerprint {
  readonly hash: string;
  /** Absolute paths of every file the hash covers, the configuration first. */
  readonly files: readonly string[];
}

/** A file that no trusted hash covers, or one beyond what is hashed. */
export class NotTrusted extends ConfigurationError {}

/** More files than are hashed: none of them counts as trusted. */
export class TooManyFiles extends NotTrusted {}

/**
 * Which files are handed out.
 *
 * - `sealed`: those that were admitted
 * - `open`: all, because somebody said so
 * - a folder: those that really lie in it, to be shown to a person
 */
export type Admission = 'sealed' | 'open' | { readonly folder: string };

/** What was read of a path: bytes, nothing, or why it cannot be read. */
type Content = Buffer | undefined | ConfigurationError;

/** The bytes of one load. */
class Memory {
  readonly contents = new Map<string, Content>();
  /** Files that a person has trusted in some state. */
  readonly favoured = new Set<string>();
  /** Bytes of all others. */
  total = 0;
}

export class Snapshot {
  readonly #memory: Memory;
  readonly #admission: Admission;
  /** Everything that was handed out or may be, in order. */
  readonly #admitted = new Set<string>();

  constructor(admission: Admission = 'sealed', from?: Snapshot) {
    this.#admission = admission;
    this.#memory = from === undefined ? new Memory() : from.#memory;
  }

  /** Whether nothing is held back. */
  get isOpen(): boolean {
    return this.#admission === 'open';
  }

  /** Whether it is read to be shown to a person. */
  get isShowing(): boolean {
    return typeof this.#admission === 'object';
  }

  /** The files that were admitted so far. */
  get admitted(): readonly string[] {
    return [...this.#admitted];
  }

  admit(paths: Iterable<string>): void {
    for (const path of paths) this.#admitted.add(path);
  }

  /** Has files read however much else there is: what nobody trusts hides nothing that somebody does. */
  favour(paths: Iterable<string>): void {
    for (const path of paths) this.#memory.favoured.add(path);
  }

  /** Whether the files of a record are what they were, and if so admits them. */
  verify(path: string, { hash, files }: TrustRecord): boolean {
    if (files.length >= LIMITS.files.configuration || this.hashOf(path, files) !== hash) return false;
    this.admit([path, ...files]);
    return true;
  }

  /**
   * One hash of a file and of those it was trusted with; undefined when one of them cannot be read. A byte order mark is
   * no part of a file's content.
   */
  hashOf(path: string, others: readonly string[]): string | undefined {
    const hash = createHash('sha256');
    for (const file of [...new Set([path, ...others])].sort()) {
      const bytes = this.#read(file);
      if (!Buffer.isBuffer(bytes)) return undefined;
      hash.update(`${relative(dirname(path), file)}\n${digest(bytes)}\n`);
    }
    return hash.digest('hex');
  }

  /** The text of an admitted file, undefined when there is none. */
  text(path: string): string | undefined {
    const bytes = this.#admittedBytes(path);
    return bytes === undefined ? undefined : decode(path, bytes);
  }

  /** The text of a file that may turn out not to be trusted: for nothing but to find that out. */
  peek(path: string): string | undefined {
    const content = this.#read(path);
    if (content instanceof ConfigurationError) throw content;
    return content === undefined ? undefined : decode(path, content);
  }

  /** The hash of one admitted file, by which a later reading is compared. */
  pin(path: string): string | undefined {
    const bytes = this.#admittedBytes(path);
    return bytes === undefined ? undefined : digest(bytes);
  }

  /** Keeps what somebody else has read of a file; false when something else was read of it before. */
  remember(path: string, text: string): boolean {
    const { contents } = this.#memory;
    const held = contents.get(path);
    if (!contents.has(path)) contents.set(path, Buffer.from(text));
    else if (!Buffer.isBuffer(held) || digest(held) !== digest(Buffer.from(text))) return false;
    return true;
  }

  #admittedBytes(path: string): Buffer | undefined {
    if (!this.#mayAdmit(path)) {
      throw new NotTrusted(
        this.isShowing
          ? `${shown(path)} lies outside this project, so it is not read with it.`
          : `${shown(path)} is not part of what was trusted.`,
      );
    }
    const content = this.#read(path);
    if (content instanceof ConfigurationError) throw content;
    if (content === undefined || this.#admitted.has(path)) return content;
    if (this.#admission !== 'open' && this.#admitted.size >= LIMITS.files.configuration) {
      throw new TooManyFiles(
        `There are more than ${LIMITS.files.configuration} files to trust at once, so they cannot be trusted.`,
      );
    }
    this.#admitted.add(path);
    return content;
  }

  #mayAdmit(path: string): boolean {
    if (this.#admission === 'open' || this.#admitted.has(path)) return true;
    return this.#admission !== 'sealed' && isReallyInside(path, this.#admission.folder);
  }

  #read(path: string): Content {
    const { contents } = this.#memory;
    if (contents.has(path)) return contents.get(path);
    noteRead(path);
    const isCounted = !this.isOpen && !this.#memory.favoured.has(path);
    const left = isCounted ? LIMITS.files.projectTotal - this.#memory.total : Number.POSITIVE_INFINITY;
    const content = readOnce(path, this.isOpen ? LIMITS.files.bytes : LIMITS.files.projectBytes, left);
    if (isCounted && Buffer.isBuffer(content)) this.#memory.total += content.length;
    contents.set(path, content);
    return content;
  }
}

/** The hash of one file's content. A byte order mark is no part of it. */
export const digest = (bytes: Buffer): string => createHash('sha256').update(withoutMark(bytes)).digest('hex');

const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;

function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ConfigurationError(`${shown(path)} is not UTF-8 text. Save it as UTF-8.`, [], { cause: error });
  }
}

/** Links are followed before the folder is compared. What is not there lies nowhere. */
export function isReallyInside(path: string, folder: string): boolean {
  try {
    return isInside(realpathSync.native(path), realpathSync.native(folder));
  } catch (error) {
    // A file that is not there can be asked for: the answer is that there is none.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && isInside(path, folder);
  }
}

/** Opened without waiting, so that a pipe nobody writes to keeps nobody; looked at through what was opened. */
function readOnce(path: string, limit: number, left: number): Content {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const info = fstatSync(file);
    if (info.isDirectory()) return refused(path, 'is a folder. Name the file inside it');
    if (!info.isFile()) return refused(path, 'is not a regular file');
    const bytes = info.size > Math.min(limit, left) ? undefined : readAll(file, Math.min(limit, left));
    if (bytes !== undefined) return bytes;
    return info.size <= limit && left < limit
      ? refused(path, `is not read: with it, files that nobody has trusted would be ${TOTAL_MIB} MiB and more`)
      : refused(path, `is larger than ${limit / 1024} KiB, more than is read of a configuration`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const hint = code === 'EACCES' || code === 'EPERM' ? 'may not be read by this user. Check its permissions' : '';
    return refused(path, hint || `cannot be read (${code ?? String(error)})`, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Undefined when there is more than allowed, also in a file that grows meanwhile. */
function readAll(file: number, limit: number): Buffer | undefined {
  const chunks: Buffer[] = [];
  for (let total = 0; total <= limit; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const count = readSync(file, chunk, 0, chunk.length, null);
    if (count === 0) return Buffer.concat(chunks, total);
    chunks.push(chunk.subarray(0, count));
    total += count;
  }
  return undefined;
}

const refused = (path: string, what: string, cause?: unknown) =>
  new ConfigurationError(`${shown(path)} ${what}.`, [], cause === undefined ? {} : { cause });

/** A path that somebody else chose, for people and agents. */
const shown = (path: string): string => oneLine(path, LIMITS.text.path);

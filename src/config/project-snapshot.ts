/**
 * Reads each project file once per load, so that the bytes hashed, shown and run are the same even if the file changes
 * meanwhile. Only admitted files are handed out.
 * @module
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';
import { digest } from './content-digest.ts';
import { noteRead } from './heard-reads.ts';
import { isInside } from './paths.ts';
import type { TrustRecord } from './trust-store.ts';

/** The limit for all untrusted files of one load together. They are only hashed. */
const TOTAL_MIB = 8;

/** Identifies a configuration as the user saw it. */
export interface Fingerprint {
  readonly hash: string;
  /** Absolute paths of every file the hash covers, the configuration first. */
  readonly files: readonly string[];
}

/** No trusted hash covers the file, or it is beyond the limit of hashed files. */
export class NotTrusted extends ConfigurationError {}

/** There are more files than are hashed, so none of them counts as trusted. */
export class TooManyFiles extends NotTrusted {}

/**
 * Which files are handed out.
 * - `sealed`: only admitted files
 * - `open`: all files, because the user said so
 * - a folder: files that really lie in it, for a preview
 */
type Admission = 'sealed' | 'open' | { readonly folder: string };

/** The result of reading a path: bytes, nothing, or the error. */
type Content = Buffer | undefined | ConfigurationError;

/** The bytes of one load. */
class Memory {
  readonly contents = new Map<string, Content>();
  /** Files that the user has trusted in some state. */
  readonly favoured = new Set<string>();
  /** Bytes of all other files. */
  total = 0;
}

export class Snapshot {
  readonly #memory: Memory;
  readonly #admission: Admission;
  /** Every file that was or may be handed out, in order. */
  readonly #admitted = new Set<string>();

  constructor(admission: Admission = 'sealed', from?: Snapshot) {
    this.#admission = admission;
    this.#memory = from === undefined ? new Memory() : from.#memory;
  }

  /** True if every file may be handed out. */
  get isOpen(): boolean {
    return this.#admission === 'open';
  }

  /** True for a preview. */
  get isShowing(): boolean {
    return typeof this.#admission === 'object';
  }

  /** The files admitted so far. */
  get admitted(): readonly string[] {
    return [...this.#admitted];
  }

  admit(paths: Iterable<string>): void {
    for (const path of paths) this.#admitted.add(path);
  }

  /** Exempts files from the total size limit, so that untrusted files cannot crowd out trusted ones. */
  favour(paths: Iterable<string>): void {
    for (const path of paths) this.#memory.favoured.add(path);
  }

  /** Tells whether the files of a record are unchanged, and if so admits them. */
  verify(path: string, { hash, files }: TrustRecord): boolean {
    if (files.length >= LIMITS.files.configuration || this.hashOf(path, files) !== hash) return false;
    this.admit([path, ...files]);
    return true;
  }

  /**
   * Returns one hash of a file and the files trusted with it; undefined when one of them cannot be read. A byte order
   * mark is not hashed.
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

  /** Returns the text of an admitted file; undefined when it is missing. */
  text(path: string): string | undefined {
    const bytes = this.#admittedBytes(path);
    return bytes === undefined ? undefined : decode(path, bytes);
  }

  /** Returns the text of a file whose trust is not yet known. Use it only to find that out. */
  peek(path: string): string | undefined {
    const content = this.#read(path);
    if (content instanceof ConfigurationError) throw content;
    return content === undefined ? undefined : decode(path, content);
  }

  /** Returns the hash of one admitted file, to compare with a later read. */
  pin(path: string): string | undefined {
    const bytes = this.#admittedBytes(path);
    return bytes === undefined ? undefined : digest(bytes);
  }

  /** Stores text that the caller has read. Returns false if the stored content differs. */
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
          ? `${shown(path)} lies outside this project, so it is not read.`
          : `${shown(path)} is not one of the trusted files.`,
      );
    }
    const content = this.#read(path);
    if (content instanceof ConfigurationError) throw content;
    if (content === undefined || this.#admitted.has(path)) return content;
    if (this.#admission !== 'open' && this.#admitted.size >= LIMITS.files.configuration) {
      throw new TooManyFiles(
        `More than ${LIMITS.files.configuration} files would have to be trusted at once; that is the limit, so none is trusted.`,
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

function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ConfigurationError(`${shown(path)} is not UTF-8 text. Save it as UTF-8.`, [], { cause: error });
  }
}

/** Tells whether a path lies in a folder after following links. */
export function isReallyInside(path: string, folder: string): boolean {
  try {
    return isInside(realpathSync.native(path), realpathSync.native(folder));
  } catch (error) {
    // A missing file may be asked for; the result is that there is none.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && isInside(path, folder);
  }
}

/**
 * Reads a file. Opens it non-blocking, so that a pipe without a writer does not hang; inspects the opened file, not the
 * path.
 */
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
      ? refused(path, `is not read: untrusted files already take up ${TOTAL_MIB} MiB, the limit`)
      : refused(path, `is larger than ${limit / 1024} KiB, the limit for a configuration`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const hint = code === 'EACCES' || code === 'EPERM' ? 'may not be read by this user. Check its permissions' : '';
    return refused(path, hint || `cannot be read (${code ?? String(error)})`, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Undefined when the file exceeds the limit, even if it grows while being read. */
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

/** Shortens an untrusted path for display. */
const shown = (path: string): string => oneLine(path, LIMITS.text.path);

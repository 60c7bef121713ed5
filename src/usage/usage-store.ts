/**
 * Stores usage records on disk, one file per principal. A use counts in memory at once and is written a little later,
 * merged with what other processes wrote meanwhile. Records may be deleted at any time: an unreadable file counts as
 * absent, and a failed write is reported, at most once a minute.
 * @module
 */

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { ageSince } from '../async/clock.ts';
import { FileStore } from '../cache/file-store.ts';
import { type DocumentType, readDocument, writeDocument } from '../cache/versioned.ts';
import { LIMITS } from '../core/limits.ts';
import type { Logger } from '../core/types.ts';
import { type Attempt, warnOnce } from '../core/warn-once.ts';
import { withLock } from '../disk/file-lock.ts';
import { UsageRecord } from '../search/usage-record.ts';

/** One use of a tool after a query. */
export interface Use {
  readonly query: string;
  readonly server: string;
  readonly tool: string;
  readonly at: number;
  /** How much the use teaches; 1 is a plain use. */
  readonly weight: number;
}

export interface UsageStoreOptions {
  readonly folder: string;
  /** Whether the text of queries is kept too. */
  readonly keepQueries: boolean;
  readonly logger: Logger;
  readonly now: () => number;
  /** How long uses are batched before writing. */
  readonly writeAfterMs?: number | undefined;
}

/** The content of one file. The salt prevents looking up hashes in a precomputed table. */
interface Kept {
  readonly salt: string;
  readonly record: unknown;
}

interface Book {
  record: UsageRecord;
  readAt: number;
  /** Uses not yet on disk, unhashed: another process may have created the file with another salt. */
  pending: Use[];
}

const KEPT: DocumentType<Kept> = {
  kind: 'usage',
  version: 1,
  check: (data): data is Kept => typeof (data as Kept | null)?.salt === 'string',
};

export class UsageStore {
  readonly folder: string;
  readonly keepQueries: boolean;
  readonly #options: UsageStoreOptions;
  readonly #files: FileStore;
  readonly #books = new Map<string, Promise<Book>>();
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  readonly #attempt: Attempt;

  constructor(options: UsageStoreOptions) {
    this.#options = options;
    this.folder = options.folder;
    this.keepQueries = options.keepQueries;
    this.#files = new FileStore(options.folder, { now: options.now });
    this.#attempt = warnOnce(options);
  }

  /** Returns the record of one principal; without one, of the local user. */
  async recordOf(principal: string | undefined): Promise<UsageRecord> {
    const key = keyOf(principal);
    const book = await this.#book(key);
    // `ageSince` is never negative, so a clock that was set back does not delay the next read.
    if (ageSince(book.readAt, this.#options.now()) > LIMITS.pace.usage) {
      book.readAt = this.#options.now();
      void this.#read(key).then((record) => this.#replace(book, record));
    }
    return book.record;
  }

  /** Counts a use at once and writes it later. */
  async add(principal: string | undefined, use: Use): Promise<void> {
    const book = await this.#book(keyOf(principal));
    note(book.record, use);
    book.pending.push(use);
    if (book.pending.length > LIMITS.cache.usagePending) book.pending.shift();
    this.#timer ??= setTimeout(() => void this.flush(), this.#options.writeAfterMs ?? LIMITS.pace.saving).unref();
  }

  /** Writes pending uses. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(async () => {
      for (const [key, opening] of this.#books) {
        const book = await opening;
        if (book.pending.length > 0) await this.#write(key, book);
      }
    });
    return this.#writing;
  }

  #book(key: string): Promise<Book> {
    const known = this.#books.get(key);
    if (known) return known;
    const opening = this.#read(key).then((record) => ({ record, readAt: this.#options.now(), pending: [] }));
    this.#books.set(key, opening);
    if (this.#books.size > LIMITS.cache.usageBooks) void this.#putAway();
    return opening;
  }

  /** Closes the books open longest; they are read again on demand. */
  async #putAway(): Promise<void> {
    await this.flush();
    for (const key of [...this.#books.keys()].slice(0, this.#books.size - LIMITS.cache.usageBooks))
      this.#books.delete(key);
  }

  #replace(book: Book, record: UsageRecord): void {
    for (const use of book.pending) note(record, use);
    book.record = record;
  }

  async #read(key: string): Promise<UsageRecord> {
    return (await this.#attempt(() => this.#load(key), complaintOf('read')))?.record ?? this.#recordFrom(newKept());
  }

  async #load(key: string): Promise<{ readonly salt: string; readonly record: UsageRecord }> {
    // Usually nothing was learnt yet, and every search waits for this.
    const kept = (existsSync(this.folder) ? await readDocument(this.#files, key, KEPT) : undefined) ?? newKept();
    return { salt: kept.salt, record: this.#recordFrom(kept) };
  }

  #recordFrom({ salt, record }: Kept): UsageRecord {
    const hash = (word: string): string => createHmac('sha256', salt).update(word).digest('base64url').slice(0, 8);
    return UsageRecord.from(record, { hash, keepQueries: this.keepQueries });
  }

  async #write(key: string, book: Book): Promise<void> {
    const add = async (): Promise<void> => {
      const { salt, record } = await this.#load(key);
      const uses = [...book.pending];
      for (const use of uses) note(record, use);
      await writeDocument(this.#files, key, KEPT, { salt, record: record.toJSON() });
      book.pending = book.pending.slice(uses.length);
      book.readAt = this.#options.now();
      this.#replace(book, record);
    };
    await this.#attempt(
      () => withLock(this.#files.pathOf(key), add, { waitMs: LIMITS.time.lastWrite }),
      complaintOf('written'),
    );
  }
}

const complaintOf = (verb: string): string => `what was learnt from use could not be ${verb}`;

const note = (record: UsageRecord, { query, server, tool, at, weight }: Use): void =>
  record.record(query, server, tool, at, weight);

const newKept = (): Kept => ({ salt: randomBytes(16).toString('base64url'), record: undefined });

/** A principal may be a mail address, so the file name is a hash of it. */
const keyOf = (principal: string | undefined): string =>
  principal === undefined ? 'local' : `principal-${createHash('sha256').update(principal).digest('hex').slice(0, 32)}`;

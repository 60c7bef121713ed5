/**
 * Keeps what was synced from one registry on disk. Entries lie in chunks that are written once; a table of contents says
 * which chunk has the current entry of each name. A sync writes new chunks, then a new search index, then the table,
 * which makes all of them visible at once. Every file has a digest; a damaged one counts as absent.
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FileStore } from '../cache/file-store.ts';
import { type DocumentType, readDocument, writeDocument } from '../cache/versioned.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { isLocked, withLock } from '../disk/file-lock.ts';
import { isObject } from '../json/plain-object.ts';
import { readEntry } from './read-page.ts';
import type { RegistryEntry } from './registry-server.ts';

export interface RegistryContents {
  readonly url: string;
  /** Names the search index that belongs to it. */
  readonly index: string;
  /** Milliseconds since 1970: the last sync, and the last one that read everything. */
  readonly syncedAt: number;
  readonly fullAt: number;
  /** What the next sync asks for, and the ETag of the last answer to just that. */
  readonly since: string;
  readonly etag?: string | undefined;
  /** The chunks, with the names whose current entries they hold. */
  readonly chunks: readonly { readonly id: string; readonly names: readonly string[] }[];
}

/** An answer to a question, kept for a while. */
export interface KeptAnswer {
  readonly at: number;
  readonly etag?: string | undefined;
  readonly body: unknown;
}

const isContents = (data: unknown): data is RegistryContents =>
  isObject(data) &&
  [data.url, data.index, data.since].every((text) => typeof text === 'string') &&
  [data.syncedAt, data.fullAt].every((time) => typeof time === 'number') &&
  (data.etag === undefined || typeof data.etag === 'string') &&
  Array.isArray(data.chunks) &&
  data.chunks.every((chunk) => isObject(chunk) && typeof chunk.id === 'string' && isTexts(chunk.names));

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((text) => typeof text === 'string');

const CONTENTS: DocumentType<RegistryContents> = { kind: 'registry-contents', version: 1, check: isContents };
const ANSWER: DocumentType<KeptAnswer> = {
  kind: 'registry-answer',
  version: 1,
  check: (data): data is KeptAnswer => isObject(data) && typeof data.at === 'number',
};
const CONTENTS_KEY = 'contents';
const LINE = '\n';

/** A file of the store is damaged or gone; the registry has to be read again. */
export class DamagedStore extends DiscoveryError {
  constructor(file: string) {
    super('STORAGE_ERROR', `${file} is damaged. Run \`anygpt mcp registry sync --full\`.`);
  }
}

export class RegistryStore {
  readonly #files: FileStore;
  readonly #url: string;
  #read:
    | { readonly stamp: string; readonly contents: RegistryContents; readonly places: Map<string, string> }
    | undefined;

  /** @param folder the folder of all registries */
  constructor(folder: string, url: string) {
    this.#files = new FileStore(join(folder, folderName(url)));
    this.#url = url;
  }

  /** Runs work while no other process writes. */
  locked<T>(work: () => Promise<T>): Promise<T> {
    return withLock(this.#files.pathOf(CONTENTS_KEY), work);
  }

  /** Tells whether another process, or another part of this one, writes now. */
  isBeingWritten(): Promise<boolean> {
    return isLocked(this.#files.pathOf(CONTENTS_KEY));
  }

  /** Returns the table of contents; undefined if nothing was synced or the table is damaged. */
  async contents(): Promise<RegistryContents | undefined> {
    return (await this.#current())?.contents;
  }

  /** Returns the names of all servers. */
  async names(): Promise<readonly string[]> {
    return [...((await this.#current())?.places.keys() ?? [])];
  }

  async has(name: string): Promise<boolean> {
    return (await this.#current())?.places.has(name) ?? false;
  }

  /** Returns the entries of these names, as far as there are any. Throws `DamagedStore`. */
  async entries(names: Iterable<string>): Promise<Map<string, RegistryEntry>> {
    const current = await this.#current();
    const wanted = new Map<string, Set<string>>();
    for (const name of names) {
      const chunk = current?.places.get(name);
      if (chunk !== undefined) wanted.set(chunk, (wanted.get(chunk) ?? new Set()).add(name));
    }
    const found = new Map<string, RegistryEntry>();
    try {
      for (const [chunk, some] of wanted)
        for (const entry of await this.#chunk(chunk, some)) found.set(entry.server.name, entry);
    } catch (error) {
      if (!(await this.isReplaced(current?.contents))) throw error;
      return this.entries(names);
    }
    return found;
  }

  /** Tells whether another process has synced since: what a table of contents refers to may be gone then. */
  async isReplaced(contents: RegistryContents | undefined): Promise<boolean> {
    const now = await this.contents();
    return now !== undefined && now.index !== contents?.index;
  }

  /** Yields all entries, chunk by chunk. Throws `DamagedStore`. */
  async *all(): AsyncGenerator<readonly RegistryEntry[]> {
    for (const { id, names } of (await this.#current())?.contents.chunks ?? []) {
      if (names.length > 0) yield await this.#chunk(id, new Set(names));
    }
  }

  /** Returns the bytes of the search index of a table of contents. */
  index({ index }: RegistryContents): Promise<Uint8Array | undefined> {
    return this.#files.read(indexKey(index));
  }

  /** Replaces the search index of the current table, which was made by another version of this program. */
  writeIndex({ index }: RegistryContents, parts: readonly Uint8Array[]): Promise<void> {
    return this.#files.write(indexKey(index), parts);
  }

  /** Writes a chunk of entries, which nothing refers to yet. Returns its id. */
  async writeChunk(lines: readonly string[]): Promise<string> {
    const id = newId();
    await this.#files.write(chunkKey(id), Buffer.from(lines.join(LINE)));
    return id;
  }

  /** Writes the index, then the table of contents, then removes what nothing refers to any more. */
  async commit(contents: Omit<RegistryContents, 'index' | 'url'>, index: readonly Uint8Array[]): Promise<void> {
    const id = newId();
    await this.#files.write(indexKey(id), index);
    await this.#writeContents({ ...contents, url: this.#url, index: id });
    const used = new Set([CONTENTS_KEY, indexKey(id), ...contents.chunks.map((chunk) => chunkKey(chunk.id))]);
    // Answers to single questions go too: everything is here now.
    await this.#deleteAll((await this.#files.keys()).filter((key) => !used.has(key)));
  }

  /** Removes chunks that no table of contents will refer to. */
  discard(chunks: readonly string[]): Promise<void> {
    return this.#deleteAll(chunks.map(chunkKey));
  }

  /** Notes that a sync found nothing new. */
  async touch(contents: RegistryContents, syncedAt: number, etag: string | undefined): Promise<void> {
    await this.#writeContents({ ...contents, syncedAt, etag: etag ?? contents.etag });
  }

  /** Returns a kept answer. */
  answer(question: string): Promise<KeptAnswer | undefined> {
    return readDocument(this.#files, answerKey(question), ANSWER);
  }

  async keepAnswer(question: string, answer: KeptAnswer): Promise<void> {
    const key = answerKey(question);
    const kept = (await this.#files.keys()).filter((one) => one.startsWith(ANSWER_PREFIX) && one !== key);
    await this.#deleteAll(kept.slice(LIMITS.registry.answers - 1));
    await writeDocument(this.#files, key, ANSWER, answer);
  }

  async #deleteAll(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#files.delete(key);
  }

  async #writeContents(contents: RegistryContents): Promise<void> {
    await writeDocument(this.#files, CONTENTS_KEY, CONTENTS, contents);
    this.#read = undefined;
  }

  /** Reads the table of contents, unless the file is still the one that was read last. */
  async #current() {
    const info = await stat(this.#files.pathOf(CONTENTS_KEY)).catch(() => undefined);
    if (info === undefined) return undefined;
    const stamp = `${info.ino} ${info.size} ${info.mtimeMs}`;
    if (this.#read?.stamp === stamp) return this.#read;
    const contents = await readDocument(this.#files, CONTENTS_KEY, CONTENTS);
    if (contents === undefined || contents.url !== this.#url) return undefined;
    const places = new Map<string, string>();
    for (const { id, names } of contents.chunks) for (const name of names) places.set(name, id);
    this.#read = { stamp, contents, places };
    return this.#read;
  }

  async #chunk(id: string, wanted: ReadonlySet<string>): Promise<RegistryEntry[]> {
    const bytes = await this.#files.read(chunkKey(id));
    if (bytes === undefined) throw new DamagedStore(this.#files.pathOf(chunkKey(id)));
    // Of two entries with one name the later counts.
    const entries = new Map<string, RegistryEntry>();
    for (const line of Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8').split(LINE)) {
      const tab = line.indexOf('\t');
      const name = line.slice(0, tab);
      if (!wanted.has(name)) continue;
      const entry = readEntry(JSON.parse(line.slice(tab + 1)));
      if (typeof entry !== 'string') entries.set(name, entry);
    }
    return [...entries.values()];
  }
}

/** An entry as a line of a chunk: its name, a tab, and the envelope of the API. */
export function toLine({ server, raw, status, message, publishedAt, updatedAt, isLatest }: RegistryEntry): string {
  const official = { status, statusMessage: message, publishedAt, updatedAt, isLatest };
  const envelope = { server: raw, _meta: { 'io.modelcontextprotocol.registry/official': official } };
  return `${server.name}\t${JSON.stringify(envelope)}`;
}

const ANSWER_PREFIX = 'answer ';
const answerKey = (question: string): string => ANSWER_PREFIX + question;
const indexKey = (id: string): string => `index ${id}`;
const chunkKey = (id: string): string => `chunk ${id}`;
const newId = (): string => randomBytes(12).toString('hex');

/** The folder of a registry: readable, and unique to its address. */
function folderName(url: string): string {
  const slug = url
    .replace(/^https?:\/\//, '')
    .replace(/[^a-z0-9]+/gi, '-')
    .slice(0, 40)
    .toLowerCase();
  return `${slug}-${createHash('sha256').update(url).digest('hex').slice(0, 16)}`;
}

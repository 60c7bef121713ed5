/**
 * Syncs one registry to disk: everything the first time, then what has changed since. Nothing is visible before all of it
 * is written; a sync that fails or is cancelled leaves what was there.
 * @module
 */
import { wallNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolMetadata } from '../core/types.ts';
import { isNewer } from './newer-version.ts';
import type { ListedPage, RegistryClient } from './registry-client.ts';
import { byPublisher, RegistryIndex, toDocument } from './registry-index.ts';
import { publisherOf, type RegistryEntry, shortNameOf } from './registry-server.ts';
import { DamagedStore, type RegistryContents, type RegistryStore, toLine } from './registry-store.ts';

export interface SyncOptions {
  /** Read everything again. */
  readonly full?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called after each page. */
  readonly onProgress?: ((progress: SyncProgress) => void) | undefined;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

export interface SyncProgress {
  readonly registry: string;
  readonly entries: number;
  /** `indexing` is the last step. */
  readonly step: 'reading' | 'indexing';
}

/** What a sync did. */
export interface SyncReport {
  readonly registry: string;
  /** Whether everything was read, or only what had changed. */
  readonly full: boolean;
  readonly total: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Entries that could not be used, and some of the reasons. */
  readonly skipped: number;
  readonly reasons: readonly string[];
}

/** Syncs a registry. Other processes that sync it wait. */
export const syncRegistry = (
  client: RegistryClient,
  store: RegistryStore,
  { full = false, now = wallNow, ...options }: SyncOptions = {},
): Promise<SyncReport> =>
  store.locked(async () => {
    const contents = await store.contents();
    const isDue =
      contents === undefined ||
      Math.abs(now() - contents.fullAt) > LIMITS.age.registryFull ||
      contents.chunks.length >= LIMITS.registry.chunks;
    if (full || isDue) return readAll(client, store, { ...options, now });
    try {
      return await readChanges(client, store, contents, { ...options, now });
    } catch (error) {
      if (!(error instanceof DamagedStore) && !(error instanceof TooManyChanges)) throw error;
      return readAll(client, store, { ...options, now });
    }
  });

/** Too much has changed to be held in memory. Reading everything writes as it reads. */
class TooManyChanges extends Error {}

type Settled = Pick<SyncOptions, 'signal' | 'onProgress'> & { readonly now: () => number };

async function readAll(client: RegistryClient, store: RegistryStore, { signal, onProgress, now }: Settled) {
  const startedAt = now();
  const before = new Set(await store.names());
  const chunks = new ChunkWriter(store);
  const skips = new Skips();
  const known = new Map<string, KnownEntry>();
  // As packed texts, which take a fifth of the memory.
  const documents = new Map<string, string>();
  let since = startedAt;
  try {
    for await (const { page, date } of client.list({ signal })) {
      if (known.size === 0) since = beganAt(date, startedAt);
      skips.add(page.skipped);
      for (const entry of page.entries) {
        const { name, version } = entry.server;
        const other = known.get(name);
        if (other !== undefined && !isNewer(entry, other)) continue;
        const { isLatest, updatedAt, status } = entry;
        known.set(name, { server: { version }, isLatest, updatedAt });
        if (status === 'deleted') {
          // The newest version was withdrawn, so the server is removed.
          documents.delete(name);
          continue;
        }
        if (documents.size >= LIMITS.registry.entries) {
          skips.add([`only ${LIMITS.registry.entries} servers of one registry are kept`]);
          continue;
        }
        if (await chunks.add(entry, skips)) documents.set(name, packed(toDocument(entry)));
      }
      onProgress?.({ registry: client.name, entries: documents.size, step: 'reading' });
    }
    await chunks.flush();
    onProgress?.({ registry: client.name, entries: documents.size, step: 'indexing' });
    const table = placesOf(chunks, new Set(documents.keys()));
    const removed = [...before].filter((name) => !documents.has(name)).length;
    const added = [...documents.keys()].filter((name) => !before.has(name)).length;
    const total = documents.size;
    const index = new RegistryIndex();
    known.clear();
    await index.set(takenOut(documents));
    await store.commit(
      { syncedAt: startedAt, fullAt: startedAt, since: sinceText(since), chunks: table },
      index.parts(),
    );
    return { ...reportOf(client, true, skips), total, added, changed: total - added, removed };
  } catch (error) {
    await store.discard(chunks.written.map(({ id }) => id));
    throw error;
  }
}

async function readChanges(
  client: RegistryClient,
  store: RegistryStore,
  contents: RegistryContents,
  { signal, onProgress, now }: Settled,
): Promise<SyncReport> {
  const startedAt = now();
  const skips = new Skips();
  const latest = new Map<string, RegistryEntry>();
  const deleted = new Map<string, RegistryEntry>();
  let first: ListedPage | undefined;
  let [count, size] = [0, 0];
  for await (const listed of client.list({ updatedSince: contents.since, etag: contents.etag, signal })) {
    first ??= listed;
    skips.add(listed.page.skipped);
    for (const entry of listed.page.entries) {
      // Nothing is written before all is read, so what is read has to fit into memory.
      size += toLine(entry).length;
      if (++count > LIMITS.registry.entries || size > LIMITS.registry.bytes) throw new TooManyChanges();
      const { name } = entry.server;
      const group = entry.status === 'deleted' ? deleted : latest;
      const other = group.get(name);
      if (other === undefined || isNewer(entry, other)) group.set(name, entry);
    }
    onProgress?.({ registry: client.name, entries: latest.size, step: 'reading' });
  }
  const names = await store.names();
  const stored = await store.entries([...latest.keys(), ...deleted.keys()]);
  const isAway = (name: string): boolean => {
    const entry = deleted.get(name);
    const current = latest.get(name) ?? stored.get(name);
    return entry !== undefined && (current === undefined || isNewer(entry, current));
  };
  const away = new Set([...deleted.keys()].filter((name) => stored.has(name) && isAway(name)));
  const changed = [...latest.values()].filter((entry) => {
    const known = stored.get(entry.server.name);
    return (
      !isAway(entry.server.name) && (known === undefined || (isNewer(entry, known) && toLine(entry) !== toLine(known)))
    );
  });
  const before = new Set(names);
  if (away.size === 0 && changed.length === 0) {
    await store.touch(contents, startedAt, first?.etag);
    return { ...reportOf(client, false, skips), total: before.size, added: 0, changed: 0, removed: 0 };
  }
  onProgress?.({ registry: client.name, entries: changed.length, step: 'indexing' });
  const chunks = new ChunkWriter(store);
  const documents = new Map<string, ToolMetadata>();
  const room = LIMITS.registry.entries - before.size;
  for (const entry of changed) {
    const { name } = entry.server;
    if (!before.has(name) && documents.size >= room)
      skips.add([`only ${LIMITS.registry.entries} servers of one registry are kept`]);
    else if (await chunks.add(entry, skips)) documents.set(name, toDocument(entry));
  }
  await chunks.flush();
  const replaced = new Set([...documents.keys(), ...away]);
  const kept = contents.chunks.map(({ id, names }) => ({ id, names: names.filter((name) => !replaced.has(name)) }));
  const table = [...kept.filter(({ names }) => names.length > 0), ...placesOf(chunks, new Set(documents.keys()))];
  const index = await openIndex(store, contents);
  await index.change(documents.values(), away);
  await store.commit(
    {
      syncedAt: startedAt,
      fullAt: contents.fullAt,
      since: sinceText(beganAt(first?.date, startedAt)),
      chunks: table,
    },
    index.parts(),
  );
  const added = [...documents.keys()].filter((name) => !before.has(name)).length;
  return {
    ...reportOf(client, false, skips),
    total: before.size + added - away.size,
    added,
    changed: documents.size - added,
    removed: away.size,
  };
}

/** Opens the index of a store, or makes it again if it is damaged or of another version. Throws `DamagedStore`. */
export async function openIndex(store: RegistryStore, contents: RegistryContents): Promise<RegistryIndex> {
  const bytes = await store.index(contents);
  const ready = bytes && RegistryIndex.from(bytes);
  if (ready !== undefined) return ready;
  const index = new RegistryIndex();
  try {
    const documents: ToolMetadata[] = [];
    for await (const entries of store.all()) for (const entry of entries) documents.push(toDocument(entry));
    await index.set(byPublisher(documents));
  } catch (error) {
    if (!(await store.isReplaced(contents))) throw error;
  }
  const now = await store.contents();
  if (now !== undefined && (await store.isReplaced(contents))) return openIndex(store, now);
  await store.writeIndex(contents, index.parts());
  return index;
}

/** Takes documents out of a map, publisher by publisher, so that their memory gets free. */
function* takenOut(documents: Map<string, string>): Generator<readonly [string, readonly ToolMetadata[]]> {
  const groups = new Map<string, string[]>();
  for (const name of documents.keys()) {
    const publisher = publisherOf(name);
    if (!groups.get(publisher)?.push(name)) groups.set(publisher, [name]);
  }
  for (const [publisher, names] of groups) {
    yield [publisher, names.map((name) => unpacked(name, documents.get(name) ?? '[]'))];
    for (const name of names) documents.delete(name);
    groups.delete(publisher);
  }
}

/** A document as text, without the words of its name. */
const packed = ({ title, summary, signature, keywords, tags, enabled }: ToolMetadata): string =>
  JSON.stringify([summary, tags, enabled, signature, keywords, title]);

function unpacked(name: string, text: string): ToolMetadata {
  const [summary, tags, enabled, signature, keywords, title] = JSON.parse(text);
  const server = publisherOf(name);
  return { server, name: shortNameOf(name), summary, tags, enabled, signature, keywords, title: title ?? undefined };
}

type KnownEntry = Parameters<typeof isNewer>[1];

const DAY = 24 * 3_600_000;

/** The time of the registry's own clock, unless it is far off: a date in the future would hide all changes until then. */
const beganAt = (date: number | undefined, startedAt: number): number =>
  date !== undefined && Math.abs(date - startedAt) <= DAY ? date : startedAt;

const sinceText = (time: number): string => new Date(time - LIMITS.age.registryOverlap).toISOString();

const reportOf = ({ name }: RegistryClient, full: boolean, { count, reasons }: Skips) => ({
  registry: name,
  full,
  skipped: count,
  reasons,
});

/** The chunks that were written, each with the names whose last entry is in it. */
function placesOf({ written }: ChunkWriter, names: Set<string>): RegistryContents['chunks'] {
  const table = written.toReversed().map((chunk) => ({
    id: chunk.id,
    names: [...new Set(chunk.names)].filter((name) => names.delete(name)),
  }));
  return table.reverse();
}

/** Collects entries into chunks. */
class ChunkWriter {
  readonly written: { readonly id: string; readonly names: readonly string[] }[] = [];
  readonly #store: RegistryStore;
  #lines: string[] = [];
  #names: string[] = [];
  #size = 0;
  #total = 0;

  constructor(store: RegistryStore) {
    this.#store = store;
  }

  /** Adds an entry; false if it is too large. */
  async add(entry: RegistryEntry, skips: Skips): Promise<boolean> {
    const line = toLine(entry);
    const { name } = entry.server;
    this.#total += line.length;
    if (line.length > LIMITS.registry.entry || this.#total > LIMITS.registry.bytes) {
      skips.add([`${name} is too large`]);
      return false;
    }
    this.#lines.push(line);
    this.#names.push(name);
    this.#size += line.length;
    if (this.#size >= LIMITS.registry.chunk) await this.flush();
    return true;
  }

  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const id = await this.#store.writeChunk(this.#lines);
    this.written.push({ id, names: this.#names });
    [this.#lines, this.#names, this.#size] = [[], [], 0];
  }
}

/** Counts what was left out, and keeps some of the reasons. */
class Skips {
  count = 0;
  readonly reasons: string[] = [];

  add(reasons: readonly string[]): void {
    this.count += reasons.length;
    this.reasons.push(...reasons.slice(0, LIMITS.registry.skipped - this.reasons.length));
  }
}

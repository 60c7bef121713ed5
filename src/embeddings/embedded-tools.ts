/**
 * Keeps the vectors of all tools in step with the catalogue: reads them from disk, or embeds them in batches, and only
 * texts that have changed.
 * @module
 */

import { Semaphore } from '../async/semaphore.ts';
import { paced } from '../catalog/paced.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolMetadata } from '../core/types.ts';
import { BACKGROUND, backgroundTools } from './background.ts';
import type { GuardedEmbedder } from './guarded-embedder.ts';
import type { SourceServer, ToolSource } from './tool-source.ts';
import { textKey, toolText } from './tool-text.ts';
import type { VectorCache } from './vector-cache.ts';
import { VectorTable } from './vector-table.ts';

interface EmbeddedToolsOptions {
  readonly guard: GuardedEmbedder;
  readonly cache: VectorCache;
  /** The embedder's id. */
  readonly embedder: string;
  readonly maxTools?: number | undefined;
  readonly maxBytes?: number | undefined;
}

interface Entry {
  readonly server: SourceServer;
  readonly table: VectorTable;
  /** The stamp of a complete list; empty while vectors are missing. */
  stamp: string;
  missing: number;
  unsaved: number;
}

interface Item {
  readonly entry: Entry;
  readonly row: number;
  readonly text: string;
}

const BATCH = 64;
const SAVE_EVERY = 1024;

export class EmbeddedTools {
  source: ToolSource;
  readonly #options: EmbeddedToolsOptions;
  readonly #entries = new Map<string, Entry>();
  /** Keys of texts for which the embedder has no usable vector. */
  readonly #hopeless = new Set<string>();
  #restoring: Promise<unknown> | undefined;
  #stopped = false;

  constructor(source: ToolSource, options: EmbeddedToolsOptions) {
    this.source = source;
    this.#options = options;
  }

  /** Tools that have a vector. */
  get size(): number {
    let size = 0;
    for (const { table, server } of this.#entries.values()) if (server !== BACKGROUND) size += table.filled;
    return size;
  }

  table(server: string): VectorTable | undefined {
    return this.#entries.get(server)?.table;
  }

  /** Returns how many of a server's tools have a vector or will never have one. */
  settled(server: string): number {
    const table = this.table(server);
    if (!table) return 0;
    const hopeless = this.#hopeless.size === 0 ? [] : table.keys.filter((key) => this.#hopeless.has(key));
    return table.filled + hopeless.length;
  }

  /** Returns the servers with missing vectors. */
  stale(): SourceServer[] {
    return this.#servers().filter((server) => {
      const entry = this.#entries.get(server.name);
      return entry?.server.fingerprint !== server.fingerprint || entry.stamp !== server.stamp;
    });
  }

  /** Why there are too many tools for an embedder, if so. */
  get excess(): string | undefined {
    const { guard, maxTools = LIMITS.embeddings.tools, maxBytes = LIMITS.embeddings.bytes } = this.#options;
    const tools = this.source.servers().reduce((sum, { toolCount }) => sum + toolCount, 0);
    if (tools > maxTools) return `There are ${tools} tools; an embedder is used for at most ${maxTools}.`;
    const bytes = tools * (guard.length ?? 0);
    return bytes > maxBytes ? `The vectors of ${tools} tools would take more than ${maxBytes} bytes.` : undefined;
  }

  /** Reads vectors from disk for servers not read yet, and drops servers that are gone. */
  async restore(): Promise<void> {
    if (this.excess !== undefined) return;
    const servers = new Map(this.#servers().map((server) => [server.name, server]));
    for (const name of this.#entries.keys()) if (!servers.has(name)) this.#entries.delete(name);
    const unknown = [...servers.values()].filter(
      ({ name, fingerprint }) => this.#entries.get(name)?.server.fingerprint !== fingerprint,
    );
    if (unknown.length === 0) return;
    if (this.#restoring === undefined) {
      const turns = new Semaphore(LIMITS.atOnce.files);
      this.#restoring = Promise.all(unknown.map((server) => turns.run(() => this.#read(server)))).finally(() => {
        this.#restoring = undefined;
      });
    }
    await this.#restoring;
  }

  /**
   * Embeds until nothing is missing, including lists that change meanwhile. Rejects when the embedder fails; earlier
   * vectors are kept.
   */
  async embedAll(): Promise<void> {
    await this.restore();
    const prepared = new Set<string>();
    const queue: Item[] = [];
    try {
      while (!this.#stopped && this.excess === undefined) {
        const next = this.stale().find(({ name, stamp }) => !prepared.has(JSON.stringify([name, stamp])));
        if (next) {
          prepared.add(JSON.stringify([next.name, next.stamp]));
          queue.push(...(await this.#prepare(next)));
        } else if (queue.length === 0) return;
        // The length of vectors, and so their memory, is known only after the first batch.
        while (this.excess === undefined && (queue.length >= BATCH || (!next && queue.length > 0)))
          await this.#embed(queue.splice(0, BATCH));
      }
    } finally {
      for (const entry of this.#entries.values()) if (entry.unsaved > 0) this.#save(entry);
    }
  }

  /** Drops the vectors of one server, or of all, including those on disk. */
  async forget(server?: string): Promise<void> {
    const known = [...this.#servers(), ...[...this.#entries.values()].map((entry) => entry.server)];
    for (const each of known.filter(({ name }) => server === undefined || name === server)) {
      this.#entries.delete(each.name);
      await this.#options.cache.delete(each);
    }
  }

  /** Drops all vectors, because they are no longer usable. */
  reset(): void {
    for (const { server } of this.#entries.values()) this.#set(server, new VectorTable([], []));
    this.#hopeless.clear();
  }

  /** Stops after the current batch. */
  stop(): void {
    this.#stopped = true;
  }

  /** Returns the servers of the catalogue, and the background for comparison. */
  #servers(): SourceServer[] {
    const servers = this.source.servers();
    return servers.length === 0 ? [] : [...servers, BACKGROUND];
  }

  #set(server: SourceServer, table: VectorTable, stamp = ''): Entry {
    const entry = { server, table, stamp, missing: 0, unsaved: 0 };
    this.#entries.set(server.name, entry);
    return entry;
  }

  async #read(server: SourceServer): Promise<void> {
    const { cache, guard } = this.#options;
    const stored = await cache.read(server);
    if (stored && stored.table.filled > 0) guard.expect(stored.table.dimensions);
    if (stored && this.#isUsable(stored.table)) this.#set(server, stored.table, stored.stamp);
    else this.#set(server, new VectorTable([], []));
  }

  #isUsable({ dimensions, filled }: VectorTable): boolean {
    return filled === 0 || dimensions === this.#options.guard.length;
  }

  /** Creates the table for a server's current tools with the known vectors; returns the texts without one. */
  async #prepare(server: SourceServer): Promise<Item[]> {
    const tools = server === BACKGROUND ? backgroundTools() : await this.source.tools(server.name);
    const rows = await paced(this.#rowsOf(tools));
    const before = this.table(server.name);
    const known = new Map(before && this.#isUsable(before) ? before.keys.map((key, row) => [key, row]) : []);
    const table = new VectorTable(
      rows.map(({ name }) => name),
      rows.map(({ key }) => key),
    );
    const entry = this.#set(server, table);
    const items: Item[] = [];
    for (const [row, { key, text }] of rows.entries()) {
      const at = known.get(key);
      if (before && at !== undefined && before.has(at)) table.setBytes(row, before.bytesOf(at));
      else if (!this.#hopeless.has(key)) items.push({ entry, row, text });
    }
    entry.missing = items.length;
    if (items.length === 0) this.#finish(entry);
    return items;
  }

  *#rowsOf(tools: Iterable<ToolMetadata>): Generator<void, { name: string; key: string; text: string }[]> {
    const rows = [];
    for (const tool of tools) {
      const text = toolText(tool);
      rows.push({ name: tool.name, key: textKey(this.#options.embedder, text), text });
      yield;
    }
    return rows;
  }

  async #embed(items: readonly Item[]): Promise<void> {
    const vectors = await this.#options.guard.embedTools(items.map(({ text }) => text));
    for (const [at, { entry, row }] of items.entries()) {
      const vector = vectors[at];
      if (!vector || !entry.table.set(row, vector)) this.#hopeless.add(entry.table.keys[row] ?? '');
      entry.missing--;
      entry.unsaved++;
      // The list may have changed or been dropped while its old texts were embedded.
      if (this.#entries.get(entry.server.name) !== entry) continue;
      if (entry.missing === 0) this.#finish(entry);
      else if (entry.unsaved >= SAVE_EVERY) this.#save(entry);
    }
  }

  #finish(entry: Entry): void {
    entry.stamp = entry.server.stamp;
    this.#save(entry);
  }

  #save(entry: Entry): void {
    const { server, table, stamp } = entry;
    entry.unsaved = 0;
    // A text without a vector today may get one tomorrow: the next process must not treat the list as complete.
    const whole = table.filled === table.names.length;
    this.#options.cache.write(server, { table, stamp: whole ? stamp : '' });
  }
}

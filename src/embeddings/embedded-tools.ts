/**
 * The vectors of all tools, kept up with the catalogue: read from disk where they are, asked for in batches where not,
 * and only for texts that have changed.
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

export interface EmbeddedToolsOptions {
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
  /** Of the list that all vectors are there for; empty while some are missing. */
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
  /** Keys of texts that the embedder has no usable vector for. */
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

  /** How many of a server's tools have a vector, or will never have one. */
  settled(server: string): number {
    const table = this.table(server);
    if (!table) return 0;
    const hopeless = this.#hopeless.size === 0 ? [] : table.keys.filter((key) => this.#hopeless.has(key));
    return table.filled + hopeless.length;
  }

  /** Servers whose vectors are not all there. */
  stale(): SourceServer[] {
    return this.#servers().filter((server) => {
      const entry = this.#entries.get(server.name);
      return entry?.server.fingerprint !== server.fingerprint || entry.stamp !== server.stamp;
    });
  }

  /** Why there can be no vectors for so many tools. */
  get excess(): string | undefined {
    const { guard, maxTools = LIMITS.embeddings.tools, maxBytes = LIMITS.embeddings.bytes } = this.#options;
    const tools = this.source.servers().reduce((sum, { toolCount }) => sum + toolCount, 0);
    if (tools > maxTools) return `There are ${tools} tools; an embedder is used for at most ${maxTools}.`;
    const bytes = tools * (guard.length ?? 0);
    return bytes > maxBytes ? `The vectors of ${tools} tools would take more than ${maxBytes} bytes.` : undefined;
  }

  /** Reads vectors that are on disk, for servers that were not looked at yet, and lets go of those that are gone. */
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

  /** Embeds until nothing is missing, lists that change meanwhile included. Rejects when the embedder fails; what came before is kept. */
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
        // How long vectors are, and so how much they take, is known only when the first have come.
        while (this.excess === undefined && (queue.length >= BATCH || (!next && queue.length > 0)))
          await this.#embed(queue.splice(0, BATCH));
      }
    } finally {
      for (const entry of this.#entries.values()) if (entry.unsaved > 0) this.#save(entry);
    }
  }

  /** Forgets the vectors of one server, or of all; also those on disk. */
  async forget(server?: string): Promise<void> {
    const known = [...this.#servers(), ...[...this.#entries.values()].map((entry) => entry.server)];
    for (const each of known.filter(({ name }) => server === undefined || name === server)) {
      this.#entries.delete(each.name);
      await this.#options.cache.delete(each);
    }
  }

  /** All vectors are of no use any more. */
  reset(): void {
    for (const { server } of this.#entries.values()) this.#set(server, new VectorTable([], []));
    this.#hopeless.clear();
  }

  /** No more batches after the one under way. */
  stop(): void {
    this.#stopped = true;
  }

  /** Those of the catalogue, and behind them what they are compared with. */
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

  /** A table for a server's tools as they are now, with the vectors that are known; gives the texts that have none. */
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
      // The list may have changed, or been forgotten, while its old texts were under way.
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
    // What has no vector today may get one tomorrow: for the next process the list is not finished.
    const whole = table.filled === table.names.length;
    this.#options.cache.write(server, { table, stamp: whole ? stamp : '' });
  }
}

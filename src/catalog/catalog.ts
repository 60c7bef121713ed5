/**
 * What is known of every server's tools: in memory where needed, on disk between runs, searchable at once.
 *
 * A ready search index is kept on disk together with one line per server, so that a start reads one file and no
 * definitions. A server's definitions are read when somebody asks for them.
 * @module
 */
import type { RuleSet } from '../rules/decide.ts';
import type { SearchEngine } from '../search/search-engine.ts';
import type { ServerDefinition, ToolDefinition, ToolMetadata } from '../types.ts';
import type { CatalogStore, IndexEntry } from './catalog-store.ts';
import { about, configuredListing, type Listing, toMetadata } from './listing.ts';
import { ToolMetadataManager } from './tool-metadata-manager.ts';

export interface CatalogOptions {
  readonly servers: ReadonlyMap<string, { readonly definition: ServerDefinition; readonly fingerprint: string }>;
  readonly rules: RuleSet;
  readonly store: CatalogStore | undefined;
  readonly search: SearchEngine;
  /** Entries of the ready index that `search` was restored from. */
  readonly indexed: ReadonlyMap<string, IndexEntry>;
}

interface Entry {
  readonly definition: ServerDefinition;
  readonly fingerprint: string;
  state: IndexEntry;
  tools: ReadonlyMap<string, ToolDefinition> | undefined;
  loading: Promise<void> | undefined;
}

export class Catalog {
  readonly search: SearchEngine;
  readonly #options: CatalogOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #metadata = new ToolMetadataManager();
  #dirty = false;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.search = options.search;
    for (const [name, { definition, fingerprint }] of options.servers) {
      const known = options.indexed.get(name);
      const usable = known?.fingerprint === fingerprint && (known.fetchedAt > 0 || definition.tools.length > 0);
      const state: IndexEntry = usable ? known : { name, fingerprint, fetchedAt: 0, toolCount: 0, enabledCount: 0 };
      const entry: Entry = { definition, fingerprint, state, tools: undefined, loading: undefined };
      this.#entries.set(name, entry);
      if (!usable) {
        if (known) this.search.removeServer(name);
        if (definition.tools.length > 0) this.#install(entry, configuredListing(definition, fingerprint));
      }
    }
    for (const server of this.search.servers()) if (!this.#entries.has(server)) this.search.removeServer(server);
  }

  /** True when something is worth writing to the ready index. */
  get dirty(): boolean {
    return this.#dirty;
  }

  /** Whether a server's tools are known, from a list, a cache or the configuration. */
  isSeen(server: string): boolean {
    const entry = this.#entries.get(server);
    return entry !== undefined && (entry.state.fetchedAt > 0 || entry.definition.tools.length > 0);
  }

  /** When the server's list was read, in milliseconds; 0 when only the configuration gives it. */
  fetchedAt(server: string): number {
    return this.#entries.get(server)?.state.fetchedAt ?? 0;
  }

  state(server: string): IndexEntry | undefined {
    return this.#entries.get(server)?.state;
  }

  about(server: string): string {
    const entry = this.#entries.get(server);
    return entry ? about(entry.definition, entry.state) : '';
  }

  /** One tool's definition if it is in memory; undefined says nothing. Call `load` first to be sure. */
  definition(server: string, tool: string): ToolDefinition | undefined {
    return this.#entries.get(server)?.tools?.get(tool);
  }

  isLoaded(server: string): boolean {
    return this.#entries.get(server)?.tools !== undefined;
  }

  /** One tool as listing and describing show it. Needs `load`. */
  tool(server: string, tool: string): ToolMetadata | undefined {
    return this.#metadata.getTool(server, tool) ?? undefined;
  }

  /** All tools of a server, by name. Needs `load`. */
  tools(server: string, includeDisabled = false): readonly ToolMetadata[] {
    return this.#metadata.getToolsByServer(server, includeDisabled);
  }

  /** Brings a server's definitions into memory; from disk, if they are not there. Resolves when nothing is to be had, too. */
  async load(server: string): Promise<void> {
    const entry = this.#entries.get(server);
    if (!entry || entry.tools) return;
    entry.loading ??= this.#read(entry).finally(() => {
      entry.loading = undefined;
    });
    await entry.loading;
  }

  /** Takes lists from disk for servers that the ready index does not know. */
  async adopt(servers: Iterable<string>): Promise<void> {
    await Promise.all([...servers].map((server) => this.load(server)));
  }

  /** Replaces a server's list. Returns whether anything an agent could see has changed. */
  put(listing: Listing): boolean {
    const entry = this.#entries.get(listing.server);
    if (!entry || entry.fingerprint !== listing.fingerprint) return false;
    const before = this.#visible(listing.server);
    this.#install(entry, listing);
    void this.#options.store?.writeListing(listing);
    return before === undefined || before !== this.#visible(listing.server);
  }

  /** Forgets what was learnt of one server, or of all; what the configuration gives stays. */
  async forget(server?: string): Promise<void> {
    for (const [name, entry] of this.#entries) {
      if (server !== undefined && name !== server) continue;
      await this.#options.store?.deleteListing(name);
      entry.state = { name, fingerprint: entry.fingerprint, fetchedAt: 0, toolCount: 0, enabledCount: 0 };
      entry.tools = undefined;
      this.#metadata.removeServer(name);
      this.search.removeServer(name);
      this.#dirty = true;
      if (entry.definition.tools.length > 0)
        this.#install(entry, configuredListing(entry.definition, entry.fingerprint));
    }
  }

  /** Writes the ready index, if there is anything new. */
  async save(): Promise<void> {
    if (!this.#dirty || !this.#options.store) return;
    this.#dirty = false;
    await this.#options.store.writeIndex(
      [...this.#entries.values()].map((entry) => entry.state),
      this.search.toSnapshot(),
    );
  }

  async #read(entry: Entry): Promise<void> {
    const stored = await this.#options.store?.readListing(entry.definition.name);
    if (entry.tools) return;
    if (stored && stored.fingerprint === entry.fingerprint)
      return this.#install(entry, stored, stored.fetchedAt !== entry.state.fetchedAt);
    if (entry.definition.tools.length > 0)
      return this.#install(entry, configuredListing(entry.definition, entry.fingerprint), false);
    if (entry.state.fetchedAt > 0) await this.forget(entry.definition.name);
  }

  #install(entry: Entry, listing: Listing, reindex = true): void {
    const { definition, fingerprint } = entry;
    const metadata = toMetadata(listing, definition, this.#options.rules);
    entry.tools = new Map(listing.tools.map((tool) => [tool.name, tool]));
    this.#metadata.setServer(definition.name, metadata);
    entry.state = {
      name: definition.name,
      fingerprint,
      fetchedAt: listing.fetchedAt,
      toolCount: metadata.length,
      enabledCount: this.#metadata.getEnabledCount(definition.name),
      title: listing.title,
      instructions: listing.instructions,
      verdict: listing.verdict,
      ...(listing.skipped.length > 0 && { skipped: listing.skipped.length }),
      incomplete: listing.incomplete,
    };
    if (!reindex) return;
    this.search.setServer(definition.name, metadata, about(definition, listing));
    this.#dirty = true;
  }

  #visible(server: string): string | undefined {
    const entry = this.#entries.get(server);
    if (!entry?.tools) return undefined;
    return JSON.stringify([...entry.tools.values()]);
  }
}

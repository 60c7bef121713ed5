/**
 * Holds the tools of every server: in memory on demand, on disk between runs, in a search index at all times.
 *
 * A search index is saved on disk together with one line per server, so that a start reads one file and no definitions.
 * A server's definitions are read on demand. A list is replaced as a whole: readers see the old list until the new one is
 * complete.
 * @module
 */
import { isDeepStrictEqual } from 'node:util';

import { Semaphore } from '../async/semaphore.ts';
import { CachingLayer } from '../cache/caching-layer.ts';
import type { Unapproved } from '../core/approval-mode.ts';
import type { DiscoveryError } from '../core/errors.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import type { ItemKind, ServerItems, ToolDefinition, ToolMetadata } from '../core/types.ts';
import type { Decision } from '../rules/decide.ts';
import type { KnownRef } from '../rules/report.ts';
import type { ToolPolicy } from '../rules/tool-policy.ts';
import { SearchEngine } from '../search/search-engine.ts';
import type { CatalogStore } from './catalog-store.ts';
import { fromKept, type KeptFailure } from './failure-memory.ts';
import { type IndexEntry, nothingKnown } from './index-file.ts';
import { about, configuredListing, type Listing, listingOf, toMetadata } from './listing.ts';
import { type ListingLines, toLines } from './listing-file.ts';
import { atOnce, paced } from './paced.ts';
import { itemsOf, toIndexed } from './server-items.ts';
import { ToolMetadataStore } from './tool-metadata-store.ts';

export interface CatalogOptions {
  readonly servers: ReadonlyMap<string, { readonly definition: SourceDefinition; readonly fingerprint: string }>;
  readonly policy: Pick<ToolPolicy, 'decide' | 'decideItem'> & Partial<Pick<ToolPolicy, 'digestOf'>>;
  /** Leaves tools out of every list, as if their servers did not have them. */
  readonly hides?: ((server: string, tool: string) => boolean) | undefined;
  /** Records a list before its tools are decided on. Resolves with whether that changed a decision. */
  readonly sight?: ((listing: Listing) => Promise<boolean>) | undefined;
  readonly store: CatalogStore | undefined;
  /** Set to false to keep the index off the disk, because it holds tools that must not be written. Default true. */
  readonly keepsIndex?: boolean | undefined;
  readonly search: SearchEngine;
  /** The index of resources and prompts: an own one, so that they never change how tools are ranked. */
  readonly itemSearch?: SearchEngine | undefined;
  /** The servers in the saved index that `search` was restored from. */
  readonly indexed: ReadonlyMap<string, IndexEntry>;
  /** Maximum number of tools of all servers together; a list beyond it is cut. Default 100,000. */
  readonly maxTools?: number | undefined;
}

interface Entry {
  readonly definition: SourceDefinition;
  readonly fingerprint: string;
  /** Whether the saved index matches the server as it is now. */
  readonly indexed: boolean;
  state: IndexEntry;
  tools: ReadonlyMap<string, ToolDefinition> | undefined;
  /** Resources and prompts, in memory together with the tools. */
  items: ServerItems;
  /** Whether tools were left out. */
  hasHidden: boolean;
  /** The last change to this server; the next one waits for it. */
  turn: Promise<unknown>;
}

/** A definition that a person has to approve. */
export interface UnapprovedTool {
  readonly definition: ToolDefinition;
  readonly approval: Unapproved;
}

const TOOLS_PER_STEP = 20;
const NO_ITEMS: ServerItems = { resources: [], resourceTemplates: [], prompts: [] };

export class Catalog {
  readonly search: SearchEngine;
  readonly itemSearch: SearchEngine;
  readonly #options: CatalogOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #metadata = new ToolMetadataStore();
  /** Caches the enabled tools of each server, sorted, until its list changes. */
  readonly #cache = new CachingLayer();
  readonly #writes = new Set<Promise<void>>();
  /** Lists that could not be written, by server. The next save tries again. */
  readonly #unwritten = new Map<string, Listing>();
  #dirty = false;
  #version = 0;
  /** Tools of all servers together. */
  #toolCount = 0;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.search = options.search;
    this.itemSearch = options.itemSearch ?? new SearchEngine({ model: false });
    for (const [name, { definition, fingerprint }] of options.servers) {
      const known = options.indexed.get(name);
      const usable =
        known?.fingerprint === fingerprint &&
        known.approvals === options.policy.digestOf?.(name) &&
        (known.fetchedAt > 0 || definition.tools.length > 0);
      const state = usable ? known : nothingKnown(name, fingerprint);
      const turn = Promise.resolve();
      const empty = { tools: undefined, items: NO_ITEMS, hasHidden: false };
      const entry: Entry = { definition, fingerprint, indexed: usable, state, ...empty, turn };
      this.#entries.set(name, entry);
      this.#toolCount += state.toolCount;
      if (!usable) this.#startOver(entry, known);
    }
    for (const index of [this.search, this.itemSearch])
      for (const server of index.servers()) {
        if (this.#entries.has(server)) continue;
        index.removeServer(server);
        this.#dirty = true;
      }
  }

  /** Changes whenever a list changes. */
  get version(): number {
    return this.#version;
  }

  /** True if there is something to save. */
  get dirty(): boolean {
    const { store, keepsIndex = true } = this.#options;
    return store !== undefined && ((this.#dirty && keepsIndex) || this.#unwritten.size > 0);
  }

  /** Tells whether a server's tools are known, from a list, the cache or the configuration. */
  isSeen(server: string): boolean {
    const entry = this.#entries.get(server);
    return entry !== undefined && (entry.state.fetchedAt > 0 || entry.definition.tools.length > 0);
  }

  /** When the server's list was read, in milliseconds; 0 if it comes only from the configuration. */
  fetchedAt(server: string): number {
    return this.#entries.get(server)?.state.fetchedAt ?? 0;
  }

  /** A server's line in the index. */
  state(server: string): IndexEntry | undefined {
    return this.#entries.get(server)?.state;
  }

  /** A server's description in one line; empty for an unknown server. */
  about(server: string): string {
    const entry = this.#entries.get(server);
    if (!entry) return '';
    const { enabledCount, unapprovedCount = 0 } = entry.state;
    // Of a server of which nothing is approved, its own words are not shown either.
    return about(entry.definition, enabledCount === 0 && unapprovedCount > 0 ? undefined : entry.state);
  }

  /** One tool's definition, if it is in memory. Call `load` first: undefined may only mean that it is not loaded. */
  definition(server: string, tool: string): ToolDefinition | undefined {
    return this.#entries.get(server)?.tools?.get(tool);
  }

  /** Every definition of a server, whether it may be used or not. Needs `load`. */
  definitions(server: string): readonly ToolDefinition[] {
    return [...(this.#entries.get(server)?.tools?.values() ?? [])];
  }

  isLoaded(server: string): boolean {
    return this.#entries.get(server)?.tools !== undefined;
  }

  /** One tool as listings and descriptions show it. Needs `load`. */
  tool(server: string, tool: string): ToolMetadata | undefined {
    return this.#metadata.getTool(server, tool) ?? undefined;
  }

  /** How many tools of a server wait for approval. */
  unapprovedCount(server: string): number {
    return this.#entries.get(server)?.state.unapprovedCount ?? 0;
  }

  /** The definitions of a server that are not approved, and whether they changed. Needs `load`. */
  unapproved(server: string): readonly UnapprovedTool[] {
    return this.definitions(server).flatMap((definition) => {
      const { approval } = this.#options.policy.decide(server, definition);
      return approval ? [{ definition, approval }] : [];
    });
  }

  /** All approved tools of a server, by name. Needs `load`. */
  tools(server: string, includeDisabled = false): readonly ToolMetadata[] {
    if (includeDisabled) return this.#metadata.getToolsByServer(server, true);
    const known = this.#cache.getToolSummaries(server);
    if (known) return known;
    const tools = this.#metadata.getToolsByServer(server);
    this.#cache.cacheToolSummaries(server, tools, Number.POSITIVE_INFINITY);
    return tools;
  }

  /** All resources and prompts of a server, disabled ones included. Needs `load`. */
  items(server: string): ServerItems {
    return this.#entries.get(server)?.items ?? NO_ITEMS;
  }

  /**
   * The decision of the rules about a resource or a prompt. Unless a rule names it, one of a server whose tools are all
   * disabled is disabled too.
   */
  decideItem(server: string, kind: ItemKind, id: string): Decision {
    const decision = this.#options.policy.decideItem(server, id, kind);
    const { state: { toolCount = 0, enabledCount = 0 } = {}, hasHidden } = this.#entries.get(server) ?? {};
    const hasTools = toolCount > 0 || hasHidden === true;
    if (!decision.enabled || decision.rule !== undefined || !hasTools || enabledCount > 0) return decision;
    return { ...decision, enabled: false, reason: `Disabled: all tools of ${server} are.` };
  }

  /**
   * What a server lists: tools, resources and prompts. Reads them from disk if they are not in memory, and does not
   * keep them.
   */
  async names(server: string): Promise<readonly KnownRef[]> {
    const entry = this.#entries.get(server);
    if (!entry) return [];
    const stored = entry.tools ? undefined : await this.#options.store?.readListing(server, entry.fingerprint);
    const { tools = entry.tools?.values() ?? [], items } = stored?.listing ?? { items: entry.items };
    const ofItems = itemsOf({ ...NO_ITEMS, ...items });
    return [
      ...Array.from(tools, ({ name }) => ({ server, tool: name })),
      ...ofItems.map(({ kind, id }) => ({ server, tool: id, kind })),
    ];
  }

  /**
   * All approved tools of a server, disabled ones included. Reads them from disk if they are not in memory, and does not keep
   * them.
   */
  async everyTool(server: string): Promise<Iterable<ToolMetadata>> {
    const entry = this.#entries.get(server);
    if (!entry) return [];
    if (entry.tools) return this.tools(server, true);
    const { definition, fingerprint } = entry;
    const stored = await this.#options.store?.readListing(server, fingerprint);
    const listing = stored?.listing ?? configuredListing(definition, fingerprint);
    return approved(listing.tools, toMetadata(listing, definition, this.#options.policy));
  }

  /** Loads a server's definitions from disk, if they are not in memory. Resolves even if there are none. */
  async load(server: string): Promise<void> {
    const entry = this.#entries.get(server);
    if (entry && !entry.tools) await this.#inTurn(entry, () => this.#read(entry));
  }

  /** Reads the saved lists of servers that the saved index does not contain. */
  async adopt(): Promise<void> {
    const unknown = [...this.#entries.values()].filter(({ indexed, state }) => !indexed && state.fetchedAt === 0);
    const turns = new Semaphore(LIMITS.atOnce.files);
    await Promise.all(unknown.map((entry) => turns.run(() => this.#inTurn(entry, () => this.#read(entry)))));
  }

  /** Takes over newer lists from another catalogue, for servers with the same connection. */
  async inherit(other: Catalog): Promise<void> {
    for (const entry of this.#entries.values()) {
      const listing = other.#listing(entry);
      if (listing && listing.fetchedAt > entry.state.fetchedAt)
        await this.#inTurn(entry, () => paced(this.#install(entry, listing, other.state(listing.server)?.digest)));
    }
    for (const [server, listing] of other.#unwritten) this.#unwritten.set(server, listing);
  }

  /** Why servers without a list could not be listed last time, by name. */
  async keptFailures(): Promise<ReadonlyMap<string, DiscoveryError>> {
    const failures = new Map<string, DiscoveryError>();
    const unseen = [...this.#entries].filter(([server]) => !this.isSeen(server));
    await Promise.all(
      unseen.map(async ([server, { fingerprint }]) => {
        const kept = await this.#options.store?.readFailure(server, fingerprint);
        if (kept) failures.set(server, fromKept(server, kept));
      }),
    );
    return failures;
  }

  /** Saves a server's failure for the next process. */
  keepFailure(server: string, failure: KeptFailure): void {
    const { fingerprint } = this.#entries.get(server) ?? {};
    if (fingerprint !== undefined)
      this.#write(this.#options.store?.writeFailure(server, fingerprint, failure).then(() => {}));
  }

  /** Deletes a saved failure, once the server has been listed. */
  forgetFailure(server: string): void {
    const { fingerprint } = this.#entries.get(server) ?? {};
    if (fingerprint !== undefined) this.#write(this.#options.store?.deleteFailure(server, fingerprint));
  }

  /** Replaces a server's list. Resolves with whether an agent can see a change. */
  async put(listing: Listing): Promise<boolean> {
    const entry = this.#entryOf(listing);
    if (entry === undefined) return false;
    return this.#inTurn(entry, async () => {
      // What could not be read this time stays as it is on disk.
      const { items = NO_ITEMS } = listing;
      if (!entry.tools && Object.keys(items).length < Object.keys(NO_ITEMS).length) await this.#read(entry);
      const isDecided = (await this.#options.sight?.(listing)) ?? false;
      return paced(this.#put(entry, listing, true, isDecided));
    });
  }

  /**
   * Like `put`, but synchronous. Call it only while no other `put` of the source is running. With `isSearched` false,
   * the list is not indexed.
   */
  putNow(listing: Listing, isSearched = true): boolean {
    const entry = this.#entryOf(listing);
    return entry !== undefined && atOnce(this.#put(entry, listing, isSearched));
  }

  /** Forgets the list of one server, or of all. Tools from the configuration stay. */
  async forget(server?: string): Promise<void> {
    for (const [name, entry] of this.#entries) {
      if (server !== undefined && name !== server) continue;
      await this.#inTurn(entry, () => this.#forget(entry));
    }
  }

  /** Writes the index if it has changed, and retries lists that could not be written. Waits for all writes. */
  async save(): Promise<void> {
    const unwritten = [...this.#unwritten.values()];
    this.#unwritten.clear();
    for (const listing of unwritten) {
      const entry = this.#entries.get(listing.server);
      // Skip lists that were replaced or forgotten since.
      if (entry?.fingerprint === listing.fingerprint && entry.state.fetchedAt === listing.fetchedAt)
        this.#writeListing(listing, await paced(toLines(listing)));
    }
    if (this.#dirty && this.#options.store && this.#options.keepsIndex !== false) {
      this.#dirty = false;
      const entries = [...this.#entries.values()].map((entry) => entry.state);
      const [snapshot, items] = [this.search.toSnapshot(), this.itemSearch.toSnapshot()];
      const writing = this.#options.store.writeIndex({ entries, snapshot, items });
      const keep = (written: boolean) => {
        if (!written) this.#dirty = true;
      };
      this.#write(writing.then(keep));
    }
    await Promise.all(this.#writes);
  }

  #entryOf({ server, fingerprint }: Listing): Entry | undefined {
    const entry = this.#entries.get(server);
    return entry?.fingerprint === fingerprint ? entry : undefined;
  }

  *#put(entry: Entry, listing: Listing, isSearched = true, isDecided = false): Generator<unknown, boolean> {
    const whole = { ...this.#fit(entry, listing), items: { ...entry.items, ...listing.items } };
    // A provider's list is not written: the program has it anyway and may not want it on disk.
    if (isProvider(entry.definition)) return yield* this.#install(entry, whole, undefined, isSearched);
    const lines = yield* toLines(whole);
    const changed = lines.digest !== entry.state.digest;
    const sameAbout = about(entry.definition, entry.state) === about(entry.definition, whole);
    // Of a server that needs approval, the list that was read now decides, not one that another process has on disk.
    const needsApproval = entry.state.approvals !== undefined;
    const reindex = changed || isDecided || !sameAbout;
    if (reindex || needsApproval) yield* this.#install(entry, whole, lines.digest, reindex);
    else this.#setState(entry, whole, lines.digest);
    this.#writeListing(whole, lines);
    return changed;
  }

  async #read(entry: Entry): Promise<void> {
    if (isProvider(entry.definition) || (entry.tools && entry.state.fetchedAt > 0)) return;
    const stored = await this.#options.store?.readListing(entry.definition.name, entry.fingerprint);
    if (stored) {
      const isDecided = (await this.#options.sight?.(stored.listing)) ?? false;
      const reindex = isDecided || stored.digest !== entry.state.digest;
      await paced(this.#install(entry, stored.listing, stored.digest, reindex));
    } else if (entry.state.fetchedAt > 0) await this.#forget(entry);
    else if (!entry.tools && entry.definition.tools.length > 0)
      atOnce(this.#install(entry, configuredListing(entry.definition, entry.fingerprint), undefined, false));
  }

  async #forget(entry: Entry): Promise<void> {
    await this.#options.store?.deleteListing(entry.definition.name, entry.fingerprint);
    entry.tools = undefined;
    entry.items = NO_ITEMS;
    this.#version++;
    this.#metadata.removeServer(entry.definition.name);
    this.#cache.invalidate(entry.definition.name);
    this.#replaceState(entry, nothingKnown(entry.definition.name, entry.fingerprint));
    this.#startOver(entry, entry.state);
  }

  /** Removes a server from the index, then adds its tools from the configuration. */
  #startOver(entry: Entry, known: IndexEntry | undefined): void {
    const { definition, fingerprint } = entry;
    if (known) {
      this.search.removeServer(definition.name);
      this.itemSearch.removeServer(definition.name);
      this.#dirty = true;
      if (known.fingerprint !== fingerprint)
        this.#write(this.#options.store?.deleteListing(definition.name, known.fingerprint));
    }
    if (definition.tools.length > 0)
      atOnce(this.#install(entry, configuredListing(definition, fingerprint), undefined));
  }

  /** Stores a list. Unchanged tools keep their metadata and their place in the index. Returns whether any tool changed. */
  *#install(entry: Entry, listing: Listing, digest: string | undefined, reindex = true): Generator<unknown, boolean> {
    const { definition, tools: before } = entry;
    const { name: server } = definition;
    const { policy } = this.#options;
    // Taken first: an approval that comes while this is working makes the next start decide again.
    const approvals = policy.digestOf?.(server);
    const decide = toMetadata(listing, definition, policy);
    const tools = new Map<string, ToolDefinition>();
    const metadata: ToolMetadata[] = [];
    const changed: ToolMetadata[] = [];
    entry.hasHidden = false;
    for (const tool of listing.tools) {
      if (this.#options.hides?.(server, tool.name)) {
        entry.hasHidden = true;
        continue;
      }
      const known = before?.get(tool.name);
      const same = known && isDeepStrictEqual(known, tool) ? this.tool(server, tool.name) : undefined;
      // An approval may have come meanwhile.
      const kept = same && same.approval === policy.decide(server, known as ToolDefinition).approval ? same : undefined;
      const current = kept ?? decide(tool);
      tools.set(tool.name, kept && known ? known : tool);
      metadata.push(current);
      if (!kept) changed.push(current);
      if (metadata.length % TOOLS_PER_STEP === 0) yield;
    }
    const gone = [...(before?.keys() ?? [])].filter((name) => !tools.has(name));
    const text = about(definition, listing);
    const isSameText = text === about(definition, entry.state);
    const isChanged = before === undefined || changed.length + gone.length > 0;
    // The index finds a tool by its name, so every name must survive encoding as UTF-8.
    const isPart = before && isSameText && [...before.keys(), ...tools.keys()].every(isWellFormed);
    // What is not approved is not in the index at all.
    const hidden = changed.filter(({ approval }) => approval).map(({ name }) => name);
    if (reindex && isPart && isChanged)
      yield* this.search.changeServerInSteps(server, changed.filter(isApproved), [...gone, ...hidden], text);
    else if (reindex && !isPart) yield* this.search.setServerInSteps(server, metadata.filter(isApproved), text);
    const items = { ...NO_ITEMS, ...listing.items };
    const hasNewItems = before === undefined || !isDeepStrictEqual(items, entry.items);
    entry.tools = tools;
    entry.items = items;
    this.#metadata.setServer(server, metadata);
    this.#cache.invalidate(server);
    const wasUsable = entry.state.enabledCount > 0;
    this.#setState(entry, listing, digest, approvals);
    // Whether items may be used depends on whether tools may.
    if (reindex && (hasNewItems || wasUsable !== entry.state.enabledCount > 0)) {
      const indexed = toIndexed(server, items, ({ kind, id }) => this.decideItem(server, kind, id));
      yield* this.itemSearch.setServerInSteps(server, indexed, text);
    }
    this.#dirty ||= reindex;
    if (isChanged || !isSameText) this.#version++;
    return isChanged;
  }

  #setState(entry: Entry, listing: Listing, digest: string | undefined, approvals = entry.state.approvals): void {
    const { name } = entry.definition;
    const { fetchedAt, title, serverVersion, instructions, verdict, incomplete, isCut, interactive, skipped } = listing;
    if (fetchedAt !== entry.state.fetchedAt) this.#dirty = true;
    this.#replaceState(entry, {
      name,
      fingerprint: entry.fingerprint,
      fetchedAt,
      toolCount: entry.tools ? this.#metadata.getToolCount(name) : entry.state.toolCount,
      enabledCount: entry.tools ? this.#metadata.getEnabledCount(name) : entry.state.enabledCount,
      unapprovedCount:
        (entry.tools ? this.#metadata.getUnapprovedCount(name) : entry.state.unapprovedCount) || undefined,
      approvals,
      digest,
      title,
      serverVersion,
      instructions,
      verdict,
      ...(skipped.length > 0 && { skipped: skipped.length }),
      incomplete,
      isCut,
      interactive,
    });
  }

  #replaceState(entry: Entry, state: IndexEntry): void {
    this.#toolCount += state.toolCount - entry.state.toolCount;
    entry.state = state;
  }

  /** Rebuilds a server's list from memory. */
  #listing({ definition, fingerprint }: Entry): Listing | undefined {
    const entry = this.#entries.get(definition.name);
    if (!entry?.tools || entry.fingerprint !== fingerprint || entry.state.fetchedAt === 0) return undefined;
    return listingOf(entry.state, { tools: [...entry.tools.values()], items: entry.items });
  }

  #fit(entry: Entry, listing: Listing): Listing {
    const { maxTools = DEFAULTS.limits.tools } = this.#options;
    const room = maxTools - (this.#toolCount - entry.state.toolCount);
    if (listing.tools.length <= room) return listing;
    const incomplete = `all servers together have more than ${maxTools} tools`;
    return { ...listing, tools: listing.tools.slice(0, Math.max(0, room)), incomplete, isCut: true };
  }

  #inTurn<T>(entry: Entry, work: () => Promise<T>): Promise<T> {
    const mine = entry.turn.then(work);
    entry.turn = mine.catch(() => {});
    return mine;
  }

  #writeListing(listing: Listing, lines: ListingLines): void {
    const keep = (written: boolean) => {
      if (!written) this.#unwritten.set(listing.server, listing);
    };
    this.#write(this.#options.store?.writeListing(listing, lines).then(keep));
  }

  #write(writing: Promise<void> | undefined): void {
    if (!writing) return;
    const tracked = writing.finally(() => this.#writes.delete(tracked));
    this.#writes.add(tracked);
  }
}

const isApproved = ({ approval }: ToolMetadata): boolean => approval === undefined;

const isWellFormed = (name: string): boolean => name.isWellFormed();

function* approved(
  tools: Iterable<ToolDefinition>,
  change: (tool: ToolDefinition) => ToolMetadata,
): Generator<ToolMetadata, void> {
  for (const tool of tools) {
    const metadata = change(tool);
    if (!metadata.approval) yield metadata;
  }
}

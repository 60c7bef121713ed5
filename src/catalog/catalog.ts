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
import { introductionDefinition, itemDefinitions } from '../core/item-definition.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import type { ToolDefinition, ToolMetadata, ToolRef } from '../core/types.ts';
import type { KnownRef } from '../rules/report.ts';
import type { ToolPolicy } from '../rules/tool-policy.ts';
import { SearchEngine } from '../search/search-engine.ts';
import { CatalogEntry, NO_ITEMS } from './catalog-entry.ts';
import { CatalogItems } from './catalog-items.ts';
import type { CatalogStore } from './catalog-store.ts';
import { CatalogWrites } from './catalog-writes.ts';
import { compareList } from './compare-list.ts';
import type { KeptFailure } from './failure-memory.ts';
import { type IndexEntry, nothingKnown } from './index-file.ts';
import { about, configuredListing, type Listing, toMetadata, type Words, wordsOf } from './listing.ts';
import { toLines } from './listing-file.ts';
import { atOnce, paced } from './paced.ts';
import { itemsOf } from './server-items.ts';
import { ToolMetadataStore } from './tool-metadata-store.ts';

export interface CatalogOptions {
  readonly servers: ReadonlyMap<string, { readonly definition: SourceDefinition; readonly fingerprint: string }>;
  readonly policy: Pick<ToolPolicy, 'decide' | 'decideItem'> & Partial<Pick<ToolPolicy, 'digestOf'>>;
  /** Leaves tools out of every list, as if their servers did not have them. */
  readonly hides?: ((server: string, tool: ToolDefinition) => boolean) | undefined;
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

/** A definition that a person has to approve. */
export interface UnapprovedTool {
  readonly definition: ToolDefinition;
  readonly approval: Unapproved;
}

export class Catalog {
  readonly search: SearchEngine;
  /** Resources and prompts. */
  readonly items: CatalogItems;
  readonly #options: CatalogOptions;
  readonly #entries = new Map<string, CatalogEntry>();
  readonly #metadata = new ToolMetadataStore();
  /** Caches the enabled tools of each server, sorted, until its list changes. */
  readonly #cache = new CachingLayer();
  readonly #writes: CatalogWrites;
  #dirty = false;
  #version = 0;
  /** Tools of all servers together. */
  #toolCount = 0;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.search = options.search;
    this.#writes = new CatalogWrites(options.store);
    this.items = new CatalogItems(
      options.itemSearch ?? new SearchEngine({ model: false }),
      this.#entries,
      options.policy,
    );
    for (const [name, { definition, fingerprint }] of options.servers) {
      const known = options.indexed.get(name);
      const entry = new CatalogEntry(definition, fingerprint, known, options.policy.digestOf?.(name));
      this.#entries.set(name, entry);
      this.#toolCount += entry.state.toolCount;
      if (!entry.isIndexed) this.#startOver(entry, known);
    }
    for (const index of [this.search, this.items.search])
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
    return store !== undefined && ((this.#dirty && keepsIndex) || this.#writes.hasUnwritten);
  }

  /** Tells whether a server's tools are known, from a list, the cache or the configuration. */
  isSeen(server: string): boolean {
    return this.#entries.get(server)?.isSeen ?? false;
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
    return this.#entries.get(server)?.about ?? '';
  }

  /** One tool's definition, if it is in memory. Call `load` first: undefined may only mean that it is not loaded. */
  definition(server: string, tool: string): ToolDefinition | undefined {
    return this.#entries.get(server)?.tools?.get(tool);
  }

  /** Every definition of a server, whether it may be used or not. Needs `load`. */
  definitions(server: string): readonly ToolDefinition[] {
    return [...(this.#entries.get(server)?.tools?.values() ?? [])];
  }

  /** The definitions of a server's resources, templates and prompts, and that of its introduction. Needs `load`. */
  itemDefinitions(server: string): readonly ToolDefinition[] {
    const introduction = this.#entries.get(server)?.introduction;
    return [...(introduction ? [introductionDefinition(introduction)] : []), ...itemDefinitions(this.items.of(server))];
  }

  /** Every definition of a server that can be approved. Needs `load`. */
  allDefinitions(server: string): readonly ToolDefinition[] {
    return [...this.definitions(server), ...this.itemDefinitions(server)];
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
    return this.allDefinitions(server).flatMap((definition) => {
      const { approval } = this.#options.policy.decide(server, definition);
      return approval ? [{ definition, approval }] : [];
    });
  }

  /** What no person has approved of a server but a rule, with the rule. Needs `load`. */
  approvedByRule(server: string): readonly (ToolRef & { readonly rule: string })[] {
    return this.allDefinitions(server).flatMap((definition) => {
      const { approvedBy: rule } = this.#options.policy.decide(server, definition);
      return rule === undefined ? [] : [{ server, tool: definition.name, rule }];
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
      ...Array.from(tools, (definition) => ({ server, tool: definition.name, definition })),
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
    if (stored) await this.#options.sight?.(stored.listing);
    const listing = stored?.listing ?? configuredListing(definition, fingerprint);
    return approved(listing.tools, toMetadata(listing, definition, this.#options.policy));
  }

  /** Loads a server's definitions from disk, if they are not in memory. Resolves even if there are none. */
  async load(server: string): Promise<void> {
    const entry = this.#entries.get(server);
    if (entry && !entry.tools) await entry.inTurn(() => this.#read(entry));
  }

  /** Reads the saved lists of servers that the saved index does not contain. */
  async adopt(): Promise<void> {
    const unknown = [...this.#entries.values()].filter(({ isIndexed, state }) => !isIndexed && state.fetchedAt === 0);
    const turns = new Semaphore(LIMITS.atOnce.files);
    await Promise.all(unknown.map((entry) => turns.run(() => entry.inTurn(() => this.#read(entry)))));
  }

  /** Takes over newer lists from another catalogue, for servers with the same connection. */
  async inherit(other: Catalog): Promise<void> {
    for (const entry of this.#entries.values()) {
      const listing = other.#entryOf({ server: entry.definition.name, fingerprint: entry.fingerprint })?.listing;
      if (listing && listing.fetchedAt > entry.state.fetchedAt)
        await entry.inTurn(async () => {
          await this.#options.sight?.(listing);
          await paced(this.#install(entry, listing, other.state(listing.server)?.digest));
        });
    }
    this.#writes.inherit(other.#writes);
  }

  /** Why servers without a list could not be listed last time, by name. */
  keptFailures(): Promise<ReadonlyMap<string, DiscoveryError>> {
    return this.#writes.readFailures(this.#entries.values());
  }

  /** Saves a server's failure for the next process. Undefined deletes it, once the server has been listed. */
  keepFailure(server: string, failure: KeptFailure | undefined): void {
    const entry = this.#entries.get(server);
    if (entry) this.#writes.keepFailure(entry, failure);
  }

  /** Replaces a server's list. Resolves with whether an agent can see a change. */
  async put(listing: Listing): Promise<boolean> {
    const entry = this.#entryOf(listing);
    if (entry === undefined) return false;
    return entry.inTurn(async () => {
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
      await entry.inTurn(() => this.#forget(entry));
    }
  }

  /** Writes the index if it has changed, and retries lists that could not be written. Waits for all writes. */
  async save(): Promise<void> {
    for (const listing of this.#writes.takeUnwritten()) {
      const entry = this.#entries.get(listing.server);
      // Skip lists that were replaced or forgotten since.
      if (entry?.fingerprint === listing.fingerprint && entry.state.fetchedAt === listing.fetchedAt)
        this.#writes.writeListing(listing, await paced(toLines(listing)));
    }
    if (this.#dirty && this.#options.store && this.#options.keepsIndex !== false) {
      this.#dirty = false;
      const entries = [...this.#entries.values()].map((entry) => entry.state);
      const [snapshot, items] = [this.search.toSnapshot(), this.items.search.toSnapshot()];
      this.#writes.run(async (store) => {
        if (!(await store.writeIndex({ entries, snapshot, items }))) this.#dirty = true;
      });
    }
    await this.#writes.done();
  }

  #entryOf({ server, fingerprint }: Pick<Listing, 'server' | 'fingerprint'>): CatalogEntry | undefined {
    const entry = this.#entries.get(server);
    return entry?.fingerprint === fingerprint ? entry : undefined;
  }

  *#put(entry: CatalogEntry, listing: Listing, isSearched = true, isDecided = false): Generator<unknown, boolean> {
    const whole = { ...this.#fit(entry, listing), items: { ...entry.items, ...listing.items } };
    // A provider's list is not written: the program has it anyway and may not want it on disk.
    if (isProvider(entry.definition)) return yield* this.#install(entry, whole, undefined, isSearched);
    const lines = yield* toLines(whole);
    const changed = lines.digest !== entry.state.digest;
    const sameAbout = entry.about === about(entry.definition, this.#wordsIn(whole));
    // Of a server that needs approval, the list that was read now decides, not one that another process has on disk.
    const needsApproval = entry.state.approvals !== undefined;
    const reindex = changed || isDecided || !sameAbout || this.#isDecidedAnew(entry);
    if (reindex || needsApproval) yield* this.#install(entry, whole, lines.digest, reindex);
    else this.#setState(entry, whole, lines.digest);
    this.#writes.writeListing(whole, lines);
    return changed;
  }

  async #read(entry: CatalogEntry): Promise<void> {
    if (isProvider(entry.definition) || (entry.tools && entry.state.fetchedAt > 0)) return;
    const stored = await this.#options.store?.readListing(entry.definition.name, entry.fingerprint);
    if (stored) {
      const isDecided = (await this.#options.sight?.(stored.listing)) ?? false;
      const reindex = isDecided || stored.digest !== entry.state.digest || this.#isDecidedAnew(entry);
      await paced(this.#install(entry, stored.listing, stored.digest, reindex));
    } else if (entry.state.fetchedAt > 0) await this.#forget(entry);
    else if (!entry.tools && entry.definition.tools.length > 0)
      atOnce(this.#install(entry, configuredListing(entry.definition, entry.fingerprint), undefined, false));
  }

  /** Tells whether approvals have come since the server was indexed. An index must never claim newer ones than it has. */
  #isDecidedAnew({ definition, state }: CatalogEntry): boolean {
    return state.approvals !== this.#options.policy.digestOf?.(definition.name);
  }

  async #forget(entry: CatalogEntry): Promise<void> {
    await this.#options.store?.deleteListing(entry.definition.name, entry.fingerprint);
    entry.tools = undefined;
    entry.items = NO_ITEMS;
    entry.introduction = undefined;
    this.#version++;
    this.#metadata.removeServer(entry.definition.name);
    this.#cache.invalidate(entry.definition.name);
    this.#replaceState(entry, nothingKnown(entry.definition.name, entry.fingerprint));
    this.#startOver(entry, entry.state);
  }

  /** Removes a server from the index, then adds its tools from the configuration. */
  #startOver(entry: CatalogEntry, known: IndexEntry | undefined): void {
    const { definition, fingerprint } = entry;
    if (known) {
      this.search.removeServer(definition.name);
      this.items.search.removeServer(definition.name);
      this.#dirty = true;
      if (known.fingerprint !== fingerprint)
        this.#writes.run((store) => store.deleteListing(definition.name, known.fingerprint));
    }
    if (definition.tools.length > 0)
      atOnce(this.#install(entry, configuredListing(definition, fingerprint), undefined));
  }

  /** Stores a list. Unchanged tools keep their metadata and their place in the index. Returns whether any tool changed. */
  *#install(
    entry: CatalogEntry,
    listing: Listing,
    digest: string | undefined,
    reindex = true,
  ): Generator<unknown, boolean> {
    const { definition, tools: before } = entry;
    const { name: server } = definition;
    const { policy, hides } = this.#options;
    // Taken first: an approval that comes while this is working makes the next start decide again.
    const approvals = policy.digestOf?.(server);
    const shown = hides ? listing.tools.filter((tool) => !hides(server, tool)) : listing.tools;
    entry.hasHidden = shown.length < listing.tools.length;
    const { tools, metadata, changed, gone } = yield* compareList(shown, {
      definitions: before,
      metadata: (tool) => this.tool(server, tool),
      approval: (tool) => policy.decide(server, tool).approval,
      decide: toMetadata(listing, definition, policy),
    });
    const text = about(definition, this.#wordsIn(listing));
    const isSameText = text === entry.about;
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
    entry.introduction = listing.introduction;
    this.#metadata.setServer(server, metadata);
    this.#cache.invalidate(server);
    const { enabledCount: usable, approvals: decided } = entry.state;
    this.#setState(entry, listing, digest, approvals);
    // Whether items may be used depends on approvals, and on whether tools may.
    const isDecidedAnew = approvals !== decided || usable > 0 !== entry.state.enabledCount > 0;
    if (reindex && (hasNewItems || isDecidedAnew)) yield* this.items.index(entry, text);
    this.#dirty ||= reindex;
    if (isChanged || !isSameText) this.#version++;
    return isChanged;
  }

  #setState(
    entry: CatalogEntry,
    listing: Listing,
    digest: string | undefined,
    approvals = entry.state.approvals,
  ): void {
    if (listing.fetchedAt !== entry.state.fetchedAt) this.#dirty = true;
    this.#replaceState(entry, entry.lineFor(listing, this.#wordsIn(listing), digest, approvals, this.#metadata));
  }

  #replaceState(entry: CatalogEntry, state: IndexEntry): void {
    this.#toolCount += state.toolCount - entry.state.toolCount;
    entry.state = state;
  }

  /** What a server says of itself, as far as it may be shown. */
  #wordsIn({ server, introduction }: Listing): Words {
    const { policy } = this.#options;
    const isShown =
      introduction &&
      (policy.digestOf?.(server) === undefined || policy.decide(server, introductionDefinition(introduction)).enabled);
    return isShown ? wordsOf(introduction) : {};
  }

  #fit(entry: CatalogEntry, listing: Listing): Listing {
    const { maxTools = DEFAULTS.limits.tools } = this.#options;
    const room = maxTools - (this.#toolCount - entry.state.toolCount);
    if (listing.tools.length <= room) return listing;
    const incomplete = `all servers together have more than ${maxTools} tools`;
    return { ...listing, tools: listing.tools.slice(0, Math.max(0, room)), incomplete, isCut: true };
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

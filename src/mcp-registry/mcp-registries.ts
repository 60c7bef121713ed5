/**
 * Finds and shows the servers of all configured registries. If two registries have a server of the same name, the first
 * wins.
 *
 * What was synced is searched by meaning, offline too; it is brought up to date when it is older than an hour. A registry
 * that was never synced is asked directly, and its answers are kept for an hour. While a registry is away, what is known
 * of it is used, and that is said.
 * @module
 */
import { ageSince, wallNow } from '../async/clock.ts';
import { withTimeLimit } from '../async/time-limit.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { messageOf } from '../text/thrown-message.ts';
import { MemoryAnswers } from './memory-answers.ts';
import { type RegistryPage, readEntry, readPage } from './read-page.ts';
import { isRegistryName } from './read-server.ts';
import { PAGE, RegistryClient, type RegistrySource, type RegistryWorld } from './registry-client.ts';
import { byPublisher, type RegistryHit, RegistryIndex, toDocument } from './registry-index.ts';
import type { RegistryEntry } from './registry-server.ts';
import { DamagedStore, type RegistryContents, RegistryStore } from './registry-store.ts';
import { openIndex, type SyncOptions, type SyncReport, syncRegistry } from './sync-registry.ts';

interface McpRegistriesOptions {
  /** The first one wins. */
  readonly registries: readonly RegistrySource[];
  /** The folder that everything is kept in: `~/.anygpt/registry`. Undefined: answers are kept in memory. */
  readonly folder: string | undefined;
  readonly world?: RegistryWorld | undefined;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

interface AskOptions {
  /** Send nothing. */
  readonly offline?: boolean | undefined;
  /** Whether answers that were kept may be used while they are fresh. Default true. */
  readonly useCache?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: SyncOptions['onProgress'];
}

/** A server that was found, and where. */
export interface FoundServer extends RegistryHit {
  readonly registry: string;
}

export interface RegistrySearch {
  readonly results: readonly FoundServer[];
  /** Registries that are away or were never synced. */
  readonly notes: readonly string[];
}

/** An entry, and the registry it comes from. */
export interface ShownServer {
  readonly entry: RegistryEntry;
  readonly registry: string;
  /** Whether the registry is on this machine. */
  readonly isLocal: boolean;
  readonly notes: readonly string[];
}

/** Words of a query that a registry is asked for one by one: it looks for a text, not for a meaning. */
const WORDS = 4;

interface Registry {
  readonly client: RegistryClient;
  readonly store: RegistryStore;
  /** The open index, and the name of its bytes. */
  index?: { readonly id: string; readonly index: RegistryIndex };
}

export class McpRegistries {
  readonly #registries: readonly Registry[];
  readonly #now: () => number;
  readonly #refreshMs: number;

  constructor({ registries, folder, world, now = wallNow }: McpRegistriesOptions) {
    this.#registries = registries.map((source) => ({
      client: new RegistryClient(source, world),
      store: folder === undefined ? new MemoryAnswers(source.url) : new RegistryStore(folder, source.url),
    }));
    this.#now = now;
    this.#refreshMs = world?.refreshMs ?? LIMITS.time.registryRefresh;
  }

  /** Tells whether anything was synced. Sends nothing. */
  async isSynced(): Promise<boolean> {
    const contents = await Promise.all(this.#registries.map(({ store }) => store.contents()));
    return contents.some((one) => one !== undefined);
  }

  /** Finds servers by what they do, best first, deprecated ones last. Throws only if no registry can answer. */
  async search(
    query: string,
    { limit, ...options }: AskOptions & { readonly limit?: number | undefined } = {},
  ): Promise<RegistrySearch> {
    const notes: string[] = [];
    const failures: unknown[] = [];
    const lists: FoundServer[][] = [];
    for (const [at, registry] of this.#registries.entries()) {
      try {
        const hits = await this.#find(registry, query.slice(0, LIMITS.search.query), limit, options, notes);
        const earlier = this.#registries.slice(0, at);
        const isHidden = await Promise.all(hits.map(({ name }) => anyHas(earlier, name)));
        lists.push(hits.flatMap((hit, place) => (isHidden[place] ? [] : [{ ...hit, registry: registry.client.name }])));
      } catch (error) {
        options.signal?.throwIfAborted();
        failures.push(error);
        notes.push(messageOf(error));
      }
    }
    if (failures.length > 0 && lists.length === 0) throw failures[0];
    const names = new Set<string>();
    const isNew = ({ name }: FoundServer): boolean => !names.has(name) && names.add(name) !== undefined;
    const results = lists.flat().filter(isNew).sort(byRelevance);
    return { results: results.slice(0, limit ?? LIMITS.search.defaultResults), notes };
  }

  /**
   * Returns a server by its name. Throws SERVER_NOT_FOUND, or the error of a registry that cannot be asked: a later
   * registry must not answer in its place.
   */
  async show(
    name: string,
    { version, ...options }: AskOptions & { readonly version?: string | undefined } = {},
  ): Promise<ShownServer> {
    const notes: string[] = [];
    if (isRegistryName(name)) {
      for (const registry of this.#registries) {
        const entry = await this.#entry(registry, name, version, options, notes);
        if (entry === undefined || entry.status === 'deleted') continue;
        const { name: of, isLocal } = registry.client;
        return { entry, registry: of, isLocal, notes };
      }
    }
    const near = await this.search(name, { limit: 3, offline: true }).catch(() => ({ results: [] }));
    const suggestions = near.results.map((found) => found.name);
    const what =
      version === undefined ? JSON.stringify(name) : `version ${JSON.stringify(version)} of ${JSON.stringify(name)}`;
    const form = isRegistryName(name) ? '' : ' Names there have two parts, such as io.github.owner/server.';
    const hint = suggestions.length > 0 ? ` Did you mean ${suggestions.join(' or ')}?` : form;
    throw new DiscoveryError('SERVER_NOT_FOUND', `No registry has ${what}.${hint}`, { suggestions });
  }

  /** Syncs all registries, one after the other. One that fails does not keep the others from being synced. */
  async sync(
    options: SyncOptions = {},
  ): Promise<{ readonly reports: readonly SyncReport[]; readonly failures: readonly DiscoveryError[] }> {
    const reports: SyncReport[] = [];
    const failures: DiscoveryError[] = [];
    for (const { client, store } of this.#registries) {
      try {
        reports.push(await syncRegistry(client, store, { now: this.#now, ...options }));
      } catch (error) {
        options.signal?.throwIfAborted();
        if (!(error instanceof DiscoveryError)) throw error;
        failures.push(error);
      }
    }
    return { reports, failures };
  }

  async #find(
    registry: Registry,
    query: string,
    limit: number | undefined,
    options: AskOptions,
    notes: string[],
  ): Promise<readonly RegistryHit[]> {
    const { client, store } = registry;
    const contents = await this.#upToDate(registry, options, notes);
    if (contents === undefined) {
      if (options.offline) {
        const isFirst = await store.isBeingWritten();
        notes.push(
          isFirst
            ? `The registry ${client.name} is being synced by another process for the first time.`
            : `The registry ${client.name} was never synced. Run \`anygpt mcp registry sync\`.`,
        );
        return [];
      }
      notes.push(
        `The registry ${client.name} was asked for single words. \`anygpt mcp registry sync\` makes it searchable by meaning.`,
      );
      return this.#asked(registry, query, limit, options, notes);
    }
    const found = (await this.#index(registry, contents)).search(query, limit);
    const named = query.trim();
    if (!isRegistryName(named) || found.some(({ name }) => name === named)) return found;
    const entry = (await store.entries([named])).get(named);
    return entry === undefined ? found : [{ ...hitOf(entry), relevance: 1 }, ...found];
  }

  /**
   * Brings a synced registry up to date where that is due and possible. A slow registry is waited for only if fresh
   * answers are wanted. Undefined if it was never synced.
   */
  async #upToDate(
    { client, store }: Registry,
    { offline, signal, onProgress, useCache = true }: AskOptions,
    notes: string[],
  ) {
    const contents = await store.contents();
    if (contents === undefined || offline) return contents;
    if (useCache && ageSince(contents.syncedAt, this.#now()) < LIMITS.age.registry) return contents;
    if (useCache && (await store.isBeingWritten())) {
      notes.push(`The registry ${client.name} is being synced by another process. What was synced before is used.`);
      return contents;
    }
    const sync = (limited = signal) => syncRegistry(client, store, { signal: limited, onProgress, now: this.#now });
    const seconds = this.#refreshMs / 1_000;
    const overdue = () =>
      new DiscoveryError(
        'SERVER_CONNECTION_ERROR',
        `The registry ${client.name} was not read within ${seconds} s; \`anygpt mcp registry sync\` waits for it.`,
      );
    try {
      await (useCache ? withTimeLimit(this.#refreshMs, signal, overdue, sync) : sync());
    } catch (error) {
      signal?.throwIfAborted();
      notes.push(`${messageOf(error)} What was synced before is used.`);
    }
    return store.contents();
  }

  async #index(registry: Registry, contents: RegistryContents): Promise<RegistryIndex> {
    if (registry.index?.id !== contents.index)
      registry.index = { id: contents.index, index: await openIndex(registry.store, contents) };
    return registry.index.index;
  }

  /** Asks a registry that was never synced, word by word, and ranks what it answers. */
  async #asked(
    registry: Registry,
    query: string,
    limit: number | undefined,
    options: AskOptions,
    notes: string[],
  ): Promise<readonly RegistryHit[]> {
    const entries = new Map<string, RegistryEntry>();
    for (const word of wordsOf(query)) {
      const path = `/servers?${new URLSearchParams({ limit: PAGE, version: 'latest', search: word })}`;
      const page = readPage(await this.#answer(registry, path, options, notes));
      for (const entry of (page ?? NO_PAGE).entries)
        if (entry.status !== 'deleted') entries.set(entry.server.name, entry);
    }
    const index = new RegistryIndex();
    await index.set(byPublisher([...entries.values()].map(toDocument)));
    const found = index.search(query, limit);
    const others = [...entries.values()].filter(({ server }) => !found.some(({ name }) => name === server.name));
    return found.length > 0 ? found : others.map(hitOf);
  }

  async #entry(
    registry: Registry,
    name: string,
    version: string | undefined,
    options: AskOptions,
    notes: string[],
  ): Promise<RegistryEntry | undefined> {
    const { store } = registry;
    const contents = await this.#upToDate(registry, options, notes);
    try {
      const stored = contents && (await store.entries([name])).get(name);
      if (stored !== undefined && (version === undefined || version === stored.server.version)) return stored;
      if (contents !== undefined && version === undefined) return undefined;
    } catch (error) {
      // The registry itself may still know.
      if (!(error instanceof DamagedStore) || options.offline) throw error;
    }
    if (options.offline && contents !== undefined) return undefined;
    const path = `/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version ?? 'latest')}`;
    const body = await this.#answer(registry, path, options, notes);
    const entry = body === undefined ? undefined : readEntry(body);
    // A registry must not answer with another server than the one that was asked for.
    return typeof entry === 'object' && entry.server.name === name ? entry : undefined;
  }

  /** Returns the answer to a request: one that was kept if it is fresh, or if the registry is away. */
  async #answer(
    { client, store }: Registry,
    path: string,
    { offline, useCache = true, signal }: AskOptions,
    notes: string[],
  ): Promise<unknown> {
    const kept = await store.answer(path);
    if (kept !== undefined && (offline || (useCache && ageSince(kept.at, this.#now()) < LIMITS.age.registry)))
      return kept.body;
    if (offline)
      throw new DiscoveryError(
        'SERVER_CONNECTION_ERROR',
        `The registry ${client.name} was never synced, and this is offline.`,
        { retryable: false },
      );
    try {
      const answer = await client.get(path, { etag: kept?.etag, signal });
      const body = answer.unchanged ? kept?.body : answer.body;
      await store.keepAnswer(path, { at: this.#now(), etag: answer.etag, body });
      return body;
    } catch (error) {
      if (kept === undefined || signal?.aborted) throw error;
      notes.push(`${messageOf(error)} An earlier answer is used.`);
      return kept.body;
    }
  }
}

const NO_PAGE: RegistryPage = { entries: [], skipped: [], nextCursor: undefined };

const anyHas = async (registries: readonly Registry[], name: string): Promise<boolean> =>
  (await Promise.all(registries.map(({ store }) => store.has(name)))).includes(true);

const hitOf = (entry: RegistryEntry): RegistryHit => {
  const { summary, signature = '', tags } = toDocument(entry);
  return { name: entry.server.name, version: signature, summary, relevance: 0, tags };
};

const isDeprecated = ({ tags }: RegistryHit): boolean => tags.includes('deprecated');

const byRelevance = (a: RegistryHit, b: RegistryHit): number =>
  Number(isDeprecated(a)) - Number(isDeprecated(b)) || b.relevance - a.relevance;

/** The most telling words of a query: the longest. */
const wordsOf = (query: string): string[] => {
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}./-]{2,63}/gu) ?? []);
  return [...words].sort((a, b) => b.length - a.length).slice(0, WORDS);
};

/**
 * Caches servers and tools in memory: lists by their TTL, details as long as their list. Null means: ask again.
 * @module
 */
import { elapsedNow } from '../async/clock.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import type { ServerMetadata, ToolMetadata } from '../core/types.ts';
import { TtlCache } from './ttl-cache.ts';

/** How often the cache had the answer. */
export interface CacheStats {
  readonly hits: number;
  readonly misses: number;
  /** In [0, 1]; 0 before the first lookup. */
  readonly hitRate: number;
}

/** Limits and clock of a caching layer. */
export interface CachingLayerOptions {
  /** Most servers whose tool summaries are kept. Default 10,000. */
  readonly maxServers?: number | undefined;
  /** Most tools whose details are kept. Default 100,000. */
  readonly maxDetails?: number | undefined;
  readonly now?: (() => number) | undefined;
}

const SERVER_LIST = 'servers';

/** The cache that the engine's catalogue uses for the tools of each server. TTLs are in seconds, as in the configuration. */
export class CachingLayer {
  readonly #now: () => number;
  readonly #servers: TtlCache<readonly ServerMetadata[]>;
  readonly #summaries: TtlCache<readonly ToolMetadata[]>;
  readonly #details: TtlCache<{ readonly server: string; readonly details: ToolMetadata }>;

  constructor(options: CachingLayerOptions = {}) {
    const now = options.now ?? elapsedNow;
    this.#now = now;
    this.#servers = new TtlCache({ maxEntries: 1, now });
    this.#summaries = new TtlCache({ maxEntries: options.maxServers ?? LIMITS.cache.servers, now });
    this.#details = new TtlCache({ maxEntries: options.maxDetails ?? DEFAULTS.limits.tools, now });
  }

  cacheServerList(servers: readonly ServerMetadata[], ttl: number): void {
    this.#servers.set(SERVER_LIST, servers, ttl * 1_000);
  }

  getServerList(): readonly ServerMetadata[] | null {
    return this.#servers.get(SERVER_LIST) ?? null;
  }

  /** Replaces the list and drops the details of the previous one. */
  cacheToolSummaries(server: string, tools: readonly ToolMetadata[], ttl: number): void {
    this.#forgetDetails(server);
    this.#summaries.set(server, tools, ttl * 1_000);
  }

  getToolSummaries(server: string): readonly ToolMetadata[] | null {
    return this.#summaries.get(server) ?? null;
  }

  /** Expires with the server's list, or when invalidated if there is no list. */
  cacheToolDetails(server: string, tool: string, details: ToolMetadata): void {
    const expires = this.#summaries.expiresAt(server) ?? Number.POSITIVE_INFINITY;
    this.#details.set(detailsKey(server, tool), { server, details }, expires - this.#now());
  }

  getToolDetails(server: string, tool: string): ToolMetadata | null {
    return this.#details.get(detailsKey(server, tool))?.details ?? null;
  }

  /** Drops the entries of one server, and the server list, which counts its tools; without a name, everything. */
  invalidate(server?: string): void {
    if (server === undefined) {
      this.invalidateAll();
      return;
    }
    this.#servers.clear();
    this.#summaries.delete(server);
    this.#forgetDetails(server);
  }

  invalidateAll(): void {
    this.#servers.clear();
    this.#summaries.clear();
    this.#details.clear();
  }

  /** Hits and misses since the start, over all three kinds. */
  stats(): CacheStats {
    const parts = [this.#servers, this.#summaries, this.#details];
    const hits = parts.reduce((sum, part) => sum + part.hits, 0);
    const misses = parts.reduce((sum, part) => sum + part.misses, 0);
    return { hits, misses, hitRate: hits + misses === 0 ? 0 : hits / (hits + misses) };
  }

  #forgetDetails(server: string): void {
    this.#details.deleteWhere((entry) => entry.server === server);
  }
}

const detailsKey = (server: string, tool: string): string => JSON.stringify([server, tool]);

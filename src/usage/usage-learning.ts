/**
 * Learns from use which tools to raise for a query. A call counts for the latest search of the same caller that showed
 * the tool within ten minutes, once per search, and only if it succeeded.
 * @module
 */
import { join } from 'node:path';
import { FileStore } from '../cache/file-store.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolResult } from '../core/result.ts';
import type { Caller, CallToolResult, Logger, SearchResult, ToolRef } from '../core/types.ts';
import type { ExecutionEvents } from '../execution/tool-executor.ts';
import type { ParsedQuery } from '../search/query.ts';
import type { LearntTool } from '../search/usage-record.ts';
import { UsageStore, type UsageStoreOptions } from './usage-store.ts';

interface ShownSearch {
  readonly query: string;
  readonly at: number;
  /** Ranks of the tools that were shown and not yet used, by server and name. */
  readonly places: Map<string, number>;
}

/** What already stood first needs no help, and raising it would push its neighbours down. */
const FIRST_PLACE = 0.1;

export class UsageLearning {
  readonly #store: UsageStore;
  readonly #now: () => number;
  readonly #elapsed: () => number;
  /** By caller, the latest search last. */
  readonly #searches = new Map<string, ShownSearch[]>();
  readonly #adding = new Set<Promise<void>>();
  /** What is still to be learnt, oldest first. */
  #waiting: (() => void)[] = [];

  /** `now` dates stored uses; `elapsed` tells how long ago a search was. */
  constructor(store: UsageStore, now: () => number, elapsed: () => number = now) {
    this.#store = store;
    this.#now = now;
    this.#elapsed = elapsed;
  }

  /** What this caller's principal used after similar queries. */
  async learntFor(query: string | ParsedQuery, caller: Caller = {}): Promise<LearntTool[]> {
    this.#catchUp();
    return (await this.#store.recordOf(caller.principal)).learntFor(query, this.#now());
  }

  /** Remembers which tools a search showed to a caller. */
  shown(query: string, caller: Caller = {}, results: readonly SearchResult[]): void {
    const at = this.#elapsed();
    this.#later(() => this.#remember(query, at, callerKey(caller), results));
  }

  /** Learns from the result of a call, after the answer has left. */
  settled(ref: ToolRef, caller: Caller = {}, result: ToolResult<CallToolResult>): void {
    if (!hasWorked(result) || this.#searches.size + this.#waiting.length === 0) return;
    const [elapsed, at] = [this.#elapsed(), this.#now()];
    this.#later(() => this.#learn(ref, caller, { since: elapsed - LIMITS.age.search, at }));
  }

  #later(work: () => void): void {
    if (this.#waiting.push(work) === 1) setImmediate(() => this.#catchUp());
  }

  #catchUp(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const work of waiting) work();
  }

  #remember(query: string, at: number, key: string, results: readonly SearchResult[]): void {
    const searches = this.#searches.get(key) ?? [];
    // Reinserted at the end: the callers idle longest are dropped first.
    this.#searches.delete(key);
    if (results.length === 0 && searches.length === 0) return;
    const places = new Map(results.map(({ server, tool }, place) => [toolKey(server, tool), place]));
    searches.push({ query, at, places });
    this.#searches.set(key, searches.slice(-LIMITS.cache.usageSearches));
    if (this.#searches.size > LIMITS.cache.usageCallers)
      this.#searches.delete(this.#searches.keys().next().value as string);
  }

  #learn({ server, tool }: ToolRef, caller: Caller, { since, at }: { since: number; at: number }): void {
    const key = toolKey(server, tool);
    const search = this.#searches
      .get(callerKey(caller))
      ?.findLast(({ at: shownAt, places }) => shownAt >= since && places.has(key));
    if (!search) return;
    const weight = search.places.get(key) === 0 ? FIRST_PLACE : 1;
    search.places.delete(key);
    const adding = this.#store.add(caller.principal, { query: search.query, server, tool, at, weight });
    this.#adding.add(adding);
    void adding.finally(() => this.#adding.delete(adding));
  }

  /** Like `settled`, for a streamed call. */
  async *watched(ref: ToolRef, caller: Caller | undefined, events: ExecutionEvents): ExecutionEvents {
    for await (const event of events) {
      if (event.type === 'result') this.settled(ref, caller, event.result);
      yield event;
    }
  }

  /** Tells whether learning uses this folder and setting. */
  keepsIn({ folder, keepQueries }: Pick<UsageStoreOptions, 'folder' | 'keepQueries'>): boolean {
    return this.#store.folder === folder && this.#store.keepQueries === keepQueries;
  }

  /** Writes pending uses. */
  async flush(): Promise<void> {
    this.#catchUp();
    await Promise.all(this.#adding);
    await this.#store.flush();
  }
}

const folderIn = (home: string): string => join(home, 'usage');

/** Deletes what was learnt, of all principals. Rejects with STORAGE_ERROR when files cannot be removed. */
export const forgetUsage = (home: string): Promise<void> => new FileStore(folderIn(home)).clear();

/** Returns the usage learner, if enabled. Keeps `before` if the settings are unchanged. */
export function openLearning(
  { search, home }: Pick<ResolvedConfig, 'search' | 'home'>,
  { logger, now, elapsed }: { readonly logger: Logger; readonly now: () => number; readonly elapsed?: () => number },
  before?: UsageLearning,
): UsageLearning | undefined {
  const options = { folder: folderIn(home), keepQueries: search.keepQueries, logger, now };
  if (search.learn && before?.keepsIn(options)) return before;
  void before?.flush();
  return search.learn ? new UsageLearning(new UsageStore(options), now, elapsed) : undefined;
}

/** An answer that asks for input is not a result yet. */
const hasWorked = (result: ToolResult<CallToolResult>): boolean =>
  result.success &&
  result.data.isError !== true &&
  (result.data.resultType === undefined || result.data.resultType === 'complete');

const callerKey = ({ principal, session }: Caller): string => JSON.stringify([principal ?? null, session ?? null]);

const toolKey = (server: string, tool: string): string => JSON.stringify([server, tool]);

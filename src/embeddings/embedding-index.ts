/**
 * EmbeddingIndex: a catalogue and an embedder in, the tools most alike to a query out.
 *
 * Tools are embedded behind answers. A query waits a moment for its own vector and for nothing else: where that does not
 * come, or where too few tools have vectors to compare fairly, there is no answer, and search does without.
 * @module
 */

import { abortable } from '../async/abortable.ts';
import { elapsedNow, wallNow } from '../async/clock.ts';
import { withTimeLimit } from '../async/time-limit.ts';
import type { ByteStore } from '../catalog/catalog-store.ts';
import { paced } from '../catalog/paced.ts';
import { Backoff } from '../connections/backoff.ts';
import { LIMITS } from '../core/limits.ts';
import type { Embedder, EmbedderStatus, Logger, ToolScore } from '../core/types.ts';
import { oneLine } from '../text/plain-text.ts';
import { aboveBaseline, BACKGROUND, baselineOf } from './background.ts';
import { EmbeddedTools } from './embedded-tools.ts';
import { GuardedEmbedder } from './guarded-embedder.ts';
import { nearest } from './nearest.ts';
import { QueryVectors } from './query-vectors.ts';
import type { ToolSource } from './tool-source.ts';
import { VectorCache } from './vector-cache.ts';
import type { VectorTable } from './vector-table.ts';

export interface EmbeddingIndexOptions {
  readonly embedder: Embedder;
  readonly source: ToolSource;
  /** Where vectors are kept. Absent: in memory only. */
  readonly store?: ByteStore | undefined;
  readonly logger: Logger;
  /** Milliseconds since 1970, for dates. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds that never run backwards, for durations. Default: `now` where that is given. */
  readonly elapsed?: (() => number) | undefined;
  readonly random?: (() => number) | undefined;
  /** How long a query waits for its vector. Default 600. */
  readonly timeoutMs?: number | undefined;
  /** How long vectors must be. Absent: as long as the first one. */
  readonly dimensions?: number | undefined;
  /** False: tools are embedded only while somebody waits for it. */
  readonly background?: boolean | undefined;
  /** Default 50,000. */
  readonly maxTools?: number | undefined;
  /** Of vectors in memory. Default 256 MiB. */
  readonly maxBytes?: number | undefined;
}

const TIMEOUT_MS = 600;
const LATE_MS = 5_000;
const RETRY_MS = 500;
/** With fewer vectors than this, tools that have one would be preferred to those that have none yet. */
const ENOUGH = 0.9;

export class EmbeddingIndex {
  readonly #options: EmbeddingIndexOptions;
  readonly #guard: GuardedEmbedder;
  readonly #cache: VectorCache;
  readonly #tools: EmbeddedTools;
  readonly #queries: QueryVectors;
  /** How long nobody waits for a service that answers too late. */
  readonly #patience: Backoff;
  #embedding: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #saidLate = false;
  #closed = false;

  constructor(options: EmbeddingIndexOptions) {
    this.#options = options;
    const { embedder, source, store, dimensions, logger, maxTools, maxBytes } = options;
    const { now = wallNow, elapsed = options.now ?? elapsedNow, random = Math.random } = options;
    this.#guard = new GuardedEmbedder({
      embedder,
      dimensions,
      logger,
      now: elapsed,
      random,
      onNewLength: () => this.#reset(),
    });
    this.#cache = new VectorCache({ store, embedder: embedder.id, logger, now });
    const tools = { guard: this.#guard, cache: this.#cache, embedder: embedder.id, maxTools, maxBytes };
    this.#tools = new EmbeddedTools(source, tools);
    this.#queries = new QueryVectors((query) => this.#guard.embedQuery(query));
    this.#patience = new Backoff({ initialMs: LATE_MS, now: elapsed, random });
  }

  /**
   * The 200 tools most alike to a query, of all servers or one, from 1 for the same over 0 for anything to -1; undefined
   * when that is not known in time. Never rejects.
   */
  async similar(
    query: string,
    { server, signal }: { readonly server?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<ToolScore[] | undefined> {
    const text = oneLine(query, LIMITS.embeddings.text);
    if (text === '' || this.#closed) return undefined;
    this.catchUp();
    const leftAlone = this.#guard.waitMs > 0 || this.#patience.waitMs > 0;
    if (leftAlone && !this.#queries.has(text)) return undefined;
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    const late = new Error(`The embedder gave no answer within ${timeoutMs} ms (search.embedder.timeoutMs).`);
    try {
      const answer = this.#similar(text, server);
      const found = await withTimeLimit(
        timeoutMs,
        signal,
        () => late,
        (limit) => abortable(answer, limit),
      );
      if (found) this.#inTime();
      return found;
    } catch (error) {
      if (error === late) this.#late(late);
      // What the embedder does wrong the guard has said.
      else this.#options.logger.debug({ reason: String(error) }, 'a search went without the embedder');
      return undefined;
    }
  }

  /** Embeds what is new behind whatever goes on. */
  catchUp(): void {
    if (this.#closed || this.#options.background === false || this.#guard.waitMs > 0) return;
    if (this.#tools.stale().length > 0) void this.#pass();
  }

  /** Embeds what is new while the caller waits. Resolves with how far it came; never rejects. */
  async complete(signal?: AbortSignal): Promise<EmbedderStatus> {
    if (!this.#closed && this.#guard.waitMs === 0) {
      await abortable(this.#pass(), signal).catch(() => {
        // Whoever gave up wants to know how far it came, too.
      });
      if (!signal?.aborted) await this.#cache.idle();
    }
    return this.status();
  }

  /** How far it came, and why it is not used if it is not. */
  status(): EmbedderStatus {
    const problem = this.#guard.problem ?? this.#tools.excess ?? this.#patience.error?.message;
    return {
      id: this.#options.embedder.id,
      tools: this.#tools.source.servers().reduce((sum, { toolCount }) => sum + toolCount, 0),
      embedded: this.#tools.size,
      ...(problem !== undefined && { problem }),
    };
  }

  /** Another catalogue in place of the last, after a reload. Vectors of texts that stay the same are kept. */
  replaceSource(source: ToolSource): void {
    this.#tools.source = source;
  }

  /** Forgets the vectors of one server, or of all; also those on disk. */
  forget(server?: string): Promise<void> {
    return this.#tools.forget(server);
  }

  /** Ends requests and writes what was not written yet. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#tools.stop();
    this.#guard.close();
    await this.#embedding;
    await this.#cache.idle();
  }

  async #similar(text: string, server: string | undefined): Promise<ToolScore[] | undefined> {
    await this.#tools.restore();
    const servers = this.#tools.source.servers().filter(({ name }) => server === undefined || name === server);
    const tools = servers.reduce((sum, { toolCount }) => sum + toolCount, 0);
    const settled = servers.reduce(
      (sum, { name, toolCount }) => sum + Math.min(toolCount, this.#tools.settled(name)),
      0,
    );
    if (settled === 0 || settled < tools * ENOUGH) return undefined;
    const unit = await this.#queries.get(text);
    const tables = servers.flatMap(({ name }): [string, VectorTable][] => {
      const table = this.#tools.table(name);
      return table ? [[name, table]] : [];
    });
    const baseline = baselineOf(this.#tools.table(BACKGROUND.name), unit);
    const found = await paced(nearest(tables, unit, LIMITS.embeddings.similar));
    return found.map((hit) => ({ ...hit, score: aboveBaseline(hit.score, baseline) }));
  }

  /** One pass at a time; after a failure the next one comes by itself. */
  #pass(): Promise<void> {
    this.#embedding ??= this.#tools
      .embedAll()
      .catch((error: unknown) => {
        this.#options.logger.debug({ reason: String(error) }, 'not all tools have been embedded');
        clearTimeout(this.#retry);
        const wait = Math.max(this.#guard.waitMs, RETRY_MS);
        if (!this.#closed) this.#retry = setTimeout(() => this.catchUp(), wait).unref();
      })
      .finally(() => {
        this.#embedding = undefined;
      });
    return this.#embedding;
  }

  #reset(): void {
    this.#tools.reset();
    this.#queries.clear();
  }

  #late(error: Error): void {
    this.#patience.failed(error);
    if (!this.#saidLate) this.#options.logger.warn({}, `search goes on without the embedder: ${error.message}`);
    this.#saidLate = true;
  }

  #inTime(): void {
    this.#patience.opened();
    this.#saidLate = false;
  }
}

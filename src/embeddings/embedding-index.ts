/**
 * Finds the tools most similar to a query, with an embedder. Tools are embedded in the background. A query waits
 * briefly for its own vector and for nothing else. If the vector is late, or too few tools have vectors for a fair
 * comparison, there is no result, and search continues without it.
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
  /** Stores vectors. Absent: in memory only. */
  readonly store?: ByteStore | undefined;
  readonly logger: Logger;
  /** Milliseconds since 1970, for dates. */
  readonly now?: (() => number) | undefined;
  /** Monotonic milliseconds, for durations. Default: `now` if given. */
  readonly elapsed?: (() => number) | undefined;
  readonly random?: (() => number) | undefined;
  /** How long a query waits for its vector. Default 600. */
  readonly timeoutMs?: number | undefined;
  /** The required length of vectors. Absent: that of the first one. */
  readonly dimensions?: number | undefined;
  /** False: tools are embedded only while a caller waits for it. */
  readonly background?: boolean | undefined;
  /** Default 50,000. */
  readonly maxTools?: number | undefined;
  /** Memory limit for vectors. Default 256 MiB. */
  readonly maxBytes?: number | undefined;
}

/** With fewer vectors, tools that have one would be preferred over tools that have none yet. */
const ENOUGH = 0.9;

export class EmbeddingIndex {
  readonly #options: EmbeddingIndexOptions;
  readonly #guard: GuardedEmbedder;
  readonly #cache: VectorCache;
  readonly #tools: EmbeddedTools;
  readonly #queries: QueryVectors;
  /** How long a slow service is not waited for. */
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
    this.#patience = new Backoff({ initialMs: LIMITS.time.lateVector, now: elapsed, random });
  }

  /**
   * Returns the 200 tools most similar to a query, of all servers or one, scored from 1 (identical) over 0 (unrelated)
   * to -1; undefined when the result is not ready in time. Never rejects.
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
    const { timeoutMs = LIMITS.time.queryVector } = this.#options;
    const late = new Error(`The embedder did not answer within ${timeoutMs} ms (search.embedder.timeoutMs).`);
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
      // The guard has already reported errors of the embedder.
      else this.#options.logger.debug({ reason: String(error) }, 'a search was done without the embedder');
      return undefined;
    }
  }

  /** Embeds new tools in the background. */
  catchUp(): void {
    if (this.#closed || this.#options.background === false || this.#guard.waitMs > 0) return;
    if (this.#tools.stale().length > 0) void this.#pass();
  }

  /** Embeds new tools while the caller waits. Resolves with the progress; never rejects. */
  async complete(signal?: AbortSignal): Promise<EmbedderStatus> {
    if (!this.#closed && this.#guard.waitMs === 0) {
      await abortable(this.#pass(), signal).catch(() => {
        // A caller that gave up still gets the progress.
      });
      if (!signal?.aborted) await this.#cache.idle();
    }
    return this.status();
  }

  /** Returns the progress, and why the embedder is not used, if so. */
  status(): EmbedderStatus {
    const problem = this.#guard.problem ?? this.#tools.excess ?? this.#patience.error?.message;
    return {
      id: this.#options.embedder.id,
      tools: this.#tools.source.servers().reduce((sum, { toolCount }) => sum + toolCount, 0),
      embedded: this.#tools.size,
      ...(problem !== undefined && { problem }),
    };
  }

  /** Replaces the catalogue after a reload. Vectors of unchanged texts are kept. */
  replaceSource(source: ToolSource): void {
    this.#tools.source = source;
  }

  /** Drops the vectors of one server, or of all, including those on disk. */
  forget(server?: string): Promise<void> {
    return this.#tools.forget(server);
  }

  /** Ends requests and writes pending vectors. */
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

  /** Runs one pass at a time; after a failure the next is scheduled. */
  #pass(): Promise<void> {
    this.#embedding ??= this.#tools
      .embedAll()
      .catch((error: unknown) => {
        this.#options.logger.debug({ reason: String(error) }, 'not all tools have been embedded');
        clearTimeout(this.#retry);
        const wait = Math.max(this.#guard.waitMs, LIMITS.pace.embeddingRetry);
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
    if (!this.#saidLate) this.#options.logger.warn({}, `search continues without the embedder: ${error.message}`);
    this.#saidLate = true;
  }

  #inTime(): void {
    this.#patience.opened();
    this.#saidLate = false;
  }
}

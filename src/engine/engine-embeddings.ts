/**
 * Opens an engine's embedder, if it has one, and keeps its vectors up to date. Loaded by the first search; an engine
 * without an embedder loads none of it.
 * @module
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { expandReferences } from '../config/references.ts';
import { LIMITS } from '../core/limits.ts';
import type { ConfiguredTool, EmbedderStatus, ToolScore } from '../core/types.ts';
import type { EmbeddingIndex } from '../embeddings/embedding-index.ts';
import type { ToolSource } from '../embeddings/tool-source.ts';
import type { EngineState } from './engine-state.ts';
import type { EngineWorld } from './engine-world.ts';

export class EngineEmbeddings {
  readonly #world: EngineWorld;
  readonly #redact: (text: string) => string;
  #state: EngineState | undefined;
  /** The settings of the open index. */
  #key = '';
  #opening: Promise<EmbeddingIndex> | undefined;
  #closing: Promise<unknown> = Promise.resolve();

  constructor(world: EngineWorld, redact: (text: string) => string) {
    this.#world = world;
    this.#redact = redact;
  }

  /** Applies a new configuration. An unchanged embedder keeps its vectors. */
  configure(state: EngineState): void {
    this.#state = state;
    const key = keyOf(state);
    const opening = this.#opening;
    if (opening === undefined) return;
    if (this.#key === key) {
      void opening.then((index) => index.replaceSource(sourceOf(state)));
      return;
    }
    this.#opening = undefined;
    this.#closing = Promise.all([this.#closing, opening.then((index) => index.close())]);
  }

  /** The tools most similar to a query. Undefined without an embedder, or if it does not answer in time. */
  similar(query: string, server: string | undefined): Promise<readonly ToolScore[] | undefined> | undefined {
    return this.#index?.then((index) => index.similar(query, { server }));
  }

  /** The embedder's progress. Undefined without an embedder. */
  async status(): Promise<EmbedderStatus | undefined> {
    return this.#told((await this.#index)?.status());
  }

  /** The embedder's progress, after it has read all tools. */
  async complete(signal?: AbortSignal): Promise<EmbedderStatus | undefined> {
    return this.#told(await (await this.#index)?.complete(signal));
  }

  /** Forgets the vectors of one server's tools, or of all. */
  async forget(server?: string): Promise<void> {
    await (await this.#index)?.forget(server);
  }

  /** Redacts the status: an embedder's messages may quote its secrets. */
  #told(status: EmbedderStatus | undefined): EmbedderStatus | undefined {
    return status?.problem === undefined ? status : { ...status, problem: this.#redact(status.problem) };
  }

  /** Undefined without an embedder, and when offline. */
  get #index(): Promise<EmbeddingIndex> | undefined {
    const state = this.#state;
    if (state === undefined || this.#world.offline) return undefined;
    if (this.#world.embedder === undefined && state.config.search.embedder === undefined) return undefined;
    this.#opening ??= this.#open(state);
    return this.#opening;
  }

  /** Embeds the tools of a changed list in the background, once a search has opened the index. */
  changed(): void {
    void this.#opening?.then((index) => index.catchUp());
  }

  async close(): Promise<void> {
    await (await this.#opening)?.close();
    await this.#closing;
  }

  async #open(state: EngineState): Promise<EmbeddingIndex> {
    this.#key = keyOf(state);
    const [{ EmbeddingIndex }, { openEmbedder }] = await Promise.all([
      import('../embeddings/embedding-index.ts'),
      import('../embeddings/open-embedder.ts'),
    ]);
    const { env, fetch, logger, now, elapsed, background } = this.#world;
    const { embedder: settings } = state.config.search;
    const expand = (text: string) => expandReferences(text, env, 'search.embedder');
    const own = this.#world.embedder;
    const embedder = own ?? openEmbedder(settings as NonNullable<typeof settings>, { expand, fetch });
    return new EmbeddingIndex({
      embedder,
      source: sourceOf(state),
      store: await this.#openStore(state),
      timeoutMs: settings?.timeoutMs,
      dimensions: own ? undefined : settings?.dimensions,
      logger,
      now,
      elapsed,
      background,
    });
  }

  async #openStore({ config: { cache } }: EngineState) {
    if (!cache.enabled) return undefined;
    const [{ FileStore }, { sweepEntries }] = await Promise.all([
      import('../cache/file-store.ts'),
      import('../cache/sweep-entries.ts'),
    ]);
    const folder = join(cache.dir, 'vectors');
    const { logger, now, background } = this.#world;
    if (background) {
      void sweepEntries(folder, { olderThanMs: LIMITS.age.vectors, maxBytes: LIMITS.embeddings.disk, now }).catch(
        (error: unknown) => logger.debug({ reason: String(error) }, 'old vectors could not be removed'),
      );
    }
    return new FileStore(folder);
  }
}

const keyOf = ({ config: { search, cache } }: EngineState): string => JSON.stringify([search.embedder, cache]);

/** The catalogue in the form the index reads. */
function sourceOf({ servers, catalog }: EngineState): ToolSource {
  return {
    servers: () =>
      [...servers].flatMap(([name, { definition, fingerprint }]) => {
        const { toolCount: all = 0, unapprovedCount = 0 } = (catalog.isSeen(name) && catalog.state(name)) || {};
        const toolCount = all - unapprovedCount;
        return toolCount === 0
          ? []
          : [{ name, fingerprint, toolCount, stamp: stampOf(catalog, name, definition.tools) }];
      }),
    tools: (server) => catalog.everyTool(server),
  };
}

const configured = new WeakMap<readonly ConfiguredTool[], string>();

/** Identifies the content of a server's tools: its own list, and the configured texts. */
function stampOf(catalog: Catalog, server: string, tools: readonly ConfiguredTool[]): string {
  let words = configured.get(tools);
  if (words === undefined) {
    words = tools.length === 0 ? '' : createHash('sha256').update(JSON.stringify(tools)).digest('hex').slice(0, 24);
    configured.set(tools, words);
  }
  const { digest = '', unapprovedCount } = catalog.state(server) ?? {};
  return `${digest}:${words}${unapprovedCount ? `:${unapprovedCount}` : ''}`;
}

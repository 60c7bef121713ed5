/**
 * SearchEngine: tools in, ranked hits out. Pure and synchronous; no I/O, no clock, no randomness.
 * @module
 */
import type { SearchOptions, SearchResult, ToolMetadata } from '../types.ts';
import { type SearchDocument, toDocument } from './document.ts';
import { findNamed } from './exact-names.ts';
import { rank } from './keyword-ranker.ts';
import { parseQuery } from './query.ts';
import { toRelevance } from './relevance.ts';
import { TEXT, tagsOf, textOf } from './segment.ts';
import { compareText } from './segment-builder.ts';
import type { LiveSegment } from './segment-merger.ts';
import { SegmentStore } from './segment-store.ts';
import { select, serverOf } from './selection.ts';
import { resolveSettings, type SearchEngineOptions, type SearchSettings } from './settings.ts';
import { decodeSnapshot, encodeSnapshot } from './snapshot.ts';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 100;
const TOOLS_PER_STEP = 100;

/** The hits of a query, and how many disabled tools would have been among them. */
export interface SearchOutcome {
  readonly results: SearchResult[];
  readonly withheld: number;
}

/**
 * Finds tools by free text.
 * @example
 * const engine = new SearchEngine();
 * engine.setServer('github', tools, 'GitHub API integration');
 * engine.search('open a ticket', { limit: 5 });
 */
export class SearchEngine {
  readonly #settings: SearchSettings;
  #store = new SegmentStore();

  constructor(options: SearchEngineOptions = {}) {
    this.#settings = resolveSettings(options);
  }

  /** Replaces everything. */
  index(tools: readonly ToolMetadata[]): void {
    const servers = new Map<string, ToolMetadata[]>();
    for (const tool of tools) {
      const list = servers.get(tool.server);
      if (list === undefined) servers.set(tool.server, [tool]);
      else list.push(tool);
    }
    this.#store.clear();
    for (const [server, list] of servers) this.setServer(server, list);
    this.#store.read();
  }

  /** Replaces the tools of one server; `about` is its title or description. Of two tools with one name the last counts. */
  setServer(server: string, tools: readonly ToolMetadata[], about = ''): void {
    const steps = this.setServerInSteps(server, tools, about);
    while (steps.next().done !== true);
  }

  /**
   * `setServer` in steps of a few milliseconds, for long lists: between two steps the caller may let other work go on.
   * The old tools are found until the last step; each step yields how many tools have been read.
   */
  *setServerInSteps(server: string, tools: readonly ToolMetadata[], about = ''): Generator<number, void> {
    const documents = new Map<string, SearchDocument>();
    for (const [position, tool] of tools.entries()) {
      documents.set(tool.name, toDocument({ ...tool, server }, about, this.#settings));
      if ((position + 1) % TOOLS_PER_STEP === 0) yield position + 1;
    }
    this.#store.set(
      server,
      [...documents.values()].sort((a, b) => compareText(a.name, b.name)),
    );
  }

  /** Forgets a server and its tools. */
  removeServer(server: string): void {
    this.#store.delete(server);
  }

  /** How many tools are indexed, disabled ones included. */
  get size(): number {
    return this.#store.size;
  }

  /** Names of the indexed servers, sorted. */
  servers(): string[] {
    return this.#store.servers();
  }

  /** The best tools for a query, best first. */
  search(query: string, options: SearchOptions = {}): SearchResult[] {
    return this.find(query, options).results;
  }

  /** Like `search`, and says how many disabled tools would have been shown. */
  find(query: string, { server, limit, includeDisabled = false }: SearchOptions = {}): SearchOutcome {
    const index = this.#store.read();
    const parsed = parseQuery(query);
    const ranking = rank(index, parsed.terms, { synonyms: this.#settings.synonyms, server });
    const named = findNamed(index, parsed);
    const inScope = (segment: number, document: number): boolean =>
      server === undefined || serverOf(index, { segment, document }) === server;
    const isEnabled = (segment: number, document: number): boolean =>
      index.segments[segment]?.segment.enabled[document] === 1;
    const size = { limit: toLimit(limit), cut: limit === undefined };

    const all = select(index, ranking, named, { ...size, accepts: inScope });
    const withheld = includeDisabled ? 0 : all.filter(({ segment, document }) => !isEnabled(segment, document)).length;
    const hits =
      withheld === 0
        ? all
        : select(index, ranking, named, { ...size, accepts: (s, d) => inScope(s, d) && isEnabled(s, d) });
    const results = hits.map((hit): SearchResult => {
      const { segment } = index.segments[hit.segment] as LiveSegment;
      const signature = textOf(segment, hit.document, TEXT.signature);
      return {
        server: serverOf(index, hit),
        tool: textOf(segment, hit.document, TEXT.name),
        summary: textOf(segment, hit.document, TEXT.summary),
        relevance: hit.named ? 1 : toRelevance(hit.score, ranking.perfect),
        tags: tagsOf(segment, hit.document),
        ...(signature !== '' && { args: signature }),
      };
    });
    return { results, withheld };
  }

  /** The index as bytes, ready for the disk. */
  toSnapshot(): Uint8Array {
    return encodeSnapshot(this.#store.merged(), this.#settings);
  }

  /** An engine from `toSnapshot`'s bytes, which it keeps; undefined when they are damaged or made with other settings. */
  static fromSnapshot(bytes: Uint8Array, options: SearchEngineOptions = {}): SearchEngine | undefined {
    const engine = new SearchEngine(options);
    const segment = decodeSnapshot(bytes, engine.#settings);
    if (segment === undefined) return undefined;
    engine.#store = SegmentStore.of(segment);
    return engine;
  }
}

const toLimit = (limit: number | undefined): number =>
  limit === undefined || Number.isNaN(limit) ? DEFAULT_LIMIT : Math.max(0, Math.min(MAX_LIMIT, Math.floor(limit)));

/**
 * SearchEngine: tools in, ranked hits out. Pure and synchronous; no I/O, no clock, no randomness.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { SearchOptions, SearchResult, ToolMetadata } from '../core/types.ts';
import { type SearchDocument, toDocument } from './document.ts';
import { allOf, findNamed, findTool, isName, type Named, type NamedTool } from './exact-names.ts';
import { type Explanation, explainMeaning, explainWords } from './explanation.ts';
import { filterScope } from './filter-scope.ts';
import { fuse } from './fusion.ts';
import { rank } from './keyword-ranker.ts';
import { type LiveIndex, type Position, serverOf } from './live-index.ts';
import { Likeness } from './meaning-ranker.ts';
import { meaningWords } from './meaning-text.ts';
import { restAgrees } from './name-agreement.ts';
import { parseQuery } from './query.ts';
import { readFilters } from './query-filters.ts';
import { toRelevance } from './relevance.ts';
import { FLAG, hasFlag, TEXT, tagsOf, textOf } from './segment.ts';
import { compareText } from './segment-builder.ts';
import { decodeSnapshot, encodeSnapshot } from './segment-file.ts';
import type { LiveSegment } from './segment-merger.ts';
import { SegmentStore } from './segment-store.ts';
import { type Selection, select } from './selection.ts';
import { resolveSettings, type SearchEngineOptions, type SearchSettings } from './settings.ts';
import { spellWords } from './spelling.ts';

const TOOLS_PER_STEP = 100;
/** The least relevance of a hit that answers, or would have a relevance if it were alone. */
const LEAST_RELEVANCE = 0.01;

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
    const lexicon = this.#store.lexicon(this.#settings);
    for (const [position, tool] of tools.entries()) {
      documents.set(tool.name, toDocument({ ...tool, server }, about, this.#settings, lexicon));
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
  find(query: string, options: SearchOptions = {}): SearchOutcome {
    const { includeDisabled = false } = options;
    const found = this.#read(query, options);
    const { index } = found;
    const all = found.select(() => true);
    const withheld = includeDisabled ? 0 : all.hits.filter((hit) => !isEnabled(index, hit)).length;
    const isWhole =
      includeDisabled || (withheld === 0 && found.ranking.candidates.every((hit) => isEnabled(index, hit)));
    const selection = isWhole ? all : found.select(enabledOnly(index));
    const relevances = relevancesOf(selection);
    const results = selection.hits.flatMap((hit, place): SearchResult[] => {
      const relevance = relevances[place] ?? 0;
      // What is not relevant is no answer, however many were asked for.
      if (relevance === 0) return [];
      const { segment } = index.segments[hit.segment] as LiveSegment;
      const signature = textOf(segment, hit.document, TEXT.signature);
      const result = {
        server: serverOf(index, hit),
        tool: textOf(segment, hit.document, TEXT.name),
        summary: textOf(segment, hit.document, TEXT.summary),
        relevance,
        tags: tagsOf(segment, hit.document),
        ...(signature !== '' && { args: signature }),
      };
      return [result];
    });
    return { results, withheld };
  }

  /** Why a tool has the place it has for a query; undefined when it is not indexed. `about` is what `setServer` was told. */
  explain(query: string, tool: ToolMetadata, about = '', options: SearchOptions = {}): Explanation | undefined {
    const { index, parsed, ranking, select: choose } = this.#read(query, { ...options, limit: LIMITS.search.results });
    const position = findTool(index, tool.server, tool.name);
    if (position === undefined) return undefined;
    // What is disabled stands where it would if it were not.
    const all = options.includeDisabled === true || !isEnabled(index, position);
    const selection = choose(all ? () => true : enabledOnly(index));
    const place = selection.hits.findIndex(
      ({ segment, document }) => segment === position.segment && document === position.document,
    );
    const score = ranking.partsOf(position);
    const { best, second } = selection;
    return {
      server: tool.server,
      tool: tool.name,
      named: selection.hits[place]?.named ?? false,
      relevance: relevancesOf(selection)[place] ?? 0,
      score,
      lead: score.total < best ? score.total - best : best - second,
      ...explainWords(index, parsed, tool, about, this.#settings),
      alike: explainMeaning(parsed.spoken, tool, this.#settings),
    };
  }

  /** Everything about a query but the list: the index it is asked of, what it says, and every candidate's score. */
  #read(query: string, { server, limit, learnt = [], similar = [] }: SearchOptions) {
    const index = this.#store.read();
    const whole = query.slice(0, LIMITS.search.query);
    const read = readFilters(whole);
    // A server may be called `server`, and `server:ping` is then a tool.
    const isFiltered = read.filters.length > 0 && !isName(index, parseQuery(whole, this.#settings.parts));
    const { filters, text } = isFiltered ? read : { filters: [], text: whole };
    const { model, meaningWeight, parts } = this.#settings;
    const parsed = parseQuery(text, parts);
    const passes = filterScope(index, filters);
    const inScope = (segment: number, document: number): boolean => {
      if (server !== undefined && serverOf(index, { segment, document }) !== server) return false;
      return passes(segment, document);
    };
    const spoken = meaningWords(parsed.spoken);
    const request = model?.ofRequest(parts.typos ? spellWords(index, model, spoken) : spoken);
    const likeness = request && new Likeness(index, request);
    const words = rank(index, parsed.terms, this.#settings, server);
    const oneServer = server !== undefined || filters.some(({ key }) => key === 'server') || index.servers < 2;
    const arms = { words, meaning: likeness, similar, learnt, meaningWeight, oneServer };
    const ranking = fuse(index, arms, inScope);
    // Nothing but filters asks for all that pass them.
    const asksForAll = parsed.terms.length === 0 && filters.length > 0;
    const aboutness = (position: Position): number => likeness?.ofServer(position) ?? 0;
    const size = { limit: toLimit(limit), cut: limit === undefined, thin: parts.repeats, aboutness };
    const asksFor = (mentioned: readonly Named[]): ((named: Named) => boolean) =>
      restAgrees(index, { text, mentioned, candidates: ranking.candidates }, this.#settings);
    const listNamed = (): readonly (readonly NamedTool[])[] =>
      parts.names ? findNamed(index, parsed, asksFor).map(({ tools }) => tools) : [];
    const choose = (accepts: (segment: number, document: number) => boolean): Selection => {
      const isAccepted = (segment: number, document: number): boolean =>
        inScope(segment, document) && accepts(segment, document);
      const named = asksForAll ? [allOf(index, LIMITS.search.results, isAccepted)] : listNamed();
      return select(index, ranking, named, { ...size, accepts: isAccepted });
    };
    return { index, parsed, ranking, select: choose };
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
  limit === undefined || Number.isNaN(limit)
    ? LIMITS.search.defaultResults
    : Math.max(0, Math.min(LIMITS.search.results, Math.floor(limit)));

const isEnabled = (index: LiveIndex, { segment, document }: Position): boolean =>
  hasFlag((index.segments[segment] as LiveSegment).segment, document, FLAG.enabled);

const enabledOnly =
  (index: LiveIndex) =>
  (segment: number, document: number): boolean =>
    isEnabled(index, { segment, document });

/**
 * How relevant each hit is: 1 for a tool whose name was spelled exactly; none is more relevant than what is shown before it.
 * A hit of relevance 0 is not shown and says nothing about those after it.
 */
function relevancesOf({ hits, best, second }: Selection): number[] {
  let before = 1;
  return hits.map(({ spelled, score, answers }) => {
    const relevance = toRelevance(score, best, second);
    // However far ahead the best is, what would be relevant without it does not become nothing.
    const least = (score > 0 && answers) || toRelevance(score, score, score) > 0 ? LEAST_RELEVANCE : 0;
    const own = spelled ? 1 : Math.max(least, relevance);
    if (own > 0) before = Math.min(before, own);
    return own > 0 ? before : 0;
  });
}

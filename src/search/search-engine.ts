/**
 * Indexes tools and finds them by free text. Pure and synchronous: no I/O, no clock, no randomness.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { SearchOptions, SearchResult, ToolMetadata } from '../core/types.ts';
import { actsOf } from './acts.ts';
import { type SearchDocument, toDocument } from './document.ts';
import { allOf, findNamed, findTool, isName, type NamedTool } from './exact-names.ts';
import { type Explanation, explainAsking } from './explanation.ts';
import { filterScope } from './filter-scope.ts';
import { explainScore, fuse } from './fusion.ts';
import { goalOf } from './goal.ts';
import { joinActs } from './join-acts.ts';
import { languageOf } from './language-of.ts';
import { type LiveIndex, type Position, positionKey, serverOf } from './live-index.ts';
import { restAgrees } from './name-agreement.ts';
import { type ParsedQuery, parseQuery, type SearchQuery, withTranslation } from './query.ts';
import { type Classifier, readFilters } from './query-filters.ts';
import type { Search } from './ranker.ts';
import { toRelevance } from './relevance.ts';
import { FLAG, hasFlag, TEXT, tagsOf, textOf } from './segment.ts';
import { decodeSnapshot, encodeSnapshot, snapshotParts } from './segment-file.ts';
import type { LiveSegment } from './segment-merger.ts';
import { SegmentStore } from './segment-store.ts';
import { type Selection, select } from './selection.ts';
import { resolveSettings, type SearchEngineOptions, type SearchSettings } from './settings.ts';
import { shippedTelltales, shippedWords } from './shipped.ts';
import { explainTranslation, translate } from './translation.ts';

const TOOLS_PER_STEP = 100;
/** The most candidates of one server, so that other servers have candidates too. */
const PER_SERVER = 64;
/** The least relevance of a hit that answers, or would be relevant if it were alone. */
const LEAST_RELEVANCE = 0.01;

/** The hits of a query, and how many disabled tools would have been among them. */
interface SearchOutcome {
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
   * Does `setServer` in steps of a few milliseconds, for long lists. The caller may do other work between two steps.
   * The old tools are found until the last step; each step yields how many tools have been read.
   */
  *setServerInSteps(server: string, tools: readonly ToolMetadata[], about = ''): Generator<number, void> {
    this.#store.set(server, yield* this.#documents(server, tools, about));
  }

  /** Adds or replaces some tools of a server and forgets those named in `gone`, in steps. The others stay as they are. */
  *changeServerInSteps(
    server: string,
    tools: readonly ToolMetadata[],
    gone: readonly string[],
    about = '',
  ): Generator<number, void> {
    this.#store.change(server, yield* this.#documents(server, tools, about), gone);
  }

  *#documents(
    server: string,
    tools: readonly ToolMetadata[],
    about: string,
  ): Generator<number, ReadonlyMap<string, SearchDocument>> {
    const documents = new Map<string, SearchDocument>();
    const lexicon = this.#store.lexicon(this.#settings);
    for (const [position, tool] of tools.entries()) {
      documents.set(tool.name, toDocument({ ...tool, server }, about, this.#settings, lexicon));
      if ((position + 1) % TOOLS_PER_STEP === 0) yield position + 1;
    }
    return documents;
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

  /**
   * Reads a query, for a caller that needs its words before it searches. With a classifier, it may have filters by
   * domain and category.
   */
  read(query: string, classifier?: Classifier): SearchQuery {
    const { parts } = this.#settings;
    const written = query.slice(0, LIMITS.search.query);
    const { filters, text } = readFilters(written, classifier !== undefined);
    if (filters.length > 0) {
      // A server may be called `server`, and `server:ping` is then a tool.
      const name = parseQuery(written, parts);
      if (isName(this.#store.read(), name)) return { ...name, filters: [], acts: [] };
    }
    const acts = parts.acts ? actsOf(text).map((act) => this.#parse(act)) : [];
    return { ...this.#parse(text), filters, acts, classifier };
  }

  /** Parses a text in any language: words of another language are looked for in English, and as they are. */
  #parse(text: string): ParsedQuery {
    const { parts, model, asking } = this.#settings;
    const language = parts.languages ? languageOf(text, shippedTelltales) : undefined;
    if (language === undefined) return parseQuery(text, parts, model && asking()?.weigh(text, model));
    const parsed = parseQuery(text, parts);
    const translation = translate(parsed.text, language, shippedWords(language));
    return withTranslation(parsed, translation, parts);
  }

  /** Like `search`, and says how many disabled tools would have been shown. Also takes what `read` returned. */
  find(query: string | SearchQuery, options: SearchOptions = {}): SearchOutcome {
    const { includeDisabled = false } = options;
    const { index, candidates, choose } = this.#rank(query, options);
    const all = choose(() => true);
    const withheld = includeDisabled ? 0 : all.hits.filter((hit) => !isEnabled(index, hit)).length;
    const isWhole = includeDisabled || (withheld === 0 && candidates.every((hit) => isEnabled(index, hit)));
    const selection = isWhole ? all : choose((segment, document) => isEnabled(index, { segment, document }));
    const relevances = relevancesOf(selection);
    const results = selection.hits.flatMap((hit, place): SearchResult[] => {
      const relevance = relevances[place] ?? 0;
      // An irrelevant hit is never shown, whatever the limit.
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

  /** Explains the place of a tool for a query; undefined if it is not indexed. `about` is what `setServer` was told. */
  explain(
    query: string | SearchQuery,
    tool: ToolMetadata,
    about = '',
    options: SearchOptions = {},
  ): Explanation | undefined {
    const asked = typeof query === 'string' ? this.read(query) : query;
    const { index, search, ranking, acts, choose } = this.#rank(asked, { ...options, limit: LIMITS.search.results });
    const position = findTool(index, tool.server, tool.name);
    if (position === undefined) return undefined;
    // A disabled tool is explained as if it were enabled.
    const all = options.includeDisabled === true || !isEnabled(index, position);
    const selection = choose((segment, document) => all || isEnabled(index, { segment, document }));
    const place = selection.hits.findIndex((hit) => positionKey(hit) === positionKey(position));
    const score = ranking.partsOf(position);
    const { best, second } = selection;
    return {
      server: tool.server,
      tool: tool.name,
      named: selection.hits[place]?.named ?? false,
      relevance: relevancesOf(selection)[place] ?? 0,
      score,
      lead: score.total < best ? score.total - best : best - second,
      ...(search.goal && { goal: search.goal }),
      ...(search.query.asking && { asking: explainAsking(search.query.asking) }),
      ...(search.query.things.length > 0 && { things: search.query.things }),
      ...(asked.translation && { translated: explainTranslation(asked.translation) }),
      ...(acts.length > 0 && {
        acts: acts.map((act, at) => ({ text: search.query.acts[at]?.text ?? '', score: act.partsOf(position).total })),
      }),
      ...explainScore(search, tool, about),
    };
  }

  /** Scores the candidates of a query; `choose` makes the list of those that a test accepts. */
  #rank(asked: string | SearchQuery, { server, limit, learnt, similar }: SearchOptions) {
    const index = this.#store.read();
    index.scratch.start();
    const settings = this.#settings;
    const query = typeof asked === 'string' ? this.read(asked) : asked;
    const { filters } = query;
    const passes = filterScope(index, query);
    const accepts: Search['accepts'] =
      server === undefined
        ? passes
        : (segment, document) => serverOf(index, { segment, document }) === server && passes(segment, document);
    const oneServer = server !== undefined || filters.some(({ key }) => key === 'server') || index.servers < 2;
    const perServer = oneServer ? Number.POSITIVE_INFINITY : PER_SERVER;
    // Words of another language are translated one by one, so the order of the English ones says nothing.
    const isPlain = query.acts.length === 0 && query.translation === undefined;
    const goal = settings.parts.goals && isPlain ? goalOf(query.spoken) : undefined;
    const search = { index, query, settings, server, learnt, similar, perServer, accepts, goal };
    // What was learnt, and what another embedder knows, is about the whole request.
    const acts = query.acts.map((act) =>
      fuse({ index, query: act, isAct: true, settings, server, perServer, accepts }),
    );
    const ranking = fuse(search);
    // A query of only filters asks for all tools that pass them.
    const asksForAll = query.terms.length === 0 && filters.length > 0;
    const size = { limit: toLimit(limit), cut: limit === undefined, thin: settings.parts.repeats };
    const listNamed = (): readonly (readonly NamedTool[])[] =>
      settings.parts.names
        ? findNamed(index, query, (mentioned) => restAgrees(search, mentioned, ranking.candidates)).map(
            ({ tools }) => tools,
          )
        : [];
    const choose = (isWanted: (segment: number, document: number) => boolean): Selection => {
      const isAccepted = (segment: number, document: number): boolean =>
        accepts(segment, document) && isWanted(segment, document);
      const named = asksForAll ? [allOf(index, LIMITS.search.results, isAccepted)] : listNamed();
      const joined = acts.length > 0 && !asksForAll ? joinActs(ranking, acts, isAccepted) : ranking;
      return select(index, joined, named, { ...size, accepts: isAccepted });
    };
    const candidates = [ranking, ...acts].flatMap((one) => one.candidates);
    return { index, search, ranking, acts, candidates, choose };
  }

  /** The index as bytes, ready for the disk. */
  toSnapshot(): Uint8Array {
    return encodeSnapshot(this.#store.merged(), this.#settings);
  }

  /** The bytes of `toSnapshot` in parts that belong to the engine: a large index is written without a copy of it. */
  snapshotParts(): readonly Uint8Array[] {
    return snapshotParts(this.#store.merged(), this.#settings);
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

/**
 * How relevant each hit is: 1 for a tool whose name was spelled exactly; none is more relevant than what is shown before it.
 * A hit of relevance 0 is not shown and says nothing about those after it.
 */
function relevancesOf({ hits, best, second }: Selection): number[] {
  let before = 1;
  return hits.map(({ spelled, score, answers, relevance: ofAct }) => {
    const relevance = ofAct ?? toRelevance(score, best, second);
    // However far ahead the best hit is, a hit that would be relevant without it stays visible.
    const least = (score > 0 && answers) || toRelevance(score, score, score) > 0 ? LEAST_RELEVANCE : 0;
    const own = spelled ? 1 : Math.max(least, relevance);
    if (own > 0) before = Math.min(before, own);
    return own > 0 ? before : 0;
  });
}

/**
 * Searches groups of tools with the ranking of the search engine, and with literal matches as minimum scores.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import type { ToolSummary } from '../../core/tool-provider.ts';
import type { SearchResult, ToolMetadata } from '../../core/types.ts';
import { SearchEngine } from '../../search/search-engine.ts';
import { firstSentence } from '../../text/plain-text.ts';
import { Haystack, TIERS } from './haystack.ts';
import { LEVEL, type MatchedTexts, matchLevel, toMatched, toNeedle } from './match-level.ts';

/** A hit, and its score from 0 to 1. */
export interface IndexHit {
  readonly group: string;
  readonly tool: ToolSummary;
  readonly score: number;
}

interface Entry {
  readonly tool: ToolSummary;
  readonly texts: MatchedTexts;
}

interface Group {
  readonly entries: readonly Entry[];
  readonly places: ReadonlyMap<string, number>;
  readonly haystack: Haystack;
}

/** Tells whether a tool of a group counts: of several with one name, only one does. */
export type Owns = (group: string, name: string) => boolean;

/**
 * Minimum scores, in hundredths. `asked`: a score of 0 is no hit. `byDefault`: a default answer needs a little more.
 * `listed`: visible tools must not fill up an answer, because clients list them anyway. `alone`: a best hit below this is
 * noise, as measured on requests with and without an answer.
 */
const LEAST = { asked: 1, byDefault: 2, listed: 10, alone: 10 };
/** How many tools are shown if nothing fits well. */
const NEAREST = 3;
const TOOLS_PER_STEP = 100;

/** Searches groups of tools. A group is replaced as a whole. */
export class ToolIndex {
  // Group names are internal, so they must not match a query.
  readonly #engine = new SearchEngine({ weights: { server: 0 } });
  readonly #groups = new Map<string, Group>();
  readonly #waiting = new Map<string, readonly ToolSummary[]>();
  #indexing: Promise<void> | undefined;

  /** Replaces a group. It is searchable once `ready` has settled. */
  set(group: string, tools: readonly ToolSummary[]): void {
    this.#waiting.set(group, tools);
  }

  /** Removes a group at once. */
  delete(group: string): void {
    this.#waiting.delete(group);
    this.#groups.delete(group);
    this.#engine.removeServer(group);
  }

  /** Settles when all groups are indexed; undefined if they already are. Yields to other work in between. */
  ready(): Promise<void> | undefined {
    if (this.#waiting.size === 0) return this.#indexing;
    this.#indexing ??= this.#index().finally(() => {
      this.#indexing = undefined;
    });
    return this.#indexing;
  }

  async #index(): Promise<void> {
    let read = 0;
    for (let next = first(this.#waiting); next !== undefined; next = first(this.#waiting)) {
      const [group, tools] = next;
      for (const _ of this.#engine.setServerInSteps(group, tools.map(toMetadata))) await otherWork();
      // The group may have been replaced or removed meanwhile.
      if (!this.#waiting.has(group)) this.delete(group);
      if (this.#waiting.get(group) !== tools) continue;
      this.#waiting.delete(group);
      this.#groups.set(group, toGroup(tools));
      read += tools.length;
      if (read >= TOOLS_PER_STEP && this.#waiting.size > 0) {
        read = 0;
        await otherWork();
      }
    }
  }

  /** The best tools for a query, best first: at most `limit`. By default 10, or fewer if relevance drops. */
  find(query: string, limit: number | undefined, owns: Owns): IndexHit[] {
    const needle = toNeedle(query);
    const most = limit ?? LIMITS.search.defaultResults;
    const hits = new Map<Entry, IndexHit>();
    const add = (group: string, entry: Entry | undefined, relevance: number): boolean => {
      if (entry === undefined || hits.has(entry) || !owns(group, entry.tool.name)) return false;
      hits.set(entry, { group, tool: entry.tool, score: Math.max(relevance, matchLevel(entry.texts, needle)) });
      return true;
    };
    for (const { server, tool, relevance } of this.#ranked(query, limit, owns)) {
      const group = this.#groups.get(server);
      add(server, group?.entries[group.places.get(tool) ?? -1], relevance);
    }
    // The engine matches words; parts of words and phrases are matched here.
    for (const tier of TIERS) {
      let left = most - countFrom(hits.values(), LEVEL[tier]);
      for (const [name, { entries, haystack }] of this.#groups) {
        if (left <= 0) break;
        for (const place of haystack.find(tier, needle)) {
          if (add(name, entries[place], 0) && --left === 0) break;
        }
      }
    }
    // Hits with equal scores stay in the engine's order.
    return [...hits.values()]
      .filter(({ tool, score }) => inHundredths(score) >= (tool.visible === true ? LEAST.listed : LEAST.asked))
      .sort((a, b) => b.score - a.score)
      .slice(0, most);
  }

  /** The nearest tools to a query for which `find` returns nothing by default. */
  nearest(query: string, owns: Owns): IndexHit[] {
    return this.find(query, NEAREST, owns).filter(({ score }) => inHundredths(score) >= LEAST.alone);
  }

  /** The engine's hits that count. Hits that do not count take no place from the others. */
  #ranked(query: string, limit: number | undefined, owns: Owns): SearchResult[] {
    const counts = ({ server, tool }: SearchResult): boolean => owns(server, tool);
    const found = this.#engine.search(query, { limit });
    if (found.every(counts)) return found;
    const owned = this.#engine.search(query, { limit: LIMITS.search.results }).filter(counts);
    return limit === undefined ? owned.filter(({ relevance }) => inHundredths(relevance) >= LEAST.byDefault) : owned;
  }
}

const inHundredths = (score: number): number => Math.round(score * 100);

function countFrom(hits: Iterable<IndexHit>, score: number): number {
  let count = 0;
  for (const hit of hits) if (hit.score >= score) count++;
  return count;
}

const first = <K, V>(map: ReadonlyMap<K, V>): [K, V] | undefined => map.entries().next().value;

const otherWork = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function toGroup(tools: readonly ToolSummary[]): Group {
  const entries = tools.map((tool): Entry => {
    const { name, description = '', keywords = [] } = tool;
    return {
      tool,
      texts: { name: toMatched(name), keywords: keywords.map(toMatched), description: toMatched(description) },
    };
  });
  return {
    entries,
    places: new Map(tools.map(({ name }, place) => [name, place])),
    haystack: new Haystack(entries.map(({ texts }) => texts)),
  };
}

function toMetadata(tool: ToolSummary): ToolMetadata {
  const { name, title, description = '', keywords, inputSchema, annotations } = tool;
  return {
    server: '',
    name,
    title,
    summary: firstSentence(description),
    description,
    keywords,
    inputSchema,
    annotations,
    enabled: true,
    tags: [],
  };
}

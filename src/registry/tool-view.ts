/**
 * The tools that one request sees: the registered ones, then those of providers, those of everybody first. Of several
 * with one name the first counts, in search as in calls, so what a request brings along never stands in for what is known
 * to be there. A provider that has not listed its tools yet is asked for the one that is called.
 * @module
 */
import { ToolNotFoundError } from '../errors.ts';
import { nearestNames } from '../nearest-names.ts';
import { oneLine } from '../plain-text.ts';
import type { ToolContext, ToolSummary } from '../tool-provider.ts';
import type { CallToolResult, ToolDefinition } from '../types.ts';
import { isNotFound, type Listing } from './known-provider.ts';
import type { IndexedProvider } from './providers.ts';
import { type RegisteredTools, toSummary } from './registered-tools.ts';
import type { IndexHit, Owns, ToolIndex } from './tool-index.ts';
import {
  type FoundTool,
  type ToolSearchOptions,
  type ToolSearchResult,
  toLimit,
  toSearchResult,
} from './tool-search.ts';

const DEFAULT_RESULTS = 10;
const DEFINITIONS_AT_ONCE = 16;

/** See the module. */
export class ToolView {
  readonly #registered: RegisteredTools;
  /** Where the registered tools are indexed. */
  readonly #index: ToolIndex;
  readonly #providers: readonly IndexedProvider[];

  constructor(registered: RegisteredTools, index: ToolIndex, providers: readonly IndexedProvider[]) {
    this.#registered = registered;
    this.#index = index;
    this.#providers = providers;
  }

  /** Finds tools; providers that cannot be asked are named in the notes. */
  async search(query: string, { maxResults, compact = false }: ToolSearchOptions): Promise<ToolSearchResult> {
    const limit = toLimit(maxResults);
    const read = await this.#read();
    this.#registered.publish();
    for (const [place, provider] of this.#providers.entries()) provider.publish(read[place] as Listing);
    const indexes = new Set([this.#index, ...this.#providers.map(({ index }) => index)]);
    for (const index of indexes) {
      const indexing = index.ready();
      if (indexing !== undefined) await indexing;
    }
    const listings = this.#present(read);
    const hits = [...indexes]
      .flatMap((index) => {
        const owns = this.#ownership(index, listings);
        return index.find(query, limit, owns).map((hit) => this.#found(hit, listings));
      })
      .sort((a, b) => b.score - a.score)
      .slice(0, limit ?? DEFAULT_RESULTS);
    return toSearchResult(hits, this.#notes(listings), compact);
  }

  /** Every tool, sorted by name. */
  async list(): Promise<ToolSummary[]> {
    const tools = new Map<string, ToolSummary>();
    for (const tool of this.#registered.values()) tools.set(tool.definition.name, toSummary(tool));
    for (const listing of await this.#read()) {
      for (const [name, tool] of listing.tools) if (!tools.has(name)) tools.set(name, tool);
    }
    return [...tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Whether there is a tool of that name, as far as the lists say. */
  async has(name: string): Promise<boolean> {
    if (this.#registered.get(name) !== undefined) return true;
    return (await this.#read()).some(({ tools }) => tools.has(name));
  }

  /** The definition of a tool, or undefined. Rejects where only a provider that failed could have it. */
  async get(name: string): Promise<ToolDefinition | undefined> {
    const registered = this.#registered.get(name);
    if (registered !== undefined) return registered.definition;
    const failures: unknown[] = [];
    for (const { known } of this.#likeliest(name)) {
      try {
        const definition = await known.definition(name);
        if (definition !== undefined) return definition;
      } catch (thrown) {
        failures.push(thrown);
      }
    }
    if (failures.length > 0) throw failures[0];
    return undefined;
  }

  /** The definitions for `tools/list`: of all tools, or of the visible ones. What cannot be described is left out. */
  async definitions(all: boolean): Promise<ToolDefinition[]> {
    const found = [...this.#registered.values()]
      .filter(({ visible }) => all || visible)
      .map(({ definition }) => definition);
    const seen = new Set<string>();
    const names: string[] = [];
    for (const { tools } of await this.#read()) {
      for (const [name, { visible }] of tools) {
        if (seen.has(name) || this.#registered.get(name) !== undefined) continue;
        seen.add(name);
        if (all || visible === true) names.push(name);
      }
    }
    for (let at = 0; at < names.length; at += DEFINITIONS_AT_ONCE) {
      const some = names.slice(at, at + DEFINITIONS_AT_ONCE).map((name) => this.get(name));
      for (const settled of await Promise.allSettled(some)) {
        if (settled.status === 'fulfilled' && settled.value !== undefined) found.push(settled.value);
      }
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Runs a tool. Throws only `ToolNotFoundError`. */
  async call(name: string, args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<CallToolResult> {
    const registered = this.#registered.get(name);
    if (registered !== undefined) return registered.call(args, context);
    const candidates = this.#likeliest(name);
    const isOfRequest = candidates.some(({ shared, known }) => !shared && known.listing.tools.has(name));
    for (const { shared, known } of candidates) {
      // Only if it has the tool does it come before the request's own, which would otherwise depend on it.
      if (isOfRequest && shared && known.listing.version === 0 && !(await known.describes(name))) continue;
      try {
        return await known.call(name, args, context);
      } catch (thrown) {
        if (!isNotFound(thrown, name)) throw thrown;
      }
    }
    throw new ToolNotFoundError(name);
  }

  /** The error for a name that nobody has, with those that come near it. */
  async notFound(name: string): Promise<ToolNotFoundError> {
    const suggestions = nearestNames(
      name,
      (await this.list()).map((tool) => tool.name),
    );
    const hint = suggestions.length > 0 ? ` Did you mean ${suggestions.join(' or ')}?` : '';
    return new ToolNotFoundError(name, undefined, `No tool "${oneLine(name, 128)}".${hint}`, { suggestions });
  }

  async #read(): Promise<readonly Listing[]> {
    return this.#present(await Promise.all(this.#providers.map(({ known }) => known.read())));
  }

  /** Providers may have been removed while somebody waited. */
  #present(listings: readonly Listing[]): readonly Listing[] {
    return listings.map((listing, place) => (this.#providers[place]?.isRemoved ? GONE : listing));
  }

  #notes(listings: readonly Listing[]): string[] {
    return listings.flatMap(({ problem }, place) =>
      problem === undefined ? [] : [`${(this.#providers[place] as IndexedProvider).known.label} ${problem}`],
    );
  }

  /** Found is only what would be called. */
  #ownership(index: ToolIndex, listings: readonly Listing[]): Owns {
    const places = new Map<string, number>();
    for (const [place, provider] of this.#providers.entries()) {
      if (provider.index === index) places.set(provider.group, place);
    }
    return (group, name) => {
      const place = places.get(group);
      if (this.#registered.get(name) !== undefined) return place === undefined;
      return place !== undefined && place === listings.findIndex(({ tools }) => tools.has(name));
    };
  }

  #found({ tool, score }: IndexHit, listings: readonly Listing[]): FoundTool {
    const registered = this.#registered.get(tool.name);
    if (registered !== undefined) return { tool, score, definition: () => registered.definition };
    const owner = this.#providers[listings.findIndex(({ tools }) => tools.has(tool.name))] as IndexedProvider;
    return { tool, score, definition: () => owner.known.definition(tool.name) };
  }

  /**
   * Those that list a tool, then those whose list is not known, then the rest: a tool may be newer than the list. Those of
   * the request come after what everybody has, or may have.
   */
  #likeliest(name: string): readonly IndexedProvider[] {
    const place = ({ known, shared }: IndexedProvider): number => {
      const { tools, version } = known.listing;
      if (tools.has(name)) return shared ? 0 : 2;
      if (version === 0) return shared ? 1 : 3;
      return 4;
    };
    return this.#providers.filter(({ isRemoved }) => !isRemoved).sort((a, b) => place(a) - place(b));
  }
}

/** The list of a provider that was removed. */
const GONE: Listing = { tools: new Map(), version: 0, problem: undefined };

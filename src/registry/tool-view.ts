/**
 * The tools that one request sees: the registered ones, then those of providers, those of everybody first. Of several
 * with one name the first counts, in search as in calls, so what a request brings along never stands in for what is there.
 * @module
 */
import { DiscoveryError, ToolNotFoundError } from '../errors.ts';
import { MAX_NESTING, nestsTooDeep } from '../json-nesting.ts';
import type { ToolContext, ToolSummary } from '../tool-provider.ts';
import type { CallToolResult, ToolDefinition } from '../types.ts';
import { toErrorResult } from './handler-result.ts';
import { isNotFound, type Listing } from './known-provider.ts';
import type { IndexedProvider } from './providers.ts';
import { type RegisteredTools, toSummary } from './registered-tools.ts';
import type { IndexHit, ToolIndex } from './tool-index.ts';
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
    const listings = await this.#read();
    this.#registered.publish();
    for (const [place, provider] of this.#providers.entries()) provider.publish(listings[place] as Listing);
    const indexes = new Set([this.#index, ...this.#providers.map(({ index }) => index)]);
    for (const index of indexes) {
      const indexing = index.ready();
      if (indexing !== undefined) await indexing;
    }
    const hits = [...indexes]
      .flatMap((index) => index.find(query, limit).flatMap((hit) => this.#owned(index, hit, listings)))
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
    if (nestsTooDeep(args)) {
      const message = `Arguments of ${name} are nested more than ${MAX_NESTING} levels deep. Flatten them and call again; the tool did not run.`;
      return toErrorResult(new DiscoveryError('TOOL_VALIDATION_ERROR', message, { tool: name, outcome: 'not_sent' }));
    }
    for (const { known } of this.#likeliest(name)) {
      try {
        return await known.call(name, args, context);
      } catch (thrown) {
        if (!isNotFound(thrown, name)) throw thrown;
      }
    }
    throw new ToolNotFoundError(name);
  }

  async #read(): Promise<readonly Listing[]> {
    return Promise.all(this.#providers.map(({ known }) => known.read()));
  }

  #notes(listings: readonly Listing[]): string[] {
    return listings.flatMap(({ problem }, place) =>
      problem === undefined ? [] : [`${(this.#providers[place] as IndexedProvider).known.label} ${problem}`],
    );
  }

  /** Found is only what would be called. */
  #owned(index: ToolIndex, { group, tool, score }: IndexHit, listings: readonly Listing[]): FoundTool[] {
    const source = this.#providers.find((provider) => provider.index === index && provider.group === group);
    const registered = this.#registered.get(tool.name);
    if (registered !== undefined)
      return source === undefined ? [{ tool, score, definition: () => registered.definition }] : [];
    const owner = this.#providers[listings.findIndex(({ tools }) => tools.has(tool.name))];
    return owner !== undefined && owner === source
      ? [{ tool, score, definition: () => owner.known.definition(tool.name) }]
      : [];
  }

  /** Those that list a tool, then those whose list is not known, then the rest: a tool may be newer than the list. */
  #likeliest(name: string): readonly IndexedProvider[] {
    const place = ({ known }: IndexedProvider): number => {
      const { tools, version } = known.listing;
      return tools.has(name) ? 0 : version === 0 ? 1 : 2;
    };
    return [...this.#providers].sort((a, b) => place(a) - place(b));
  }
}

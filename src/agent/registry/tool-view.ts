/**
 * Shows one request its tools: the registered ones, then those of shared providers, then those of its own providers. Of
 * several tools with one name the first counts, in search and in calls, so a request's own tool never replaces a known
 * shared one. If no list has a called tool, all providers are asked at the same time; one that does not answer in time
 * is ignored.
 * @module
 */

import { abortable } from '../../async/abortable.ts';
import { DiscoveryError, ToolNotFoundError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ToolContext, ToolSummary } from '../../core/tool-provider.ts';
import type { CallToolResult, ToolDefinition } from '../../core/types.ts';
import { maskSecrets } from '../../secrets/credential-patterns.ts';
import { nearestNames } from '../../text/nearest-names.ts';
import { oneLine } from '../../text/plain-text.ts';
import { messageOf } from '../../text/thrown-message.ts';
import { isNotFound } from './check-provider.ts';
import { toCancelledResult } from './handler-result.ts';
import type { KnownProvider, Listing } from './known-provider.ts';
import { toNeedle } from './match-level.ts';
import { type RegisteredTools, toSummary } from './registered-tools.ts';
import type { IndexHit, Owns, ToolIndex } from './tool-index.ts';
import {
  type FoundTool,
  type ToolSearchOptions,
  type ToolSearchResult,
  toLimit,
  toSearchResult,
} from './tool-search.ts';

const UNSURE = 'No tool fits well; these are the nearest. Other words may find more.';
const NOTHING =
  'No tool fits. Describe in other words what the tool should do or what it works on; an empty query lists all tools.';

export class ToolView {
  readonly #registered: RegisteredTools;
  /** The index of the registered tools. */
  readonly #index: ToolIndex;
  readonly #providers: readonly KnownProvider[];

  constructor(registered: RegisteredTools, index: ToolIndex, providers: readonly KnownProvider[]) {
    this.#registered = registered;
    this.#index = index;
    this.#providers = providers;
  }

  /** Finds tools. The notes name providers that could not be asked. */
  async search(query: string, { maxResults, compact = false }: ToolSearchOptions): Promise<ToolSearchResult> {
    const limit = toLimit(maxResults);
    const read = await this.#read();
    if (toNeedle(query) === '') {
      const all = this.#all(read).slice(0, limit ?? LIMITS.search.defaultResults);
      const scored = all.map((found) => ({ ...found, score: 0 }));
      const result = await toSearchResult(scored, this.#notes(read), compact);
      return all.length > 0 ? result : { ...result, hint: NOTHING };
    }
    this.#registered.publish();
    for (const [place, provider] of this.#providers.entries()) provider.publish(read[place] as Listing);
    const indexes = new Set([this.#index, ...this.#providers.map(({ index }) => index)]);
    for (const index of indexes) {
      const indexing = index.ready();
      if (indexing !== undefined) await indexing;
    }
    const listings = this.#present(read);
    const find = (look: (index: ToolIndex, owns: Owns) => readonly IndexHit[]): FoundTool[] =>
      [...indexes]
        .flatMap((index) => look(index, this.#ownership(index, listings)).map((hit) => this.#found(hit, listings)))
        .sort((a, b) => b.score - a.score)
        .slice(0, limit ?? LIMITS.search.defaultResults);
    const hits = find((index, owns) => index.find(query, limit, owns));
    const nearest = hits.length > 0 || limit !== undefined ? [] : find((index, owns) => index.nearest(query, owns));
    const result = await toSearchResult([...hits, ...nearest], this.#notes(listings), compact);
    return hits.length > 0 ? result : { ...result, hint: nearest.length > 0 ? UNSURE : NOTHING };
  }

  /** Every tool, sorted by name: at once if no provider has to be asked. */
  list(): ToolSummary[] | Promise<ToolSummary[]> {
    const toList = (read: readonly Listing[]) => this.#all(read).map(({ tool }) => tool);
    return this.#providers.length === 0 ? toList([]) : this.#read().then(toList);
  }

  /** Every tool with its definition, sorted by name. Of several with one name, the first counts. */
  #all(listings: readonly Listing[]): Omit<FoundTool, 'score'>[] {
    const tools = new Map<string, Omit<FoundTool, 'score'>>();
    for (const tool of this.#registered.values())
      tools.set(tool.definition.name, { tool: toSummary(tool), definition: () => tool.definition });
    for (const [place, listing] of listings.entries()) {
      const known = this.#providers[place] as KnownProvider;
      for (const [name, tool] of listing.tools)
        if (!tools.has(name)) tools.set(name, { tool, definition: () => known.definition(name) });
    }
    return [...tools.values()].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
  }

  /** Tells whether there is a tool of that name, as far as is known within `waitMs`. */
  async has(name: string): Promise<boolean> {
    return this.#registered.get(name) !== undefined || (await this.#owner(name)) !== undefined;
  }

  /**
   * The definition of a tool, or undefined. Rejects with `SERVER_UNAVAILABLE` if a provider has the tool but cannot
   * describe it.
   */
  async get(name: string): Promise<ToolDefinition | undefined> {
    const registered = this.#registered.get(name);
    if (registered !== undefined) return registered.definition;
    const owner = await this.#owner(name);
    if (owner === undefined) return undefined;
    try {
      return await owner.definition(name);
    } catch (cause) {
      const reason = oneLine(maskSecrets(messageOf(cause)), 200);
      const message = `${owner.label} could not describe "${name}": ${reason}`;
      throw new DiscoveryError('SERVER_UNAVAILABLE', message, { tool: name, cause });
    }
  }

  /**
   * The definitions for `tools/list`: of all tools, or of the visible ones. Tools that their provider cannot describe
   * are left out.
   */
  async definitions(all: boolean): Promise<ToolDefinition[]> {
    const listed = this.#all(await this.#readKnown()).filter(({ tool }) => all || tool.visible === true);
    const found: ToolDefinition[] = [];
    for (let at = 0; at < listed.length; at += LIMITS.atOnce.definitions) {
      const some = listed.slice(at, at + LIMITS.atOnce.definitions).map(({ definition }) => definition());
      for (const settled of await Promise.allSettled(some))
        if (settled.status === 'fulfilled' && settled.value !== undefined) found.push(settled.value);
    }
    return found;
  }

  /** Runs the first tool of that name. Throws `ToolNotFoundError`, and with `throwsRefusals` if the arguments do not fit. */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
    throwsRefusals = false,
  ): Promise<CallToolResult> {
    const registered = this.#registered.get(name);
    if (registered !== undefined) return registered.call(args, context, throwsRefusals);
    const { signal } = context;
    const others = new Set<KnownProvider>();
    for (;;) {
      let owner: KnownProvider | undefined;
      try {
        owner = await abortable(this.#owner(name, others), signal);
      } catch (thrown) {
        if (!signal.aborted) throw thrown;
        return toCancelledResult(name, signal, 'not_sent');
      }
      if (owner === undefined) throw new ToolNotFoundError(name);
      try {
        return await owner.call(name, args, context);
      } catch (thrown) {
        if (!isNotFound(thrown, name)) throw thrown;
        others.add(owner);
      }
    }
  }

  /** The error for an unknown name, with the nearest names and the providers whose tools are not known. */
  notFound(name: string): ToolNotFoundError {
    const listings = this.#present(this.#providers.map(({ listing }) => listing));
    const names = [...this.#registered.values()].map(({ definition }) => definition.name);
    const all = new Set([...names, ...listings.flatMap(({ tools }) => [...tools.keys()])]);
    const suggestions = nearestNames(name, all);
    const hint = suggestions.length > 0 ? ` Did you mean ${suggestions.join(' or ')}?` : '';
    const unknown = this.#notes(listings.map((listing) => (listing.version === 0 ? listing : GONE)));
    const doubt = unknown.length > 0 ? ` But not all tools are known: ${unknown.join('; ')}.` : '';
    const message = `No tool "${oneLine(name, 128)}".${hint}${doubt}`;
    return new ToolNotFoundError(name, undefined, message, {
      suggestions,
      ...(unknown.length > 0 && { retryable: true }),
    });
  }

  async #read(): Promise<readonly Listing[]> {
    return this.#present(await Promise.all(this.#providers.map((known) => known.read())));
  }

  /** Does not wait long for shared providers if there is something to show: clients are notified of later changes. */
  async #readKnown(): Promise<readonly Listing[]> {
    const isKnown = !this.#registered.isEmpty || this.#providers.some(({ listing }) => listing.version > 0);
    const mostMs = isKnown ? LIMITS.time.listedTools : undefined;
    return this.#present(
      await Promise.all(this.#providers.map((known) => known.read(known.shared ? mostMs : undefined))),
    );
  }

  /** Drops the lists of providers that were removed during the wait. */
  #present(listings: readonly Listing[]): readonly Listing[] {
    return listings.map((listing, place) => (this.#providers[place]?.isRemoved ? GONE : listing));
  }

  #notes(listings: readonly Listing[]): string[] {
    return listings.flatMap(({ problem }, place) =>
      problem === undefined ? [] : [`${(this.#providers[place] as KnownProvider).label} ${problem}`],
    );
  }

  /** Only a tool that would be called counts as found. */
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
    const owner = this.#providers[listings.findIndex(({ tools }) => tools.has(tool.name))] as KnownProvider;
    return { tool, score, definition: () => owner.definition(tool.name) };
  }

  /**
   * The provider whose tool would be called. Asks all providers that come before the first one that lists the tool, at the
   * same time.
   */
  async #owner(name: string, others?: ReadonlySet<KnownProvider>): Promise<KnownProvider | undefined> {
    const listing = this.#providers.find(
      (provider) => provider.shared && !provider.isRemoved && !others?.has(provider) && provider.lists(name),
    );
    if (listing) return listing;
    const candidates = this.#likeliest(name).filter((provider) => !others?.has(provider));
    const first = candidates.findIndex((known) => known.lists(name));
    const before = first === -1 ? candidates : candidates.slice(0, first);
    const asked = before.map((known) => known.has(name));
    for (const [place, provider] of before.entries()) if (await asked[place]) return provider;
    return candidates[first];
  }

  /**
   * Sorts providers by likelihood: shared ones that list the tool, shared ones without a list yet, then the same of the
   * request, then the rest, because a tool may be newer than the list.
   */
  #likeliest(name: string): readonly KnownProvider[] {
    const place = ({ listing: { tools, version }, shared }: KnownProvider): number => {
      if (tools.has(name)) return shared ? 0 : 2;
      if (version === 0) return shared ? 1 : 3;
      return 4;
    };
    return this.#providers.filter(({ isRemoved }) => !isRemoved).sort((a, b) => place(a) - place(b));
  }
}

/** The list of a removed provider. */
const GONE: Listing = { tools: new Map(), version: 0, problem: undefined };

/**
 * The providers of a registry: those of everybody share its index, those of a request have one of their own each.
 * @module
 */
import { ValidationError } from '../errors.ts';
import type { ToolProvider, ToolSummary } from '../tool-provider.ts';
import { KnownProvider, type Listing, type ProviderLimits } from './known-provider.ts';
import type { ListChanges } from './list-changes.ts';
import { ToolIndex } from './tool-index.ts';

/** A provider with the place where its tools are indexed. */
export class IndexedProvider {
  readonly known: KnownProvider;
  readonly index: ToolIndex;
  readonly group: string;
  #indexed = 0;

  constructor(known: KnownProvider, index: ToolIndex, group: string) {
    this.known = known;
    this.index = index;
    this.group = group;
  }

  /** Hands a list to the index, if that has another. */
  publish({ tools, version }: Listing): void {
    if (version === this.#indexed) return;
    this.#indexed = version;
    this.index.set(this.group, [...tools.values()]);
  }
}

/** See the module. */
export class Providers {
  readonly #index: ToolIndex;
  readonly #limits: ProviderLimits;
  readonly #now: () => number;
  readonly #changes: ListChanges;
  readonly #shared = new Map<ToolProvider, IndexedProvider>();
  /** By the provider itself: what belongs to a request goes with it. */
  readonly #ofRequests = new WeakMap<ToolProvider, IndexedProvider>();
  #count = 0;

  constructor(index: ToolIndex, limits: ProviderLimits, now: () => number, changes: ListChanges) {
    this.#index = index;
    this.#limits = limits;
    this.#now = now;
    this.#changes = changes;
  }

  add(provider: ToolProvider): void {
    checkProvider(provider);
    if (this.#shared.has(provider)) throw new ValidationError('This provider was already added');
    const label = `provider ${++this.#count}`;
    const onChange = (before: Tools, now: Tools) => this.#changes.announce(changeOf(before, now));
    const known = new KnownProvider(provider, { label, limits: this.#limits, now: this.#now, shared: true, onChange });
    this.#shared.set(provider, new IndexedProvider(known, this.#index, label));
  }

  delete(provider: ToolProvider): boolean {
    const indexed = this.#shared.get(provider);
    if (indexed === undefined) return false;
    this.#shared.delete(provider);
    this.#index.delete(indexed.group);
    this.#changes.announce(changeOf(indexed.known.listing.tools, new Map()));
    return true;
  }

  invalidate(provider: ToolProvider | undefined): void {
    if (provider === undefined) for (const { known } of this.#shared.values()) known.invalidate();
    else {
      this.#shared.get(provider)?.known.invalidate();
      this.#ofRequests.get(provider)?.known.invalidate();
    }
  }

  /** What was added, oldest first. */
  sources(): IterableIterator<ToolProvider> {
    return this.#shared.keys();
  }

  /** Those of everybody, then those of the request that everybody has not. */
  seenBy(ofRequest: readonly ToolProvider[]): readonly IndexedProvider[] {
    const shared = [...this.#shared.values()];
    if (ofRequest.length === 0) return shared;
    const own = new Set(ofRequest.filter((provider) => !this.#shared.has(provider)));
    return [...shared, ...[...own].map((provider) => this.#ofRequest(provider))];
  }

  #ofRequest(provider: ToolProvider): IndexedProvider {
    let indexed = this.#ofRequests.get(provider);
    if (indexed === undefined) {
      checkProvider(provider);
      const { maxTools, maxRequestTools } = this.#limits;
      const limits = { ...this.#limits, maxTools: Math.min(maxTools, maxRequestTools) };
      const options = { label: 'provider of this request', limits, now: this.#now, shared: false };
      indexed = new IndexedProvider(new KnownProvider(provider, options), new ToolIndex(), 'request');
      this.#ofRequests.set(provider, indexed);
    }
    return indexed;
  }

  get revision(): string {
    return [...this.#shared.values()].map(({ known }) => known.revision).join(' ');
  }
}

type Tools = ReadonlyMap<string, ToolSummary>;

const METHODS = ['listToolMetadata', 'getTool', 'callTool'] as const;

function checkProvider(provider: unknown): void {
  const missing = METHODS.filter(
    (method) => typeof (provider as Partial<ToolProvider> | undefined)?.[method] !== 'function',
  );
  if (missing.length > 0)
    throw new ValidationError(`A ToolProvider has three methods; this one lacks ${missing.join(', ')}`);
}

/** What a new list changes: what everybody sees in `tools/list`, what only those see who are shown all, or nothing. */
function changeOf(before: Tools, now: Tools): 'visible' | 'hidden' | undefined {
  if (visibleText(before) !== visibleText(now)) return 'visible';
  return before.size !== now.size || [...now.keys()].some((name) => !before.has(name)) ? 'hidden' : undefined;
}

const visibleText = (tools: Tools): string => JSON.stringify([...tools.values()].filter(({ visible }) => visible));

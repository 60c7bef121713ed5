/**
 * Keeps the providers of a registry. Shared providers use the registry's index; each provider of a request has its own.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import type { ToolProvider, ToolSummary } from '../../core/tool-provider.ts';
import type { SchemaValidators } from '../../execution/validation/schema-validators.ts';
import { checkProvider } from './check-provider.ts';
import { KnownProvider, type Listing } from './known-provider.ts';
import type { ListChanges } from './list-changes.ts';
import type { ProviderLimits } from './provider-limits.ts';
import { ToolIndex } from './tool-index.ts';

/** A provider and its place in an index. */
export class IndexedProvider {
  readonly known: KnownProvider;
  readonly index: ToolIndex;
  readonly group: string;
  /** Whether all requests see it. */
  readonly shared: boolean;
  #indexed = 0;
  #isRemoved = false;

  constructor(known: KnownProvider, index: ToolIndex, group: string, shared: boolean) {
    this.known = known;
    this.index = index;
    this.group = group;
    this.shared = shared;
  }

  /** True once removed: views made earlier must no longer show its tools. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** Removes its tools from the index for good. */
  remove(): void {
    this.#isRemoved = true;
    this.index.delete(this.group);
  }

  /** Passes a new list to the index. */
  publish({ tools, version }: Listing): void {
    if (this.#isRemoved || version === this.#indexed) return;
    this.#indexed = version;
    this.index.set(this.group, [...tools.values()]);
  }
}

/** What the providers of a registry have in common. */
export interface ProvidersOptions {
  readonly index: ToolIndex;
  readonly limits: ProviderLimits;
  readonly now: () => number;
  readonly changes: ListChanges;
  readonly validators: SchemaValidators;
}

export class Providers {
  readonly #options: ProvidersOptions;
  readonly #shared = new Map<ToolProvider, IndexedProvider>();
  /** By the provider itself, so that an entry is freed with its request. */
  readonly #ofRequests = new WeakMap<ToolProvider, IndexedProvider>();
  #count = 0;

  constructor(options: ProvidersOptions) {
    this.#options = options;
  }

  add(provider: ToolProvider): void {
    checkProvider(provider);
    if (this.#shared.has(provider)) throw new ValidationError('This provider was already added');
    const label = `provider ${++this.#count}`;
    const { index, limits, now, changes, validators } = this.#options;
    const onChange = (before: Tools, after: Tools) => {
      if (!indexed.isRemoved) changes.announce(changeOf(before, after));
    };
    const known = new KnownProvider(provider, { label, limits, now, validators, shared: true, onChange });
    const indexed = new IndexedProvider(known, index, label, true);
    this.#shared.set(provider, indexed);
  }

  delete(provider: ToolProvider): boolean {
    const indexed = this.#shared.get(provider);
    if (indexed === undefined) return false;
    this.#shared.delete(provider);
    indexed.remove();
    this.#options.changes.announce(changeOf(indexed.known.listing.tools, new Map()));
    return true;
  }

  invalidate(provider: ToolProvider | undefined): void {
    if (provider === undefined) for (const { known } of this.#shared.values()) known.invalidate();
    else {
      this.#shared.get(provider)?.known.invalidate();
      this.#ofRequests.get(provider)?.known.invalidate();
    }
  }

  /** The shared providers, oldest first. */
  sources(): IterableIterator<ToolProvider> {
    return this.#shared.keys();
  }

  /** The shared providers, then the request's own. */
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
      const { now, validators } = this.#options;
      const { maxTools, maxRequestTools } = this.#options.limits;
      const limits = { ...this.#options.limits, maxTools: Math.min(maxTools, maxRequestTools) };
      const options = { label: 'provider of this request', limits, now, validators, shared: false };
      indexed = new IndexedProvider(new KnownProvider(provider, options), new ToolIndex(), 'request', false);
      this.#ofRequests.set(provider, indexed);
    }
    return indexed;
  }

  get revision(): string {
    return [...this.#shared.values()].map(({ known }) => known.revision).join(' ');
  }
}

type Tools = ReadonlyMap<string, ToolSummary>;

/** The effect of a new list: on the visible tools, only on lists that show all tools, or none. */
function changeOf(before: Tools, now: Tools): 'visible' | 'hidden' | undefined {
  if (visibleText(before) !== visibleText(now)) return 'visible';
  return before.size !== now.size || [...now.keys()].some((name) => !before.has(name)) ? 'hidden' : undefined;
}

const visibleText = (tools: Tools): string => JSON.stringify([...tools.values()].filter(({ visible }) => visible));

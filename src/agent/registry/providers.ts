/**
 * Keeps the providers of a registry. Shared providers use the registry's index; each provider of a request has its own.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import type { ToolProvider, ToolSummary } from '../../core/tool-provider.ts';
import type { SchemaValidators } from '../../execution/validation/schema-validators.ts';
import { checkProvider } from './check-provider.ts';
import { KnownProvider } from './known-provider.ts';
import type { ListChanges } from './list-changes.ts';
import type { ProviderLimits } from './provider-limits.ts';
import { ToolIndex } from './tool-index.ts';

/** What the providers of a registry have in common. */
interface ProvidersOptions {
  readonly index: ToolIndex;
  readonly limits: ProviderLimits;
  readonly now: () => number;
  readonly changes: ListChanges;
  readonly validators: SchemaValidators;
}

export class Providers {
  readonly #options: ProvidersOptions;
  readonly #shared = new Map<ToolProvider, KnownProvider>();
  /** By the provider itself, so that an entry is freed with its request. */
  readonly #ofRequests = new WeakMap<ToolProvider, KnownProvider>();
  #count = 0;

  constructor(options: ProvidersOptions) {
    this.#options = options;
  }

  add(provider: ToolProvider): void {
    checkProvider(provider);
    if (this.#shared.has(provider)) throw new ValidationError('This provider was already added');
    const label = `provider ${++this.#count}`;
    const { changes, ...options } = this.#options;
    const onChange = (before: Tools, after: Tools) => {
      if (!known.isRemoved) changes.announce(changeOf(before, after));
    };
    const known = new KnownProvider(provider, { ...options, label, group: label, shared: true, onChange });
    this.#shared.set(provider, known);
  }

  delete(provider: ToolProvider): boolean {
    const known = this.#shared.get(provider);
    if (known === undefined) return false;
    this.#shared.delete(provider);
    known.remove();
    this.#options.changes.announce(changeOf(known.listing.tools, new Map()));
    return true;
  }

  invalidate(provider: ToolProvider | undefined): void {
    if (provider === undefined) for (const known of this.#shared.values()) known.invalidate();
    else {
      this.#shared.get(provider)?.invalidate();
      this.#ofRequests.get(provider)?.invalidate();
    }
  }

  /** The shared providers, oldest first. */
  sources(): IterableIterator<ToolProvider> {
    return this.#shared.keys();
  }

  /** The shared providers, then the request's own. */
  seenBy(ofRequest: readonly ToolProvider[]): readonly KnownProvider[] {
    const shared = [...this.#shared.values()];
    if (ofRequest.length === 0) return shared;
    const own = new Set(ofRequest.filter((provider) => !this.#shared.has(provider)));
    return [...shared, ...[...own].map((provider) => this.#ofRequest(provider))];
  }

  #ofRequest(provider: ToolProvider): KnownProvider {
    const known = this.#ofRequests.get(provider);
    if (known) return known;
    checkProvider(provider);
    const { maxTools, maxRequestTools } = this.#options.limits;
    const limits = { ...this.#options.limits, maxTools: Math.min(maxTools, maxRequestTools) };
    const own = { label: 'provider of this request', limits, index: new ToolIndex(), group: 'request', shared: false };
    const added = new KnownProvider(provider, { ...this.#options, ...own });
    this.#ofRequests.set(provider, added);
    return added;
  }

  get revision(): string {
    return [...this.#shared.values()].map(({ revision }) => revision).join(' ');
  }
}

type Tools = ReadonlyMap<string, ToolSummary>;

/** The effect of a new list: on the visible tools, only on lists that show all tools, or none. */
function changeOf(before: Tools, now: Tools): 'visible' | 'hidden' | undefined {
  if (visibleText(before) !== visibleText(now)) return 'visible';
  return before.size !== now.size || [...now.keys()].some((name) => !before.has(name)) ? 'hidden' : undefined;
}

const visibleText = (tools: Tools): string => JSON.stringify([...tools.values()].filter(({ visible }) => visible));

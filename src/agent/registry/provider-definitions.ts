/**
 * Reads and caches the definitions of a provider's tools, one by one. After a failure a tool is not asked about again
 * for a while, so that a provider that does not answer cannot delay every call.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import type { ToolDefinition } from '../../core/types.ts';

type Definition = Promise<ToolDefinition | undefined>;

/** How definitions are read, and how long they are cached. */
interface ProviderDefinitionsOptions {
  readonly ask: (name: string) => Definition;
  readonly ttlMs: number;
  readonly now: () => number;
}

export class ProviderDefinitions {
  readonly #options: ProviderDefinitionsOptions;
  readonly #kept = new Map<string, { readonly asked: Definition; readonly until: number; isAnswered: boolean }>();
  /** Until when a tool counts as having no definition, and whether that is because the provider failed. */
  readonly #missing = new Map<string, { readonly until: number; readonly failed: boolean }>();

  constructor(options: ProviderDefinitionsOptions) {
    this.#options = options;
  }

  /** The definition; undefined if there is none. Rejects if the provider fails. */
  get(name: string): Definition {
    const { ask, now, ttlMs } = this.#options;
    const kept = this.#kept.get(name);
    if (kept !== undefined && now() < kept.until) return kept.asked;
    const asked = ask(name);
    const entry = { asked, until: now() + ttlMs, isAnswered: false };
    keep(this.#kept, name, entry);
    const missing = (failed: boolean): void => {
      if (this.#kept.get(name) !== entry) return;
      this.#kept.delete(name);
      keep(this.#missing, name, { until: now() + LIMITS.pace.definitions, failed });
    };
    asked.then(
      (definition) => {
        entry.isAnswered = true;
        if (!definition) missing(false);
      },
      () => missing(true),
    );
    return asked;
  }

  /** The definition to check arguments with, or undefined: a tool can be called without one. */
  async forCall(name: string): Definition {
    return this.#leftAlone(name) === undefined ? this.#tryGet(name) : undefined;
  }

  /** Tells whether a tool has a definition. Asks again unless the provider failed recently, because a tool may be new. */
  async has(name: string): Promise<boolean> {
    return !this.#leftAlone(name)?.failed && (await this.#tryGet(name)) !== undefined;
  }

  /** Like `forCall`, but asks the provider again. */
  renewed(name: string): Definition {
    this.#kept.delete(name);
    return this.forCall(name);
  }

  #leftAlone(name: string): { readonly failed: boolean } | undefined {
    const missing = this.#missing.get(name);
    return missing !== undefined && this.#options.now() < missing.until ? missing : undefined;
  }

  /** Ignores errors. `get` reports them. */
  #tryGet(name: string): Definition {
    return this.get(name).catch(() => undefined);
  }

  /** Forgets what was answered before a new list came. Answers that are still to come are as new as the list. */
  outdate(): void {
    for (const [name, { isAnswered }] of this.#kept) if (isAnswered) this.#kept.delete(name);
    this.#missing.clear();
  }

  /** Forgets everything. */
  clear(): void {
    this.#kept.clear();
    this.#missing.clear();
  }
}

function keep<T>(map: Map<string, T>, name: string, value: T): void {
  if (map.size >= LIMITS.cache.definitions) map.clear();
  map.set(name, value);
}

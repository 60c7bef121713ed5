/**
 * The definitions of a provider's tools, asked for one by one and kept for a while. A tool that could not be described is
 * left alone for a moment, so that a provider without an answer does not hold up every call.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import type { ToolDefinition } from '../../core/types.ts';

type Definition = Promise<ToolDefinition | undefined>;

/** How definitions are had, and how long they are kept. */
export interface ProviderDefinitionsOptions {
  readonly ask: (name: string) => Definition;
  readonly ttlMs: number;
  readonly now: () => number;
}

const LEFT_ALONE_MS = 30_000;

/** See the module. */
export class ProviderDefinitions {
  readonly #options: ProviderDefinitionsOptions;
  readonly #kept = new Map<string, { readonly asked: Definition; readonly until: number }>();
  /** Until when a tool that has none is called without, and whether that is because the provider could not be asked. */
  readonly #missing = new Map<string, { readonly until: number; readonly failed: boolean }>();

  constructor(options: ProviderDefinitionsOptions) {
    this.#options = options;
  }

  /** The definition; undefined when there is none. Rejects when the provider cannot be asked. */
  get(name: string): Definition {
    const { ask, now, ttlMs } = this.#options;
    const kept = this.#kept.get(name);
    if (kept !== undefined && now() < kept.until) return kept.asked;
    const asked = ask(name);
    keep(this.#kept, name, { asked, until: now() + ttlMs });
    const missing = (failed: boolean): void => {
      if (this.#kept.get(name)?.asked !== asked) return;
      this.#kept.delete(name);
      keep(this.#missing, name, { until: now() + LEFT_ALONE_MS, failed });
    };
    asked.then(
      (definition) => definition ?? missing(false),
      () => missing(true),
    );
    return asked;
  }

  /** The definition to check arguments by, or undefined: a tool can be called without one. */
  async forCall(name: string): Definition {
    return this.#leftAlone(name) === undefined ? this.#tryGet(name) : undefined;
  }

  /** Whether there is one. A tool may be new, so only a provider that could not be asked is left alone. */
  async has(name: string): Promise<boolean> {
    return !this.#leftAlone(name)?.failed && (await this.#tryGet(name)) !== undefined;
  }

  /** The same, asked for anew. */
  renewed(name: string): Definition {
    this.#kept.delete(name);
    return this.forCall(name);
  }

  #leftAlone(name: string): { readonly failed: boolean } | undefined {
    const missing = this.#missing.get(name);
    return missing !== undefined && this.#options.now() < missing.until ? missing : undefined;
  }

  /** Whoever asks for the definition itself is told why there is none. */
  #tryGet(name: string): Definition {
    return this.get(name).catch(() => undefined);
  }

  /** Everything is asked for anew. */
  clear(): void {
    this.#kept.clear();
    this.#missing.clear();
  }
}

function keep<T>(map: Map<string, T>, name: string, value: T): void {
  if (map.size >= LIMITS.cache.definitions) map.clear();
  map.set(name, value);
}

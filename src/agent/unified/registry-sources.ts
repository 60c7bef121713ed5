/**
 * Knows the sources of a registry: the servers and providers of its engine, and the registry's own tools and providers,
 * which are scoped to it: another user of a given engine does not see them.
 * @module
 */
import { isProvider, type SourceDefinition, type ToolProvider } from '../../core/tool-provider.ts';
import type { EngineCore } from '../../engine/engine-core.ts';
import type { EngineState } from '../../engine/engine-state.ts';
import { outsideRequests, withRequestProviders } from '../registry/request-scope.ts';
import type { ToolRegistry } from '../registry/tool-registry.ts';
import type { RegistryEngine } from './registry-engine.ts';

/** A source of tools: the name of a server, or a provider. */
export type Source = string | ToolProvider;

/** A source as the engine knows it. */
export interface KnownSource {
  readonly state: EngineState;
  readonly definition: SourceDefinition;
}

/** The sources of an engine and of a registry. A reload makes a new object. */
interface Sources {
  readonly state: EngineState | undefined;
  /** The servers and providers of the engine. */
  readonly servers: EngineState['servers'];
  /** Providers of the engine, then those of the registry. */
  readonly providers: ReadonlyMap<ToolProvider, KnownSource>;
}

const NO_SOURCES: Sources = { state: undefined, servers: new Map(), providers: new Map() };

export class RegistrySources {
  readonly #own: ToolRegistry;
  readonly #engine: RegistryEngine;
  readonly #providers = new Set<ToolProvider>();
  #known = new WeakMap<EngineState, Sources>();
  #changes = 0;

  constructor(own: ToolRegistry, engine: RegistryEngine) {
    this.#own = own;
    this.#engine = engine;
  }

  /** Changes with the engine's state. */
  get changes(): number {
    return this.#changes;
  }

  addProvider(provider: ToolProvider): void {
    this.#providers.add(provider);
    this.#known = new WeakMap();
  }

  removeProvider(provider: ToolProvider): boolean {
    this.#known = new WeakMap();
    return this.#providers.delete(provider);
  }

  /** Whether a provider was added to the registry. */
  has(provider: ToolProvider): boolean {
    return this.#providers.has(provider);
  }

  /** The engine; undefined where there is nothing to ask, so that none is loaded. */
  open(): Promise<EngineCore | undefined> {
    return this.#engine.open(this.#engine.entries.length > 0 || this.#providers.size > 0);
  }

  /** Runs a function of the engine with the registry's own tools and providers in scope. */
  inScope<T>(fn: () => T): T {
    return withRequestProviders([this.#own, ...this.#providers], fn);
  }

  /** What an engine has, without what the request being served adds: what is shown is shared by all requests. */
  known(core: EngineCore | undefined = this.#engine.core): Sources {
    const [state] = outsideRequests(() => core?.states ?? []);
    if (!core || !state) return NO_SOURCES;
    const kept = this.#known.get(state);
    if (kept) return kept;
    const providers = outsideRequests(() => this.inScope(() => core.states)).flatMap((one) =>
      one.providers.map((definition) => [definition.provider, { state: one, definition }] as const),
    );
    this.#changes++;
    const known = { state, servers: state.servers, providers: new Map(providers) };
    this.#known.set(state, known);
    return known;
  }

  /** One source as the engine knows it. */
  of(source: Source): KnownSource | undefined {
    if (!isServer(source)) return this.known().providers.get(source);
    const { state, servers } = this.known();
    const definition = servers.get(source)?.definition;
    return state && definition && !isProvider(definition) ? { state, definition } : undefined;
  }
}

export const isServer = (source: Source): source is string => typeof source === 'string';

/** The catalogue's entry of a source: a new object after each reading. */
export const entryOf = (known: KnownSource | undefined) => known?.state.catalog.state(known.definition.name);

/** Whether the tools of a source are known. */
export const isSeen = ({ state, definition }: KnownSource): boolean => state.catalog.isSeen(definition.name);

/**
 * Collects what an engine takes from the outside: configuration, environment, clock, log and disk. All of it is
 * replaceable.
 * @module
 */

import { join, relative, resolve } from 'node:path';
import { elapsedNow, wallNow } from '../async/clock.ts';
import type { ByteStore } from '../catalog/catalog-store.ts';
import type { LoaderOptions } from '../config/configuration-loader.ts';
import type { AnyGptConfig, DiscoveryConfig, ServerConfig } from '../config/define-config.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { silentLogger } from '../core/log.ts';
import type { ToolProvider } from '../core/tool-provider.ts';
import type { Embedder, Logger, ServerDefinition } from '../core/types.ts';
import type { CallObserver } from '../execution/call-observer.ts';
import { isObject } from '../json/plain-object.ts';

/** The environment of an engine: variables and folders, clock, log and network. Each has a real default. */
export interface EngineOptions extends LoaderOptions {
  readonly logger?: Logger | undefined;
  /** Milliseconds since 1970, for dates. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds that never run backwards, for durations. */
  readonly elapsed?: (() => number) | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Turns texts into vectors for search; replaces the embedder of `search.embedder`. */
  readonly embedder?: Embedder | undefined;
  /** Connect to nothing and answer from the cache. */
  readonly offline?: boolean | undefined;
  /**
   * Set to false to read lists only while a caller waits, never in the background. For programs that end after one answer.
   */
  readonly background?: boolean | undefined;
  /** Watches all calls, for metrics and traces. */
  readonly observer?: CallObserver | undefined;
  /** Return results of any size in one piece, for a caller that cannot read further pages. */
  readonly wholeResults?: boolean | undefined;
}

export interface EngineWorld {
  /** Whether the program gave a logger. */
  readonly isLogged: boolean;
  readonly providers: readonly ToolProvider[];
  /** Undefined: the configuration decides. */
  readonly state: EngineExtras['state'];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly fetch: typeof fetch | undefined;
  readonly embedder: Embedder | undefined;
  readonly observer: CallObserver | undefined;
  readonly offline: boolean;
  readonly background: boolean;
  readonly wholeResults: boolean;
  loadConfig(): Promise<ResolvedConfig>;
  /** Turns a server's entry into its definition, as the configuration does. */
  resolveServer(entry: ServerConfig): Promise<ServerDefinition>;
  /** The state folder, even without a valid configuration. */
  stateFolder(): Promise<string>;
  openStore(config: ResolvedConfig): Promise<ByteStore | undefined>;
}

/** Options of an engine beside its configuration. */
interface EngineExtras {
  /**
   * The program's own sources of tools: registries, other engines, anything with the three methods of `ToolProvider`.
   */
  readonly providers?: readonly ToolProvider[] | undefined;
  /** Where lists, audit log, learning and server logs are kept: a folder, or only in memory. Default `memory`. */
  readonly state?: 'memory' | (string & {}) | undefined;
}

/** A configuration file, named or searched for. */
interface ConfigFile {
  readonly file: string | undefined;
}

/**
 * A configuration: as written by hand, with or without the wrapper; as `ConfigurationLoader.load()` returns it; or
 * `configFile()`, which names a file. Each may have `providers` and `state` beside it.
 */
export type EngineConfig = (ConfigFile | AnyGptConfig | DiscoveryConfig | ResolvedConfig) & EngineExtras;

/** Reads the configuration from disk, again on every reload. Without a name, searches the usual places. */
export const configFile = (file?: string): ConfigFile => ({ file });

export const isConfigFile = (config: object): config is ConfigFile =>
  Object.keys(config).length === 1 && 'file' in config;

/** Every loaded configuration has these two keys, and no hand-written one does. */
export const isResolved = (config: object): config is ResolvedConfig => 'home' in config && 'warnings' in config;

/**
 * Builds the real environment, with the given replacements. Modules that only some engines need are loaded on demand.
 */
export function realEngineWorld(
  given: EngineConfig,
  options: EngineOptions,
  defaultState: EngineExtras['state'],
): EngineWorld {
  const { providers = [], state = defaultState }: EngineExtras = isObject(given) ? given : {};
  const inherited = options.env ?? process.env;
  const isFolder = state !== undefined && state !== 'memory';
  // The state folder also holds the cache.
  const env = isFolder ? { ...inherited, ANYGPT_HOME: resolve(state), ANYGPT_CACHE_DIR: undefined } : inherited;
  return {
    env,
    providers,
    state,
    logger: options.logger ?? silentLogger,
    isLogged: options.logger !== undefined,
    now: options.now ?? wallNow,
    elapsed: options.elapsed ?? elapsedNow,
    fetch: options.fetch,
    embedder: options.embedder,
    observer: options.observer,
    offline: options.offline ?? false,
    background: options.background ?? true,
    wholeResults: options.wholeResults ?? false,
    loadConfig: async () => {
      const { ConfigurationLoader } = await import('../config/configuration-loader.ts');
      // Copied on every load: a program may change its object before a reload.
      const { providers: _providers, state: _state, ...config }: EngineConfig = isObject(given) ? given : ({} as never);
      if (isResolved(config)) return withState(config, state);
      const loader = new ConfigurationLoader({ keepCode: state !== 'memory', ...options, env });
      const loaded = isConfigFile(config) ? loader.load(config.file) : loader.resolve(isObject(given) ? config : given);
      return withState(await loaded, state);
    },
    resolveServer: async (entry) => {
      const { ConfigurationLoader } = await import('../config/configuration-loader.ts');
      const loader = new ConfigurationLoader({ keepCode: false, ...options, env });
      const { servers } = await loader.resolve({ servers: [entry] });
      // The loader has checked that there is one.
      return servers[0] as ServerDefinition;
    },
    stateFolder: async () => {
      const { realWorld, stateFolder } = await import('../config/world.ts');
      return stateFolder(realWorld({ ...options, env }));
    },
    openStore: async ({ cache }) => {
      if (!cache.enabled) return undefined;
      const { FileStore } = await import('../cache/file-store.ts');
      return new FileStore(cache.dir);
    },
  };
}

/** Moves everything that is saved into `state`, or disables saving. */
async function withState(config: ResolvedConfig, state: EngineExtras['state']): Promise<ResolvedConfig> {
  const { cache, audit, search, home } = config;
  if (state === undefined) return config;
  if (state === 'memory')
    return {
      ...config,
      cache: { ...cache, enabled: false },
      audit: { ...audit, enabled: false },
      search: { ...search, learn: false },
    };
  const { isInside } = await import('../config/paths.ts');
  const folder = resolve(state);
  const moved = (path: string): string => (isInside(path, home) ? join(folder, relative(home, path)) : path);
  return {
    ...config,
    home: folder,
    cache: { ...cache, dir: moved(cache.dir) },
    audit: { ...audit, file: moved(audit.file) },
  };
}

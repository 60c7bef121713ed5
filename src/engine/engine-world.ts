/**
 * What an engine takes from the outside: configuration, environment, clock, log, disk. All of it can be handed in.
 * @module
 */

import { elapsedNow, wallNow } from '../async/clock.ts';
import type { ByteStore } from '../catalog/catalog-store.ts';
import type { LoaderOptions } from '../config/configuration-loader.ts';
import type { AnyGptConfig, DiscoveryConfig } from '../config/define-config.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { silentLogger } from '../core/log.ts';
import type { Embedder, Logger } from '../core/types.ts';

/** The world around an engine: environment and folders, clock, log and network, each with a real default. */
export interface EngineOptions extends LoaderOptions {
  readonly logger?: Logger | undefined;
  /** Milliseconds since 1970, for dates. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds that never run backwards, for durations. */
  readonly elapsed?: (() => number) | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Turns texts into vectors for search, in place of what the configuration's `search.embedder` names. */
  readonly embedder?: Embedder | undefined;
  /** Connect to nothing: answer from what is known. */
  readonly offline?: boolean | undefined;
  /** False: read lists only while somebody waits for them, nothing behind an answer. For programs that end with it. */
  readonly background?: boolean | undefined;
  /** Hand on results of any size in one piece; there is nobody who could read on later. */
  readonly wholeResults?: boolean | undefined;
}

export interface EngineWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly fetch: typeof fetch | undefined;
  readonly embedder: Embedder | undefined;
  readonly offline: boolean;
  readonly background: boolean;
  readonly wholeResults: boolean;
  loadConfig(): Promise<ResolvedConfig>;
  /** The state folder, also while no configuration can be used. */
  stateFolder(): Promise<string>;
  openStore(config: ResolvedConfig): Promise<ByteStore | undefined>;
}

/** Where the configuration comes from: a file (searched for, or named), or an object. */
export interface ConfigFile {
  readonly file: string | undefined;
}

/** A configuration as people write it, with or without the wrapper, or where to read one. */
export type EngineConfig = ConfigFile | AnyGptConfig | DiscoveryConfig;

/** Marks a configuration that is read from disk, anew on every reload. Without a name the usual places are searched. */
export const configFile = (file?: string): ConfigFile => ({ file });

const isConfigFile = (config: unknown): config is ConfigFile =>
  typeof config === 'object' && config !== null && Object.keys(config).length === 1 && 'file' in config;

/** The real world, except where told otherwise. Modules that only some engines need are loaded when they do. */
export function realEngineWorld(config: EngineConfig, options: EngineOptions): EngineWorld {
  return {
    env: options.env ?? process.env,
    logger: options.logger ?? silentLogger,
    now: options.now ?? wallNow,
    elapsed: options.elapsed ?? elapsedNow,
    fetch: options.fetch,
    embedder: options.embedder,
    offline: options.offline ?? false,
    background: options.background ?? true,
    wholeResults: options.wholeResults ?? false,
    loadConfig: async () => {
      const { ConfigurationLoader } = await import('../config/configuration-loader.ts');
      const loader = new ConfigurationLoader(options);
      return isConfigFile(config) ? loader.load(config.file) : loader.resolve(config);
    },
    stateFolder: async () => {
      const { realWorld, stateFolder } = await import('../config/world.ts');
      return stateFolder(realWorld(options));
    },
    openStore: async ({ cache }) => {
      if (!cache.enabled) return undefined;
      const { FileStore } = await import('../cache/file-store.ts');
      return new FileStore(cache.dir);
    },
  };
}

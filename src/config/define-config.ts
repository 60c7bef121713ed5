/**
 * Type-checks a configuration in the editor. `config()` and `defineConfig()` return their argument. The module imports
 * nothing at run time, so a configuration file loads quickly.
 * @example
 * ```ts
 * import { defineConfig } from '@anygpt/discovery/config';
 *
 * export default defineConfig({
 *   discovery: { servers: [{ name: 'fetch', connection: { type: 'stdio', command: 'uvx', args: ['mcp-server-fetch'] } }] },
 * });
 * ```
 * @module
 */
import type * as z from 'zod/mini';
import type { LoginSettings } from '../core/types.ts';
import type { discoverySchema } from './schema.ts';
import type { serverSchema } from './server-schema.ts';

/** The `discovery` section as an author writes it. docs/configuration.md describes each key. */
export interface DiscoveryConfig extends Omit<z.input<typeof discoverySchema>, 'servers'> {
  /** The MCP servers behind the gateway. */
  servers?: ServerConfig[] | undefined;
}

/** One server of `servers`. */
export interface ServerConfig extends Omit<z.input<typeof serverSchema>, 'name' | 'description' | 'connection'> {
  /** The name agents use: 1 to 200 characters, unique, not `anygpt`. */
  name: string;
  /** One sentence on what the server is for. Agents see it. */
  description?: string | undefined;
  /** How to reach the server. Optional if an extended file or a source has a server of this name. */
  connection?: StdioConfig | RemoteConfig | undefined;
}

/** A server that is a local program and speaks MCP on stdin and stdout. */
export interface StdioConfig {
  type: 'stdio';
  /** The program. It is started directly, without a shell. */
  command: string;
  /** Arguments, passed on unchanged. */
  args?: string[] | undefined;
  /** Environment variables. `${NAME}` is expanded when the server starts. */
  env?: Record<string, string> | undefined;
  /** Further variables by user of the gateway. */
  userEnv?: Record<string, Record<string, string>> | undefined;
  /** Names of the gateway's own environment variables that the server may see, in addition to a standard few. */
  inheritEnv?: string[] | undefined;
  /** The working folder. Default: the user's home; in a project's configuration, the project. */
  cwd?: string | undefined;
}

/** A server at a URL. */
export interface RemoteConfig {
  /** `http` is Streamable HTTP and falls back to SSE; `sse` is the legacy transport only. */
  type: 'http' | 'sse';
  /** The URL of the server. */
  url: string;
  /** Headers of every request. `${NAME}` is expanded when connecting. */
  headers?: Record<string, string> | undefined;
  /** Further headers by user of the gateway. */
  userHeaders?: Record<string, Record<string, string>> | undefined;
  /** `env`: send the bearer token in `<SERVER>_MCP_TOKEN`, else `MCP_AUTH_TOKEN`. */
  auth?: 'env' | undefined;
  /** Settings of the login with OAuth, for servers whose own metadata do not suffice. */
  oauth?: LoginSettings | undefined;
}

/** A file that holds the `discovery` section beside other products' keys. */
export interface AnyGptConfig {
  discovery: DiscoveryConfig;
  [key: string]: unknown;
}

/** Returns the configuration unchanged. The section may stand alone or under `discovery`. */
export function defineConfig(configuration: AnyGptConfig): AnyGptConfig;
export function defineConfig(configuration: DiscoveryConfig): DiscoveryConfig;
export function defineConfig(configuration: AnyGptConfig | DiscoveryConfig): AnyGptConfig | DiscoveryConfig {
  return configuration;
}

/** Alias of `defineConfig`, for `export default config({ … })`. */
export const config = defineConfig;

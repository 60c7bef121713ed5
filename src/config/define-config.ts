/**
 * `config()` and `defineConfig()`: a configuration in, the same configuration out, with its types checked by the
 * editor. Imports nothing at run time, so that a configuration file loads in a blink.
 *
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
import type { discoverySchema } from './schema.ts';
import type { serverSchema } from './server-schema.ts';

/** The `discovery` section as an author writes it; docs/configuration.md says what each key does. */
export interface DiscoveryConfig extends Omit<z.input<typeof discoverySchema>, 'servers'> {
  /** The MCP servers behind the gateway. */
  servers?: ServerConfig[] | undefined;
}

/** One server of `servers`. */
export interface ServerConfig extends Omit<z.input<typeof serverSchema>, 'name' | 'description' | 'connection'> {
  /** What agents call it: 1 to 200 characters, unique, not `anygpt`. */
  name: string;
  /** One sentence on what it is for; agents see it. */
  description?: string | undefined;
  /** How to reach it. May be left out where an extended file or a source has a server of this name. */
  connection?: StdioConfig | RemoteConfig | undefined;
}

/** A server that is a local program, which speaks MCP on its stdin and stdout. */
export interface StdioConfig {
  type: 'stdio';
  /** The program. It is started directly, never through a shell. */
  command: string;
  /** Its arguments, passed on exactly. */
  args?: string[] | undefined;
  /** Environment variables for it. `${NAME}` is looked up when the server starts. */
  env?: Record<string, string> | undefined;
  /** Names of our own environment variables that it may see beside the usual few. */
  inheritEnv?: string[] | undefined;
  /** The folder it runs in. Default: ours. */
  cwd?: string | undefined;
}

/** A server at an address. */
export interface RemoteConfig {
  /** `http` is Streamable HTTP and falls back to SSE; `sse` is the legacy transport only. */
  type: 'http' | 'sse';
  /** The address of the server. */
  url: string;
  /** Headers sent with every request. `${NAME}` is looked up when connecting. */
  headers?: Record<string, string> | undefined;
  /** `env`: send the bearer token in `<SERVER>_MCP_TOKEN`, else `MCP_AUTH_TOKEN`. */
  auth?: 'env' | undefined;
}

/** A file that holds other products' keys beside ours. */
export interface AnyGptConfig {
  discovery: DiscoveryConfig;
  [key: string]: unknown;
}

/** Gives the configuration back as it is; the section may stand alone or under `discovery`. */
export function defineConfig(configuration: AnyGptConfig): AnyGptConfig;
export function defineConfig(configuration: DiscoveryConfig): DiscoveryConfig;
export function defineConfig(configuration: AnyGptConfig | DiscoveryConfig): AnyGptConfig | DiscoveryConfig {
  return configuration;
}

/** The same as `defineConfig`, for those who like `export default config({ … })` better. */
export const config = defineConfig;

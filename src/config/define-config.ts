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
import type { DiscoveryInput } from './schema.ts';

/** The `discovery` section as an author writes it. */
export type DiscoveryConfig = DiscoveryInput;

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

/** The same as `defineConfig`, under the name the specification uses. */
export const config = defineConfig;

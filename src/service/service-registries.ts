/**
 * Searches the registries of an engine's configuration, and makes entries of the servers that they name.
 * @module
 */
import type { ServerConfig } from '../config/define-config.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { LIMITS } from '../core/limits.ts';
import type { EngineRuntime } from '../engine/engine-runtime.ts';
import type { McpRegistries, RegistrySearch } from '../mcp-registry/mcp-registries.ts';

/** Makes the entry of a server. Throws why a person has to add it. */
type MakeEntry = () => Promise<ServerConfig>;

export class ServiceRegistries {
  readonly #runtime: EngineRuntime;
  #opened: { readonly config: ResolvedConfig; readonly registries: McpRegistries } | undefined;

  constructor(runtime: EngineRuntime) {
    this.#runtime = runtime;
  }

  /** Servers by what they do, best first. */
  async search(query: string, useCache: boolean | undefined, limit?: number): Promise<RegistrySearch['results']> {
    const { offline } = this.#runtime.world;
    const { results } = await (await this.#registries()).search(query, { useCache, offline, limit });
    return results;
  }

  /** The best servers for a query, each with a function that makes its entry, with a name that is not taken yet. */
  async entries(query: string, useCache: boolean | undefined): Promise<readonly (readonly [string, MakeEntry])[]> {
    const runtime = this.#runtime;
    const { state } = await runtime.ready();
    const registries = await this.#registries();
    const results = await this.search(query, useCache, LIMITS.search.defaultResults);
    const { entryFor } = await import('./registry-servers.ts');
    const names = new Set(state.servers.keys());
    const entryOf = async (name: string): Promise<ServerConfig> => {
      const { entry } = await registries.show(name, { offline: runtime.world.offline });
      const isTaken = (short: string): boolean => {
        const guest = runtime.guests.state(short)?.servers.get(short)?.definition;
        const isSame = guest !== undefined && 'registry' in guest && guest.registry?.startsWith(`${name}@`);
        return names.has(short) || (guest !== undefined && !isSame);
      };
      const made = entryFor(entry, state.config, isTaken);
      names.add(made.name);
      return made;
    };
    return results.map(({ name }) => [name, () => entryOf(name)]);
  }

  /** The registries of the configuration in force. */
  async #registries(): Promise<McpRegistries> {
    const { config } = (await this.#runtime.ready()).state;
    if (this.#opened?.config !== config) {
      const { openRegistries } = await import('./registry-servers.ts');
      this.#opened = { config, registries: openRegistries(config, this.#runtime.world) };
    }
    return this.#opened.registries;
  }
}

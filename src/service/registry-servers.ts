/**
 * Finds servers in MCP registries and makes entries of those that can be reached without a person.
 *
 * What a registry says is not trusted. No program of it is started, no variable of ours is sent to it, and it names no
 * address of this machine or its network, unless all registries are on this machine.
 * @module
 */
import { join } from 'node:path';
import type { ServerConfig } from '../config/define-config.ts';
import { expandReferences } from '../config/references.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { DiscoveryError, type DiscoveryStage } from '../core/errors.ts';
import type { EngineWorld } from '../engine/engine-world.ts';
import { waysOf } from '../mcp-registry/connection-ways.ts';
import { McpRegistries } from '../mcp-registry/mcp-registries.ts';
import type { RegistryEntry } from '../mcp-registry/registry-server.ts';
import { shortNameOf } from '../mcp-registry/registry-server.ts';
import { resolveWay } from '../mcp-registry/resolve-way.ts';
import { isPublicHost } from '../mcp-registry/way-warnings.ts';

/** Opens the registries of a configuration. What they answer is kept where the configuration keeps its cache. */
export function openRegistries(
  { registries, retry, home, cache }: ResolvedConfig,
  { env, fetch }: Pick<EngineWorld, 'env' | 'fetch'>,
): McpRegistries {
  const expand = (text: string): string => expandReferences(text, env, 'registries');
  return new McpRegistries({
    registries,
    folder: cache.enabled ? join(home, 'registry') : undefined,
    world: { expand, retry, fetch },
  });
}

/** Makes the entry of a server. Throws why a person has to add it. */
export function entryFor(
  { server }: RegistryEntry,
  { registries }: ResolvedConfig,
  isTaken: (name: string) => boolean,
): ServerConfig {
  const short = shortNameOf(server.name);
  const name = isTaken(short) ? server.name.replace('/', '-') : short;
  const refuse = (why: string, stage: DiscoveryStage): never => {
    const how = `A person adds it: anygpt mcp add ${server.name}`;
    throw new DiscoveryError('CONFIGURATION_ERROR', `${server.name} ${why}. ${how}`, { server: server.name, stage });
  };
  const ways = waysOf(server, { hasCommand: () => false }).filter(({ kind }) => kind === 'remote');
  const usable = ways.find(({ problem }) => problem === undefined);
  if (usable === undefined)
    return refuse(ways[0]?.problem ?? 'is a program, which is not started without being asked', 'connection');
  const { connection, missing, secrets } = resolveWay(usable, name);
  const asked = [...new Set([...missing, ...Object.keys(secrets)])];
  if (connection === undefined || asked.length > 0)
    return refuse(`wants answers: ${asked.join(', ')}`, 'authentication');
  const isOwn = registries.every(({ url }) => isHere(url));
  if (!('url' in connection) || !(isPublic(connection.url) || (isOwn && isHere(connection.url))))
    return refuse('is not at a public https:// address', 'connection');
  return { name, connection: connection as ServerConfig['connection'], registry: `${server.name}@${server.version}` };
}

/** A public name, over https. */
function isPublic(address: string): boolean {
  const { protocol, hostname } = URL.canParse(address) ? new URL(address) : { protocol: '', hostname: '' };
  return protocol === 'https:' && isPublicHost(hostname);
}

const isHere = (address: string): boolean =>
  URL.canParse(address) && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(new URL(address).hostname);

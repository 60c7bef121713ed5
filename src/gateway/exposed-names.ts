/**
 * Builds the names under which one client sees several servers: `server__name` for tools and prompts, and a wrapped URI for resources.
 * Wrapping is reversible and keeps the variables of templates. `ui://` stays as it is: MCP Apps know it by this scheme.
 * @module
 */
import type { ContentBlock } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';

type Fields = Readonly<Record<string, unknown>>;

const SCHEME = 'anygpt://';
const BETWEEN = '__';

/** Something of one server, by the server's own name for it. */
export interface OwnName {
  readonly server: string;
  readonly name: string;
}

export const isApp = (uri: string): boolean => uri.startsWith('ui://');

export const exposedName = (server: string, name: string): string => `${server}${BETWEEN}${name}`;

/** All ways to split an exposed name, because a server's name may contain the separator. The longest server name comes first. */
export const ownNames = (servers: readonly string[], exposed: string): OwnName[] =>
  servers
    .filter((server) => exposed.startsWith(`${server}${BETWEEN}`))
    .sort((a, b) => b.length - a.length)
    .map((server) => ({ server, name: exposed.slice(server.length + BETWEEN.length) }));

export const exposedUri = (server: string, uri: string): string =>
  isApp(uri) ? uri : `${SCHEME}${encodeURIComponent(server)}/${uri}`;

/** The server and its own URI; undefined for a URI that was not wrapped for one of these servers. */
export function ownUri(servers: readonly string[], exposed: string): OwnName | undefined {
  for (const server of servers) {
    const start = `${SCHEME}${encodeURIComponent(server)}/`;
    if (exposed.startsWith(start)) return { server, name: exposed.slice(start.length) };
  }
  return undefined;
}

/** A listed resource or template with its URI wrapped. */
export function withExposedUri<T extends Fields>(server: string, entry: T): T {
  const { uri, uriTemplate } = entry;
  return {
    ...entry,
    ...(typeof uri === 'string' && { uri: exposedUri(server, uri) }),
    ...(typeof uriTemplate === 'string' && { uriTemplate: exposedUri(server, uriTemplate) }),
  };
}

/** The blocks of a result, with the URIs of the resources that they link or hold wrapped. */
export function withExposedLinks(server: string, content: unknown): unknown {
  if (Array.isArray(content)) return content.map((block) => withExposedLinks(server, block));
  if (!isObject(content)) return content;
  const block = content as ContentBlock;
  if (block.type === 'resource_link') return withExposedUri(server, block);
  const { resource } = block;
  return block.type === 'resource' && isObject(resource)
    ? { ...block, resource: withExposedUri(server, resource) }
    : block;
}

/**
 * A custom source in, server entries out: `servers` as a map (the key is the name, an inner `name` the description where
 * none is given) or as a list, in YAML or JSON; or the `mcpServers` map of other clients.
 * @module
 */
import { isObject } from '../plain-object.ts';
import { type Imported, joinImported, leftOut, toImported } from './imported-entry.ts';
import { fromMcpServers, toServer } from './mcp-servers.ts';

/** Converts the document of a custom source; undefined when it has neither `servers` nor `mcpServers`. */
export function fromCustom(document: unknown): Imported | undefined {
  if (!isObject(document)) return undefined;
  const { servers, mcpServers } = document;
  const parts: Imported[] = [];
  if (Array.isArray(servers)) parts.push(...servers.map((raw, index) => fromListed(raw, `servers[${index}]`)));
  else if (isObject(servers)) parts.push(...Object.entries(servers).map(([key, raw]) => fromNamed(key, raw)));
  if (isObject(mcpServers)) parts.push(fromMcpServers(mcpServers));
  const found = Array.isArray(servers) || isObject(servers) || isObject(mcpServers);
  return found ? joinImported(parts) : undefined;
}

function fromListed(raw: unknown, path: string): Imported {
  if (!isObject(raw)) return leftOut(`${path}: expected an object`);
  const { name, ...rest } = raw;
  if (typeof name !== 'string') return leftOut(`${path}.name: is missing, expected string`);
  return isFlat(raw) ? toServer(name, rest, path) : toImported(name, rest, path);
}

function fromNamed(key: string, raw: unknown): Imported {
  const path = `servers[${JSON.stringify(key.slice(0, 200))}]`;
  if (!isObject(raw)) return leftOut(`${path}: expected an object`);
  if (isFlat(raw)) return toServer(key, raw, path);
  const { name, ...rest } = raw;
  return toImported(key, { ...rest, description: rest.description ?? name }, path);
}

/** Whether `command` or `url` stand directly in the entry, as other clients write them. */
const isFlat = (raw: Readonly<Record<string, unknown>>): boolean =>
  raw.connection === undefined &&
  [raw.command, raw.url, raw.serverUrl, raw.httpUrl].some((value) => value !== undefined);

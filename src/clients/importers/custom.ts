/**
 * Imports the servers of a custom source in YAML, JSON or TOML. `servers` is a map (the key is the name; an inner
 * `name` serves as the description if there is none) or a list. A map of servers in another client's format also works.
 * @module
 */
import { isObject } from '../../json/plain-object.ts';
import { type EntryContext, toServer } from './client-entry.ts';
import { entriesIn, isServerMap, valueAt } from './containers.ts';
import { type Imported, joinImported, leftOut, toImported } from './imported-entry.ts';

/** Where other clients keep their servers, tried in this order when a file has neither `servers` nor `mcpServers`. */
const OTHER_KEYS = [['mcp', 'servers'], ['mcp'], ['context_servers'], ['amp.mcpServers'], ['mcp_servers']] as const;

/** Converts the document of a custom source; undefined when it has no servers in any known place. */
export function fromCustom(document: unknown, context: EntryContext): Imported | undefined {
  if (!isObject(document)) return undefined;
  const { servers, mcpServers } = document;
  const parts: Imported[] = [];
  if (Array.isArray(servers)) parts.push(...servers.map((raw, index) => fromListed(raw, `servers[${index}]`, context)));
  else if (isObject(servers)) parts.push(...Object.entries(servers).map(([key, raw]) => fromNamed(key, raw, context)));
  if (isObject(mcpServers)) parts.push(fromContainer(mcpServers, 'mcpServers', context));
  const found = Array.isArray(servers) || isObject(servers) || isObject(mcpServers);
  return found ? joinImported(parts) : fromElsewhere(document, context);
}

function fromElsewhere(document: Readonly<Record<string, unknown>>, context: EntryContext): Imported | undefined {
  for (const way of OTHER_KEYS) {
    const container = valueAt(document, way);
    if (isObject(container) || Array.isArray(container)) return fromContainer(container, way.join('.'), context);
  }
  return isServerMap(document) ? fromContainer(document, '', context) : undefined;
}

const fromContainer = (container: unknown, path: string, context: EntryContext): Imported =>
  joinImported((entriesIn(container, path) ?? []).map((entry) => toServer(entry.name, entry.raw, entry.path, context)));

function fromListed(raw: unknown, path: string, context: EntryContext): Imported {
  if (!isObject(raw)) return leftOut(`${path}: expected an object`);
  const { name, ...rest } = raw;
  if (typeof name !== 'string') return leftOut(`${path}.name: is missing, expected string`);
  return isFlat(raw) ? toServer(name, rest, path, context) : toImported(name, rest, path);
}

function fromNamed(key: string, raw: unknown, context: EntryContext): Imported {
  const path = `servers[${JSON.stringify(key.slice(0, 200))}]`;
  if (!isObject(raw)) return leftOut(`${path}: expected an object`);
  if (isFlat(raw)) return toServer(key, raw, path, context);
  const { name, ...rest } = raw;
  return toImported(key, { ...rest, description: rest.description ?? name }, path);
}

/** Tells whether `command` or `url` are directly in the entry, as other clients write them. */
const isFlat = (raw: Readonly<Record<string, unknown>>): boolean =>
  raw.connection === undefined &&
  [raw.command, raw.url, raw.serverUrl, raw.httpUrl].some((value) => value !== undefined);

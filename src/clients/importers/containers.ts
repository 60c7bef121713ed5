/**
 * Finds the server entries in a client's document, with their names and paths. The client's row says which key they are
 * under; it is never guessed.
 * @module
 */
import { basename, extname } from 'node:path';
import type { Policy } from '../../config/json-excerpt.ts';
import { isInside } from '../../config/paths.ts';
import { toPathText } from '../../config/problems.ts';
import type { World } from '../../config/world.ts';
import { isObject } from '../../json/plain-object.ts';

type Raw = Readonly<Record<string, unknown>>;
type Keys = readonly string[];

interface FoundEntry {
  readonly name: string;
  readonly raw: unknown;
  readonly path: string;
}

/** The file of a document. */
interface DocumentContext {
  readonly world: World;
  readonly file: string;
  readonly keys: readonly Keys[];
}

/** Finds the entries of a document; a string result says what was expected instead. */
export type FindEntries = (document: Raw, context: DocumentContext) => readonly FoundEntry[] | string;

/** Returns the entries under the first existing key. A file without any of the keys has no servers. */
export const entriesUnder: FindEntries = (document, { keys }) => {
  for (const way of keys) {
    const found = valueAt(document, way);
    if (found === undefined || found === null) continue;
    return entriesIn(found, toPathText('', way)) ?? `${toPathText('', way)} to be a map of servers`;
  }
  return [];
};

/** Claude Code: in the user's file, the servers of this project come before those for all projects. */
export const claudeCodeEntries: FindEntries = (document, context) => {
  const everywhere = entriesUnder(document, context);
  if (typeof everywhere === 'string' || !isObject(document.projects)) return everywhere;
  const here = Object.entries(document.projects)
    .filter(([project]) => isInside(context.world.cwd, project))
    .sort(([a], [b]) => b.length - a.length);
  const found: FoundEntry[] = [];
  const names = new Set<string>();
  const take = (entries: readonly FoundEntry[]) => {
    const fresh = entries.filter(({ name }) => !names.has(name));
    for (const entry of fresh) names.add(entry.name);
    found.push(...fresh);
  };
  for (const [project, settings] of here) {
    const servers = isObject(settings) ? settings.mcpServers : undefined;
    take(entriesIn(servers, toPathText('projects', [project, 'mcpServers'])) ?? []);
  }
  take(everywhere);
  return found;
};

const CLAUDE_CODE_LISTS = new Set(['mcpServers', 'disabledMcpServers', 'disabledMcpjsonServers']);

/** Claude Code keeps the history of all projects in the same file, up to hundreds of megabytes. */
export const claudeCodeExcerpt =
  ({ cwd }: World): Policy =>
  ([first = '', project = '', key]) => {
    if (first !== 'projects') return CLAUDE_CODE_LISTS.has(first) ? 'keep' : 'skip';
    if (key !== undefined) return CLAUDE_CODE_LISTS.has(key) ? 'keep' : 'skip';
    return project === '' || isInside(cwd, project) ? 'look' : 'skip';
  };

/** Continue: a list in YAML, a map in JSON, or a file with one server named after the file. */
export const continueEntries: FindEntries = (document, context) => {
  if (document.mcpServers === undefined && (document.command !== undefined || document.url !== undefined)) {
    return [{ name: basename(context.file, extname(context.file)), raw: document, path: 'the file' }];
  }
  return entriesUnder(document, context);
};

/** OpenCode: servers are under `mcp`, since version 2 under `mcp.servers`. A server may itself be named `servers`. */
export const openCodeEntries: FindEntries = (document, context) =>
  entriesUnder(document, { ...context, keys: [openCodeWay(document)] });

/** Returns the path of keys to the servers in a file of OpenCode. */
export function openCodeWay(document: Raw): Keys {
  const servers = valueAt(document, ['mcp', 'servers']);
  const second = isObject(servers) && typeof servers.type !== 'string' && servers.enabled === undefined;
  return second ? ['mcp', 'servers'] : ['mcp'];
}

/** Copilot CLI: a project's file may be the map itself. */
export const bareMap: FindEntries = (document, context) =>
  document.mcpServers === undefined && isServerMap(document)
    ? (entriesIn(document, '') ?? [])
    : entriesUnder(document, context);

/**
 * Docker: the Toolkit runs its servers behind its own gateway, which alone knows their secrets. So they are imported as
 * one server, if any of them is enabled.
 */
export const dockerEntries: FindEntries = (document, context) => {
  if (!isObject(document.registry)) return entriesUnder(document, context);
  const names = Object.keys(document.registry).sort();
  if (names.length === 0) return [];
  const description = `Docker MCP Toolkit: ${names.join(', ')}`.slice(0, 500);
  const raw = { command: 'docker', args: ['mcp', 'gateway', 'run'], description };
  return [{ name: 'MCP_DOCKER', raw, path: 'registry' }];
};

/** Tells whether a value is a map in which every value looks like a server. */
export const isServerMap = (value: Raw): boolean => {
  const entries = Object.values(value);
  return (
    entries.length > 0 &&
    entries.every(
      (raw) => isObject(raw) && [raw.command, raw.url, raw.serverUrl, raw.httpUrl].some((way) => way !== undefined),
    )
  );
};

/** Returns the value at a path of keys. */
export function valueAt(document: unknown, way: Keys): unknown {
  let here = document;
  for (const key of way) here = isObject(here) && Object.hasOwn(here, key) ? here[key] : undefined;
  return here;
}

/** Returns the entries of a map, or of a list of objects with a `name`. */
export function entriesIn(container: unknown, path: string): readonly FoundEntry[] | undefined {
  if (isObject(container)) {
    return Object.entries(container).map(([name, raw]) => ({
      name,
      raw,
      path: `${path}[${JSON.stringify(name.slice(0, 200))}]`,
    }));
  }
  if (!Array.isArray(container)) return undefined;
  return container.map((raw: unknown, index) => {
    const name = isObject(raw) && typeof raw.name === 'string' ? raw.name : '';
    return { name, raw, path: `${path}[${index}]` };
  });
}

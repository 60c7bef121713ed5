/**
 * Server entries as people wrote them in, complete server definitions out. Entries of one name from several files are
 * merged first, the earlier file winning field by field.
 * @module
 */
import { resolve } from 'node:path';
import type { ToolFilter } from '../clients/importers/tool-filter.ts';
import { ConfigurationError } from '../core/errors.ts';
import type { ConnectionDefinition, ServerDefinition } from '../core/types.ts';
import { expandHome, expandPath } from './paths.ts';
import type { ServerEntry } from './server-schema.ts';
import { inWorkspace } from './workspace-folder.ts';
import type { World } from './world.ts';

type Connection = NonNullable<ServerEntry['connection']>;

/** A checked entry together with the place it was written. */
export interface PlacedEntry {
  readonly entry: ServerEntry;
  readonly origin: ServerDefinition['origin'];
  /** Which of its tools the client it came from uses. */
  readonly filter?: ToolFilter | undefined;
  /** Where it starts if its entry has no `cwd`: its project. Undefined: the user's home. */
  readonly folder?: string | undefined;
  /** It came with a project. What the user has keeps its name and its settings beside it. */
  readonly isProjects?: boolean | undefined;
  /** Another of its name in a project's file of the same client counts instead. Its name is kept for it. */
  readonly isHidden?: boolean | undefined;
  /** Whether it is on is what the user's own configuration says. */
  readonly isDecided?: boolean | undefined;
}

/** The entry with the paths in it made absolute, so that it can be merged with entries from other folders. */
export function withAbsolutePaths(entry: ServerEntry, base: string, world: World): ServerEntry {
  const { connection } = entry;
  if (connection?.type !== 'stdio') return entry;
  return {
    ...entry,
    connection: {
      ...connection,
      command: toCommand(connection.command, base, world),
      ...(connection.cwd !== undefined && { cwd: toFolder(connection.cwd, base, world) }),
    },
  };
}

/** A folder that cannot be known now stays as written: that is for the one server to report when it is started. */
function toFolder(cwd: string, base: string, world: World): string {
  try {
    return expandPath(cwd, base, world);
  } catch (error) {
    if (error instanceof ConfigurationError) return cwd;
    throw error;
  }
}

/** A command that is written as a path is one; a bare name is left to the search path. */
function toCommand(command: string, base: string, world: World): string {
  if (/^\.{1,2}[/\\]/.test(command)) return resolve(base, command);
  return expandHome(command, world);
}

/** One entry on top of another of the same name. */
export function mergeEntries(upper: PlacedEntry, lower: PlacedEntry): PlacedEntry {
  const entry: ServerEntry = { ...lower.entry, ...defined(upper.entry) };
  const connection = mergeConnections(upper.entry.connection, lower.entry.connection);
  if (connection !== undefined) entry.connection = connection;
  if (upper.entry.timeouts && lower.entry.timeouts) {
    entry.timeouts = { ...lower.entry.timeouts, ...defined(upper.entry.timeouts) };
  }
  const filter = upper.filter ?? lower.filter;
  // Whoever says what is started says where.
  const { origin, folder, isProjects } = upper.entry.connection === undefined ? lower : upper;
  return { entry, origin, filter, folder, isProjects };
}

/** A server of the user's with what a project may say of it: that it is off, and what it is good for. */
export function narrowedEntry(users: PlacedEntry, { entry: { enabled, description } }: PlacedEntry): PlacedEntry {
  const entry = {
    ...users.entry,
    ...(users.entry.description === undefined && description !== undefined && { description }),
    ...(enabled === false && { enabled }),
  };
  return { ...users, entry };
}

/** Headers that were meant for one address are never sent to another: they may be secrets. */
function mergeConnections(upper: Connection | undefined, lower: Connection | undefined): Connection | undefined {
  if (upper === undefined || lower === undefined) return upper ?? lower;
  if (upper.type === 'stdio') {
    if (lower.type !== 'stdio') return upper;
    return { ...lower, ...defined(upper), ...(lower.env && { env: { ...lower.env, ...upper.env } }) };
  }
  if (lower.type === 'stdio' || lower.url !== upper.url) return upper;
  return { ...lower, ...defined(upper), ...(lower.headers && { headers: { ...lower.headers, ...upper.headers } }) };
}

/** Without the fields that were written as undefined, which say nothing. */
const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T;

/** The definition for a merged entry, or undefined when nobody said how to reach the server. */
export function toServerDefinition({ entry, origin, folder }: PlacedEntry): ServerDefinition | undefined {
  if (entry.connection === undefined) return undefined;
  return {
    name: entry.name,
    description: entry.description,
    enabled: entry.enabled ?? true,
    connection: placed(toConnection(entry.connection, folder), folder),
    tools: entry.tools ?? [],
    timeouts: { connect: entry.timeouts?.connect, call: entry.timeouts?.call },
    rateLimit: toRateLimit(entry.rateLimit),
    concurrency: entry.concurrency,
    trusted: entry.trusted ?? false,
    idempotent: entry.idempotent ?? [],
    ...(entry.shared && { shared: true }),
    origin,
  };
}

function toConnection(connection: Connection, folder: string | undefined): ConnectionDefinition {
  if (connection.type !== 'stdio') {
    const { type, url, headers = {}, auth } = connection;
    return { type, url, headers, auth };
  }
  const { command, args = [], env = {}, inheritEnv = [], cwd = folder } = connection;
  return { type: 'stdio', command, args, env, inheritEnv, cwd };
}

/** In a project, the folder the client works in is the project. */
const placed = (connection: ConnectionDefinition, folder: string | undefined): ConnectionDefinition =>
  folder === undefined ? connection : inWorkspace(connection, folder);

function toRateLimit(limit: ServerEntry['rateLimit']): ServerDefinition['rateLimit'] {
  if (limit === undefined) return undefined;
  const { requestsPerSecond, burst = Math.max(1, Math.ceil(requestsPerSecond * 2)) } = limit;
  return { requestsPerSecond, burst };
}

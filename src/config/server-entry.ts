/**
 * Turns server entries into complete server definitions. Entries of one name from several files are merged first; the
 * earlier file wins field by field.
 * @module
 */
import { resolve } from 'node:path';
import type { ToolFilter } from '../clients/importers/tool-filter.ts';
import { type ApprovalMode, modeOf, stricterOf, type TrustLevel } from '../core/approval-mode.ts';
import { ConfigurationError } from '../core/errors.ts';
import { connectionOf, isLocal, userTextsOf } from '../core/transport-parts.ts';
import type { ConnectionDefinition, ServerDefinition } from '../core/types.ts';
import { expandHome, expandPath } from './paths.ts';
import { toRateLimit } from './rate-limit-schema.ts';
import type { ServerEntry } from './server-schema.ts';
import { inWorkspace } from './workspace-folder.ts';
import type { World } from './world.ts';

type Connection = NonNullable<ServerEntry['connection']>;

/** A checked entry and the place where it is written. */
export interface PlacedEntry {
  readonly entry: ServerEntry;
  readonly origin: ServerDefinition['origin'];
  /** The tools that the entry's client uses. */
  readonly filter?: ToolFilter | undefined;
  /** Default working folder: the entry's project. Undefined: the user's home. */
  readonly folder?: string | undefined;
  /** The entry belongs to a project. The user's servers keep their names and settings beside it. */
  readonly isProjects?: boolean | undefined;
  /** A project's entry of the same client replaces this one and takes its name. */
  readonly isHidden?: boolean | undefined;
  /** The user's own configuration decides whether the server is on. */
  readonly isDecided?: boolean | undefined;
}

/** Makes the paths of an entry absolute, so that it can be merged with entries from other folders. */
export function withAbsolutePaths(entry: ServerEntry, base: string, world: World): ServerEntry {
  const { connection } = entry;
  if (connection === undefined || !isLocal(connection)) return entry;
  return {
    ...entry,
    connection: {
      ...connection,
      command: toCommand(connection.command, base, world),
      ...(connection.cwd !== undefined && { cwd: toFolder(connection.cwd, base, world) }),
    },
  };
}

/** A folder that cannot be expanded now stays as written; the server reports it when it starts. */
function toFolder(cwd: string, base: string, world: World): string {
  try {
    return expandPath(cwd, base, world);
  } catch (error) {
    if (error instanceof ConfigurationError) return cwd;
    throw error;
  }
}

/** A command written as a path is resolved; a bare name is left to PATH. */
function toCommand(command: string, base: string, world: World): string {
  if (/^\.{1,2}[/\\]/.test(command)) return resolve(base, command);
  return expandHome(command, world);
}

/** Merges two entries of the same name; `upper` wins. */
export function mergeEntries(upper: PlacedEntry, lower: PlacedEntry): PlacedEntry {
  const entry: ServerEntry = { ...lower.entry, ...defined(upper.entry) };
  const connection = mergeConnections(upper.entry.connection, lower.entry.connection);
  if (connection !== undefined) entry.connection = connection;
  if (upper.entry.timeouts && lower.entry.timeouts) {
    entry.timeouts = { ...lower.entry.timeouts, ...defined(upper.entry.timeouts) };
  }
  const filter = upper.filter ?? lower.filter;
  // The entry that has the connection also decides the working folder.
  const { origin, folder, isProjects } = upper.entry.connection === undefined ? lower : upper;
  return { entry, origin, filter, folder, isProjects };
}

/** Applies what a project may change on the user's server: switch it off, or add a missing description. */
export function narrowedEntry(users: PlacedEntry, { entry: { enabled, description } }: PlacedEntry): PlacedEntry {
  const entry = {
    ...users.entry,
    ...(users.entry.description === undefined && description !== undefined && { description }),
    ...(enabled === false && { enabled }),
  };
  return { ...users, entry };
}

/** Headers for one address are never sent to another: they may be secrets. */
function mergeConnections(upper: Connection | undefined, lower: Connection | undefined): Connection | undefined {
  if (upper === undefined || lower === undefined) return upper ?? lower;
  if (isLocal(upper)) {
    if (!isLocal(lower)) return upper;
    return { ...lower, ...defined(upper), ...(lower.env && { env: { ...lower.env, ...upper.env } }) };
  }
  if (isLocal(lower) || lower.url !== upper.url) return upper;
  return { ...lower, ...defined(upper), ...(lower.headers && { headers: { ...lower.headers, ...upper.headers } }) };
}

/** Drops fields that are undefined. */
const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T;

/**
 * Returns the definition for a merged entry, or undefined when it has no connection.
 * @param general the setting `approval` for all servers
 */
export function toServerDefinition(placedEntry: PlacedEntry, general?: ApprovalMode): ServerDefinition | undefined {
  const { entry, origin, folder, isProjects } = placedEntry;
  if (entry.connection === undefined) return undefined;
  const approval = approvalOf(placedEntry, general);
  // Which user gets which credentials is not for a project to say.
  const isPerUser = !isProjects && (entry.credentials ?? userTextsOf(entry.connection)) !== undefined;
  const connection = toConnection(entry.connection, folder);
  return {
    name: entry.name,
    description: entry.description,
    enabled: entry.enabled ?? true,
    connection: placed(isProjects ? connectionOf(connection, undefined) : connection, folder),
    tools: entry.tools ?? [],
    timeouts: { connect: entry.timeouts?.connect, call: entry.timeouts?.call },
    rateLimit: toRateLimit(entry.rateLimit),
    concurrency: entry.concurrency,
    trusted: entry.trusted ?? false,
    idempotent: entry.idempotent ?? [],
    ...(entry.shared && { shared: true }),
    ...(isPerUser && { credentials: 'user' }),
    ...(entry.registry !== undefined && { registry: entry.registry }),
    ...(approval !== 'off' && { approval }),
    ...(entry.domains && { domains: entry.domains }),
    ...(entry.categories && { categories: entry.categories }),
    ...(isProjects && { isProjects }),
    origin,
  };
}

/**
 * The approval mode of a server. For a project's server, a setting under its name or in its file can only be stricter.
 */
function approvalOf({ entry, origin, isProjects }: PlacedEntry, general: ApprovalMode | undefined): ApprovalMode {
  const level: TrustLevel =
    isProjects || entry.registry !== undefined ? 'review' : origin.client === undefined ? 'trusted' : 'first-sight';
  return isProjects ? stricterOf(modeOf(level, general), entry.approval) : modeOf(level, general, entry.approval);
}

function toConnection(connection: Connection, folder: string | undefined): ConnectionDefinition {
  if (!isLocal(connection)) {
    const { type, url, headers = {}, userHeaders, auth, oauth } = connection;
    return { type, url, headers, ...(userHeaders && { userHeaders }), auth, ...(oauth && { oauth }) };
  }
  const { type, command, args = [], env = {}, userEnv, inheritEnv = [], cwd = folder } = connection;
  return { type, command, args, env, ...(userEnv && { userEnv }), inheritEnv, cwd };
}

/** In a project, `${workspaceFolder}` is the project. */
const placed = (connection: ConnectionDefinition, folder: string | undefined): ConnectionDefinition =>
  folder === undefined ? connection : inWorkspace(connection, folder);

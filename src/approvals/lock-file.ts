/**
 * Builds, prints, parses and compares `mcp-discovery.lock`: servers with their versions, the pin and domains of each tool,
 * and the pin of each resource, template and prompt. Sorted, with one line for each, so that a pull request shows which tools changed.
 * @module
 */
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolDefinition } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { pinOf } from './pin.ts';

export const LOCK_FILE = 'mcp-discovery.lock';

/** A server as it is now. */
export interface LockableServer {
  readonly server: string;
  readonly version?: string | undefined;
  readonly tools: readonly ToolDefinition[];
  /** Resources, templates and prompts. */
  readonly items?: readonly ToolDefinition[] | undefined;
  /** Domains by tool name. */
  readonly domains?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** One tool. Without a pin its definition is too large to be compared, so it never counts as the same. */
interface LockedTool {
  readonly pin: string | null;
  readonly domains: readonly string[];
}

interface LockedServer {
  readonly version?: string | undefined;
  readonly tools: ReadonlyMap<string, LockedTool>;
  /** By `prompt:review`, `resource:docs://a` or `template:docs://{page}`. */
  readonly items: ReadonlyMap<string, LockedTool>;
}

/** Servers by name. */
export type Lock = ReadonlyMap<string, LockedServer>;

/** One difference between a lock file and what is there now. */
export interface LockDifference {
  readonly kind:
    | 'server-added'
    | 'server-removed'
    | 'version-changed'
    | 'tool-added'
    | 'tool-removed'
    | 'tool-changed'
    | 'item-added'
    | 'item-removed'
    | 'item-changed'
    | 'domains-changed';
  readonly server: string;
  /** The tool, or the item: `prompt:review`. */
  readonly tool?: string;
  /** The version, pin or domains in the lock file. */
  readonly was?: string;
  readonly now?: string;
}

/** Builds the lock of these servers. */
export const buildLock = (servers: readonly LockableServer[]): Lock =>
  new Map(
    servers.map(({ server, version, tools, items = [], domains }) => [
      server,
      {
        version,
        tools: new Map(
          tools.map((definition) => [
            definition.name,
            { pin: pinOf(definition) ?? null, domains: [...new Set(domains?.get(definition.name))].sort() },
          ]),
        ),
        items: new Map(items.map((item) => [item.name, { pin: pinOf(item) ?? null, domains: [] }])),
      },
    ]),
  );

/** Prints a lock as the text of the file. The same lock gives the same text. */
export function printLock(lock: Lock): string {
  const listOf = (locked: ReadonlyMap<string, LockedTool>): string => {
    const lines = sorted(locked).map(([name, one]) => `    ${JSON.stringify(name)}: ${lineOf(one)}`);
    return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n   }`;
  };
  const servers = sorted(lock).map(([name, { version, tools, items }]) => {
    const about = version === undefined ? '' : `   "version": ${JSON.stringify(version)},\n`;
    const further = items.size === 0 ? '' : `,\n   "items": ${listOf(items)}`;
    return `  ${JSON.stringify(name)}: {\n${about}   "tools": ${listOf(tools)}${further}\n  }`;
  });
  const list = servers.length === 0 ? '{}' : `{\n${servers.join(',\n')}\n }`;
  return `{\n "lockVersion": 1,\n "servers": ${list}\n}\n`;
}

const PREFIX = 'sha256-';

const lineOf = ({ pin, domains }: LockedTool): string =>
  JSON.stringify({ pin: pin === null ? null : `${PREFIX}${pin}`, ...(domains.length > 0 && { domains }) });

/**
 * Parses the text of a lock file. A text that is no lock is CONFIGURATION_ERROR.
 * @param path named in the error
 */
export function parseLock(text: string, path: string = LOCK_FILE): Lock {
  const refuse = (why: string): never => {
    throw new ConfigurationError(`${path} cannot be read: ${why}. Write it again with \`anygpt mcp lock\`.`);
  };
  if (text.length > LIMITS.approvals.fileBytes) return refuse(`it has ${text.length} characters`);
  const document = parsed(text, refuse);
  if (!isObject(document) || document.lockVersion !== 1 || !isObject(document.servers))
    return refuse('it is not in the format that this version writes');
  return new Map(
    Object.entries(document.servers).map(([name, server]) => {
      const where = JSON.stringify(name);
      if (!isObject(server) || !isObject(server.tools)) return refuse(`the server ${where} has no tools`);
      const { version, items = {} } = server;
      if (!isObject(items)) return refuse(`the items of ${where} are no object`);
      if (version !== undefined && typeof version !== 'string') return refuse(`the version of ${where} is no text`);
      const lockedIn = (what: string, entries: Readonly<Record<string, unknown>>) =>
        new Map(
          Object.entries(entries).map(
            ([one, locked]) =>
              [one, toLocked(locked) ?? refuse(`the ${what} ${JSON.stringify(one)} of ${where} has no pin`)] as const,
          ),
        );
      return [name, { version, tools: lockedIn('tool', server.tools), items: lockedIn('item', items) }];
    }),
  );
}

function parsed(text: string, refuse: (why: string) => never): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (/^<{7} /m.test(text)) return refuse('it has marks of a merge conflict');
    return refuse((error as Error).message);
  }
}

function toLocked(value: unknown): LockedTool | undefined {
  if (!isObject(value)) return undefined;
  const { pin, domains = [] } = value;
  if (!Array.isArray(domains) || !domains.every((one): one is string => typeof one === 'string')) return undefined;
  if (pin === null) return { pin, domains };
  if (typeof pin !== 'string' || !/^sha256-[0-9a-f]{64}$/.test(pin)) return undefined;
  return { pin: pin.slice(PREFIX.length), domains };
}

/** Returns every difference, sorted by server and tool; empty when nothing differs. */
export function compareLocks(locked: Lock, now: Lock): LockDifference[] {
  const servers = [...new Set([...locked.keys(), ...now.keys()])].sort();
  return servers.flatMap((server): LockDifference[] => {
    const [was, is] = [locked.get(server), now.get(server)];
    if (was === undefined) return [{ kind: 'server-added', server }];
    if (is === undefined) return [{ kind: 'server-removed', server }];
    const version: LockDifference[] =
      was.version === is.version
        ? []
        : [{ kind: 'version-changed', server, ...pair(was.version ?? 'unknown', is.version ?? 'unknown') }];
    const compare = (what: 'tool' | 'item', before: LockedServer['tools'], now: LockedServer['tools']) =>
      [...new Set([...before.keys(), ...now.keys()])]
        .sort()
        .flatMap((name) => compareTools(what, { server, tool: name }, before.get(name), now.get(name)));
    return [...version, ...compare('tool', was.tools, is.tools), ...compare('item', was.items, is.items)];
  });
}

function compareTools(
  what: 'tool' | 'item',
  ref: { readonly server: string; readonly tool: string },
  was: LockedTool | undefined,
  now: LockedTool | undefined,
): LockDifference[] {
  if (was === undefined) return [{ kind: `${what}-added`, ...ref }];
  if (now === undefined) return [{ kind: `${what}-removed`, ...ref }];
  if (was.pin === null || was.pin !== now.pin)
    return [{ kind: `${what}-changed`, ...ref, ...pair(was.pin ?? 'none', now.pin ?? 'none') }];
  const domains = [was.domains.toSorted().join(', '), now.domains.toSorted().join(', ')] as const;
  return domains[0] === domains[1] ? [] : [{ kind: 'domains-changed', ...ref, ...pair(...domains) }];
}

const pair = (was: string, now: string) => ({ was, now });

const sorted = <T>(map: ReadonlyMap<string, T>): [string, T][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

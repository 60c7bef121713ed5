/**
 * Builds, prints, parses and compares `mcp-discovery.lock`: servers with their versions, and the pin and domains of each
 * tool. Sorted, with one line per tool, so that a pull request shows which tools changed.
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
  /** Domains by tool name. */
  readonly domains?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** One tool. Without a pin its definition is too large to be compared, so it never counts as the same. */
export interface LockedTool {
  readonly pin: string | null;
  readonly domains: readonly string[];
}

export interface LockedServer {
  readonly version?: string | undefined;
  readonly tools: ReadonlyMap<string, LockedTool>;
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
    | 'domains-changed';
  readonly server: string;
  readonly tool?: string;
  /** The version, pin or domains in the lock file. */
  readonly was?: string;
  readonly now?: string;
}

/** Builds the lock of these servers. */
export const buildLock = (servers: readonly LockableServer[]): Lock =>
  new Map(
    servers.map(({ server, version, tools, domains }) => [
      server,
      {
        version,
        tools: new Map(
          tools.map((definition) => [
            definition.name,
            { pin: pinOf(definition) ?? null, domains: [...new Set(domains?.get(definition.name))].sort() },
          ]),
        ),
      },
    ]),
  );

/** Prints a lock as the text of the file. The same lock gives the same text. */
export function printLock(lock: Lock): string {
  const servers = sorted(lock).map(([name, { version, tools }]) => {
    const lines = sorted(tools).map(([tool, locked]) => `    ${JSON.stringify(tool)}: ${lineOf(locked)}`);
    const list = lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n   }`;
    const about = version === undefined ? '' : `   "version": ${JSON.stringify(version)},\n`;
    return `  ${JSON.stringify(name)}: {\n${about}   "tools": ${list}\n  }`;
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
      const { version } = server;
      if (version !== undefined && typeof version !== 'string') return refuse(`the version of ${where} is no text`);
      const tools = Object.entries(server.tools).map(
        ([tool, locked]) =>
          [tool, toLocked(locked) ?? refuse(`the tool ${JSON.stringify(tool)} of ${where} has no pin`)] as const,
      );
      return [name, { version, tools: new Map(tools) }];
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
    const tools = [...new Set([...was.tools.keys(), ...is.tools.keys()])].sort();
    return [
      ...version,
      ...tools.flatMap((tool) => compareTools(server, tool, was.tools.get(tool), is.tools.get(tool))),
    ];
  });
}

function compareTools(
  server: string,
  tool: string,
  was: LockedTool | undefined,
  now: LockedTool | undefined,
): LockDifference[] {
  if (was === undefined) return [{ kind: 'tool-added', server, tool }];
  if (now === undefined) return [{ kind: 'tool-removed', server, tool }];
  if (was.pin === null || was.pin !== now.pin)
    return [{ kind: 'tool-changed', server, tool, ...pair(was.pin ?? 'none', now.pin ?? 'none') }];
  const domains = [was.domains.toSorted().join(', '), now.domains.toSorted().join(', ')] as const;
  return domains[0] === domains[1] ? [] : [{ kind: 'domains-changed', server, tool, ...pair(...domains) }];
}

const pair = (was: string, now: string) => ({ was, now });

const sorted = <T>(map: ReadonlyMap<string, T>): [string, T][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

/**
 * The MCP servers behind a registry: an engine that is handed in, or entries from which one is made when a server is first
 * needed. Until then nothing of it is even loaded.
 * @module
 */
import { type ErrorCode, type ErrorInfo, ValidationError } from '../../core/errors.ts';
import { fail, type ToolResult } from '../../core/result.ts';
import type { CallToolResult, ToolDefinition, ToolMetadata } from '../../core/types.ts';
import { coreOf, type EngineHandle, isEngine } from '../../engine/engine-handle.ts';
import { shorten } from '../../text/plain-text.ts';
import { type ServerEntry, variableProblem } from './servers-from-env.ts';

/** A call on its way to a server. */
export interface ServerCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: unknown;
  readonly traceId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a registry needs of the servers behind it. */
export interface ToolServers {
  /** The servers that are switched on now. Connects to none. */
  serverNames(): Promise<readonly string[]>;
  /** Reads the lists of these servers anew, in bounded time. Resolves with what went wrong, by server. */
  readLists(options: { servers: readonly string[]; again: true }): Promise<ReadonlyMap<string, ErrorInfo>>;
  /** The tools of one server as they were last read. */
  definitionsOf(server: string): Promise<ToolResult<readonly ToolDefinition[]>>;
  /** The same tools as a search shows them: asked for the examples that a configuration gives of them. */
  toolsOf?(server: string): Promise<ToolResult<readonly Pick<ToolMetadata, 'name' | 'examples'>[]>>;
  /** Calls a tool. Never throws. */
  call(call: ServerCall): Promise<ToolResult<CallToolResult>>;
  /** The servers of which no tools are known at all, not even from an earlier run. */
  unseen?(): Promise<readonly string[]>;
  /** Calls back when the servers themselves may have changed. */
  onReload?(listener: () => void): () => void;
  /** Calls back with what servers say outside of calls. */
  onNotification?(listener: (server: string, method: string) => void): () => void;
}

/** Servers in use. */
export interface OpenServers {
  readonly servers: ToolServers;
  /** Takes over what has changed in the environment, if these servers depend on it. */
  refresh(): Promise<unknown>;
  close(): Promise<void>;
}

export interface ServersWorld {
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
  readonly now: () => number;
}

const nothing = async (): Promise<void> => {};

/** Nothing to connect to, and nothing to load for it. */
const NONE: ToolServers = {
  serverNames: async () => [],
  readLists: async () => new Map(),
  definitionsOf: async (server) => nobody(server),
  call: async ({ server, tool }) => nobody(server, tool),
};

const nobody = (server: string, tool?: string) =>
  fail('SERVER_NOT_FOUND', `This registry has no server "${server}" that could be asked.`, {
    server,
    tool,
    outcome: 'not_sent',
  });

/** Opens what a registry was given. Whoever handed in an engine reloads and closes it; what is made here is closed here. */
export async function openServers(
  given: ToolServers | EngineHandle | readonly ServerEntry[],
  { env, now }: ServersWorld,
): Promise<OpenServers> {
  if (isEngine(given)) return { servers: coreOf(given), refresh: nothing, close: nothing };
  if (!isEntries(given)) return { servers: given, refresh: nothing, close: nothing };
  if (given.length === 0) return { servers: NONE, refresh: nothing, close: nothing };
  const { EngineCore } = await import('../../engine/engine-core.ts');
  const engine = new EngineCore(
    {
      servers: [...given],
      // A registry keeps lists for itself and searches nothing; whoever embeds it did not ask for files in a home folder.
      cache: { enabled: false },
      audit: { enabled: false },
      search: { meaning: false, phrases: false, learn: false },
    },
    { ...(env && { env }), elapsed: now, background: false, wholeResults: true },
  );
  return {
    servers: namingVariables(engine, given, env),
    refresh: () => engine.reload({ ifChanged: true }),
    close: () => engine.close(),
  };
}

/** What a server fails with whose entry is wrong: the second while it is not tried again yet. */
const MISTAKEN: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['CONFIGURATION_ERROR', 'SERVER_UNAVAILABLE']);

/** The same servers; a mistake in the environment is told by the variable it is in, not by a place nobody wrote. */
function namingVariables(
  engine: Required<ToolServers>,
  entries: readonly ServerEntry[],
  env: ServersWorld['env'],
): ToolServers {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const named = (error: ErrorInfo): ErrorInfo => {
    const entry = MISTAKEN.has(error.code) ? byName.get(error.server ?? '') : undefined;
    const problem = entry && variableProblem(entry, env);
    if (!problem) return error;
    const { retryAfterMs: _never, ...rest } = error;
    return { ...rest, code: 'CONFIGURATION_ERROR', message: `${error.server}: ${problem}.`, retryable: false };
  };
  return {
    serverNames: () => engine.serverNames(),
    readLists: async (options) =>
      new Map([...(await engine.readLists(options))].map(([server, error]) => [server, named(error)])),
    definitionsOf: (server) => engine.definitionsOf(server),
    toolsOf: (server) => engine.toolsOf(server),
    call: async (call) => {
      const result = await engine.call(call);
      return result.success ? result : { success: false, error: named(result.error) };
    },
    unseen: () => engine.unseen(),
    onReload: (listener) => engine.onReload(listener),
    onNotification: (listener) => engine.onNotification(listener),
  };
}

const METHODS = ['serverNames', 'readLists', 'definitionsOf', 'call'] as const;

/** Throws `ValidationError` for what is neither a list of entries nor something to ask, and says what to write. */
export function checkServers(given: unknown): void {
  if (Array.isArray(given) || isEngine(given)) return;
  if (typeof given !== 'object' || given === null)
    throw new ValidationError('servers must be a list of entries, or a DiscoveryEngine.');
  if (METHODS.every((name) => typeof (given as Record<string, unknown>)[name] === 'function')) return;
  const [[name, entry] = []] = Object.entries('mcpServers' in given ? (given.mcpServers ?? {}) : given);
  const isRemote = typeof entry === 'object' && entry !== null && 'url' in entry;
  const connection = isRemote ? "{ type: 'http', url: … }" : "{ type: 'stdio', command: …, args: […] }";
  throw new ValidationError(
    `servers must be a list of entries, or a DiscoveryEngine: write [{ name: ${JSON.stringify(shorten(name ?? 'x', 64))}, connection: ${connection} }].`,
  );
}

const isEntries = (given: ToolServers | readonly ServerEntry[]): given is readonly ServerEntry[] =>
  Array.isArray(given);

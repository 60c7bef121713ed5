/**
 * Keeps a registry's MCP tools fresh in the table. Each list holds for five minutes, and stays when reading it again fails.
 * Servers that are switched off lose their tools.
 * @module
 */

import { Semaphore } from '../../async/semaphore.ts';
import { ListKeeper } from '../../catalog/list-keeper.ts';
import { toServerError } from '../../catalog/retry-policy.ts';
import { DiscoveryError, type ErrorInfo } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { ok, type ToolResult } from '../../core/result.ts';
import type { ToolDefinition } from '../../core/types.ts';
import { messageOf } from '../../text/thrown-message.ts';
import type { Tell } from './registry-log.ts';
import type { OpenServers, ToolServers } from './tool-servers.ts';
import type { ToolTable } from './tool-table.ts';

export interface ToolDiscoveryOptions {
  readonly table: ToolTable;
  readonly open: () => Promise<OpenServers>;
  readonly ttlMs: number;
  readonly now: () => number;
  readonly tell: Tell;
}

/** What came of reading lists. */
export interface Discovered {
  /** Whether the table may show something else than before. */
  readonly changed: boolean;
  readonly failures: readonly ErrorInfo[];
}

/** Whoever asks for a list that failed has it read again. */
const AT_ONCE = { initial: 0, max: 0 };
const LIST_CHANGED = 'notifications/tools/list_changed';

export class ToolDiscovery {
  readonly #options: ToolDiscoveryOptions;
  readonly #turns = new Semaphore(LIMITS.atOnce.servers);
  readonly #keepers = new Map<string, ListKeeper<ErrorInfo, string | undefined>>();
  /** Servers whose tools came from here; what a program registered by hand is its own to remove. */
  readonly #discovered = new Set<string>();
  readonly #unsubscribe: (() => void)[] = [];
  #open: Promise<OpenServers> | undefined;
  #closed = false;

  constructor(options: ToolDiscoveryOptions) {
    this.#options = options;
  }

  /** True when a server's list was never read, or is older than it may be. */
  isStale(server: string): boolean {
    return this.#keepers.get(server)?.isOld ?? true;
  }

  /** A list came from elsewhere; it counts as read now. */
  registered(server: string): void {
    this.#keeper(server).replaced();
  }

  /** Takes a server's tools out. A list that is being read no longer counts. */
  remove(server: string, traceId?: string): number {
    this.#keepers.get(server)?.invalidate();
    this.#keepers.delete(server);
    this.#discovered.delete(server);
    const removedCount = this.#options.table.removeServer(server);
    if (removedCount > 0)
      this.#options.tell('tools.registry.server.removed', { serverName: server, removedCount }, traceId);
    return removedCount;
  }

  /** The servers, opened on first need. */
  async servers(): Promise<ToolServers> {
    return (await this.#opened()).servers;
  }

  /** Reads every list that is due and lets go of servers that are gone. */
  async discoverAll(traceId: string | undefined): Promise<Discovered> {
    const { servers, refresh } = await this.#opened();
    await refresh();
    const names = [...(await servers.serverNames())].sort();
    const enabled = new Set(names);
    const gone = [...this.#discovered].filter((server) => !enabled.has(server));
    for (const server of gone) this.remove(server, traceId);
    const due = names.filter((server) => this.isStale(server));
    const failures = await this.#read(due, traceId);
    return { changed: gone.length > 0 || due.length > failures.length, failures };
  }

  /** Reads one server's list if it is due. Resolves with what went wrong. */
  async discover(server: string, traceId: string | undefined): Promise<ErrorInfo | undefined> {
    if (!this.isStale(server)) return undefined;
    const [failure] = await this.#read([server], traceId);
    if (!failure) this.#options.table.told(this.#options.tell, traceId);
    return failure;
  }

  /** Reads nothing any more, and closes servers that were opened here. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const stop of this.#unsubscribe.splice(0)) stop();
    for (const keeper of this.#keepers.values()) keeper.invalidate();
    const opened = await this.#open;
    await opened?.close();
  }

  async #opened(): Promise<OpenServers> {
    if (this.#closed) throw new DiscoveryError('SHUTTING_DOWN', 'The registry is closed.', { outcome: 'not_sent' });
    this.#open ??= this.#options.open().then((opened) => {
      if (!this.#closed) this.#watch(opened.servers);
      return opened;
    });
    return this.#open;
  }

  /** A list is due at once when its server says that it changed, and every list when the servers did. */
  #watch(servers: ToolServers): void {
    const changed = servers.onNotification?.((server, method) => {
      if (method === LIST_CHANGED) this.#keepers.get(server)?.outdate();
    });
    const reloaded = servers.onReload?.(() => {
      for (const keeper of this.#keepers.values()) keeper.outdate();
    });
    for (const stop of [changed, reloaded]) if (stop) this.#unsubscribe.push(stop);
  }

  async #read(due: readonly string[], traceId: string | undefined): Promise<ErrorInfo[]> {
    if (due.length === 0) return [];
    const keepers = due.map((server) => this.#keeper(server));
    const serverCount = keepers.filter(({ reading }) => !reading).length;
    if (serverCount > 0) this.#options.tell('tools.discovery.started', { serverCount }, traceId);
    const readings = keepers.map((keeper) => keeper.read(traceId));
    await Promise.all(readings.map(({ done }) => done));
    return keepers.flatMap(({ failure }) => failure ?? []);
  }

  #keeper(server: string): ListKeeper<ErrorInfo, string | undefined> {
    const known = this.#keepers.get(server);
    if (known) return known;
    const { ttlMs, now } = this.#options;
    const keeper = new ListKeeper<ErrorInfo, string | undefined>({
      read: ({ isCurrent }, traceId) => this.#turns.run(() => this.#readOne(server, traceId, isCurrent)),
      toFailure: (thrown) => ({ server, outcome: 'not_sent', ...toServerError(thrown, server).toInfo() }),
      isStale: (ageMs) => ageMs >= ttlMs,
      retry: AT_ONCE,
      now,
    });
    this.#keepers.set(server, keeper);
    return keeper;
  }

  async #readOne(server: string, traceId: string | undefined, isCurrent: () => boolean): Promise<boolean> {
    const { table, tell } = this.#options;
    const servers = await this.servers();
    try {
      const failure = (await servers.readLists({ servers: [server], again: true })).get(server);
      if (failure) throw new DiscoveryError(failure.code, failure.message, failure);
      const listed = await definitionsOf(servers, server);
      if (!listed.success) throw new DiscoveryError(listed.error.code, listed.error.message, listed.error);
      if (!isCurrent()) return false;
      table.setServer(server, listed.data);
      this.#discovered.add(server);
      tell('tools.discovery.server.success', { serverName: server, toolCount: listed.data.length }, traceId);
      return true;
    } catch (error) {
      tell('tools.discovery.server.failed', { serverName: server, errorMessage: messageOf(error) }, traceId);
      if (isCurrent() && !table.hasServer(server)) await this.#recall(server, servers, isCurrent);
      throw error;
    }
  }

  /** A server that is away now may be known from an earlier run or from the configuration. It stays due. */
  async #recall(server: string, servers: ToolServers, isCurrent: () => boolean): Promise<void> {
    const unseen = await servers.unseen?.();
    if (unseen === undefined || unseen.includes(server)) return;
    const known = await definitionsOf(servers, server);
    if (!known.success || known.data.length === 0 || !isCurrent()) return;
    this.#options.table.setServer(server, known.data);
    this.#discovered.add(server);
  }
}

/** A server's tools, with the examples that a configuration gives of them. */
async function definitionsOf(servers: ToolServers, server: string): Promise<ToolResult<readonly ToolDefinition[]>> {
  const listed = await servers.definitionsOf(server);
  const shown = listed.success ? await servers.toolsOf?.(server) : undefined;
  if (!listed.success || !shown?.success) return listed;
  const examples = new Map(shown.data.map((tool) => [tool.name, tool.examples ?? []]));
  return ok(
    listed.data.map((tool) => {
      const own = examples.get(tool.name) ?? [];
      return own.length > 0 ? { ...tool, examples: own } : tool;
    }),
  );
}

/**
 * Knows what each connection to a server that needs approval lists now. A connection is asked before its first call,
 * after its server has announced a change, and again after a while, because a server need not announce one.
 * @module
 */
import type { McpConnection } from '../connections/mcp-connection.ts';
import type { ToolList } from '../connections/tool-list.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolDefinition } from '../core/types.ts';

interface Confirmed {
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** The changes that its server had announced when it was asked. */
  readonly changes: number;
  readonly at: number;
}

export class ConfirmedLists<List extends Pick<ToolList, 'tools'>> {
  readonly #ask: (connection: McpConnection) => Promise<List>;
  readonly #now: () => number;
  readonly #lists = new WeakMap<McpConnection, Confirmed>();
  readonly #readings = new WeakMap<McpConnection, Promise<List>>();
  /** How many changes each server has announced. */
  readonly #changes = new Map<string, number>();

  constructor(ask: (connection: McpConnection) => Promise<List>, now: () => number) {
    this.#ask = ask;
    this.#now = now;
  }

  /** Records that a server has announced a change. */
  outdate(server: string): void {
    this.#changes.set(server, this.#changesOf(server) + 1);
  }

  /** Asks a connection for its list. */
  async read(connection: McpConnection): Promise<List> {
    const changes = this.#changesOf(connection.server);
    const list = await this.#ask(connection);
    const tools = new Map(list.tools.map((tool) => [tool.name, tool]));
    this.#lists.set(connection, { tools, changes, at: this.#now() });
    return list;
  }

  /** Returns a tool as the connection lists it now. Rejects if it cannot be asked. */
  async definition(connection: McpConnection, tool: string): Promise<ToolDefinition | undefined> {
    // A server that announces a change with every list is taken at its last one.
    for (let asked = 0; asked < LIMITS.approvals.confirmations && !this.#isCurrent(connection); asked++) {
      const reading = this.#readings.get(connection) ?? this.read(connection);
      this.#readings.set(connection, reading);
      await reading.finally(() => this.#readings.delete(connection));
    }
    return this.#lists.get(connection)?.tools.get(tool);
  }

  #isCurrent(connection: McpConnection): boolean {
    const known = this.#lists.get(connection);
    if (known === undefined || known.changes !== this.#changesOf(connection.server)) return false;
    return this.#now() - known.at < LIMITS.age.confirmed;
  }

  #changesOf(server: string): number {
    return this.#changes.get(server) ?? 0;
  }
}

/**
 * Connects to MCP servers one by one and calls their tools, for programs that have no configuration.
 * @module
 */
import type { RemoteConfig, StdioConfig } from '../config/define-config.ts';
import type { ExecuteOptions, ExecutionEvents } from '../execution/tool-executor.ts';
import { EngineCore, type ExecutionResult } from './engine-core.ts';
import type { EngineOptions } from './engine-world.ts';

/**
 * A view of an engine whose servers come and go with `connect` and `disconnect`. Calls take the engine's whole pipeline:
 * validation, limits, retries, timeouts. Touches no disk.
 * @example
 * await using proxy = new ToolExecutionProxy();
 * await proxy.connect('files', { type: 'stdio', command: 'npx', args: ['-y', 'some-files-server'] });
 * const result = await proxy.execute('files', 'read_file', { path: 'notes.txt' });
 */
export class ToolExecutionProxy implements AsyncDisposable {
  readonly #servers = new Map<string, StdioConfig | RemoteConfig>();
  readonly #core: EngineCore;
  /** The last change of the servers. Each waits for the one before. */
  #changing: Promise<unknown> = Promise.resolve();

  /** Takes environment, clock, log and network; each has a real default. */
  constructor(options: EngineOptions = {}) {
    const servers = () => [...this.#servers].map(([name, connection]) => ({ name, connection }));
    const config = {
      // Read again on every reload.
      get servers() {
        return servers();
      },
    };
    this.#core = new EngineCore(config, options, 'memory');
  }

  /**
   * Connects to a server, in place of an earlier one of that name. Throws `ServerConnectionError` if it cannot be reached,
   * and `ConfigurationError` for a connection that cannot be used.
   */
  async connect(server: string, config: StdioConfig | RemoteConfig): Promise<void> {
    await this.#change(async () => {
      const before = this.#servers.get(server);
      this.#servers.set(server, config);
      try {
        await this.#core.reload();
      } catch (error) {
        if (before) this.#servers.set(server, before);
        else this.#servers.delete(server);
        throw error;
      }
    });
    await this.#core.connections.connect(server);
  }

  /** Closes the connection to a server and forgets the server. Does nothing for a server that is not known. */
  disconnect(server: string): Promise<void> {
    return this.#change(async () => {
      if (!this.#servers.delete(server)) return;
      await this.#core.connections.disconnect(server);
      await this.#core.reload();
    });
  }

  /** Whether a connection to the server is open. */
  isConnected(server: string): boolean {
    return this.#core.connections.isConnected(server);
  }

  /** Calls a tool. Connects again if the connection was lost. Never throws. */
  execute(server: string, tool: string, args?: unknown, options?: ExecuteOptions): Promise<ExecutionResult> {
    return this.#core.executeTool(server, tool, args, options);
  }

  /** `execute` with its progress, then exactly one result. Leaving the loop cancels the call. */
  executeStream(server: string, tool: string, args?: unknown, options?: ExecuteOptions): ExecutionEvents {
    return this.#core.executeStream(server, tool, args, options);
  }

  /** Closes connections and processes. Running calls get a grace period. */
  close(): Promise<void> {
    return this.#change(async () => {
      this.#servers.clear();
      await this.#core.close();
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Applies one change after the other, so that an invalid connection fails only its own `connect`. */
  #change(change: () => Promise<void>): Promise<void> {
    const changed = this.#changing.then(change);
    this.#changing = changed.catch(() => {});
    return changed;
  }
}

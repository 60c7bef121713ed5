/**
 * Keeps subscriptions to resources of one server, and the connection that carries them. A URI is subscribed once,
 * however many clients watch it.
 * @module
 */

import { INVALID_PARAMS, JsonRpcError } from '../connections/json-rpc.ts';
import type { McpConnection } from '../connections/mcp-connection.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';

interface Watch {
  watchers: number;
  /** Ends the subscription. */
  readonly stop: Promise<() => void>;
}

/** The resources that a client listens to. */
export const urisIn = ({ notifications }: Readonly<Record<string, unknown>>): string[] => {
  const { resourceSubscriptions: uris } = Object(notifications) as Readonly<Record<string, unknown>>;
  return Array.isArray(uris) ? [...new Set(uris)].filter((uri) => typeof uri === 'string') : [];
};

/** What a client listens to, without the resources that it may not watch. */
export async function withAllowedUris<P extends Readonly<Record<string, unknown>>>(
  params: P,
  mayWatch: (uri: string) => Promise<boolean>,
): Promise<P> {
  const uris = urisIn(params).slice(0, LIMITS.wire.watched);
  if (uris.length === 0) return params;
  const allowed = await Promise.all(uris.map((uri) => mayWatch(uri).catch(() => false)));
  const notifications = { ...Object(params.notifications), resourceSubscriptions: uris.filter((_, at) => allowed[at]) };
  return { ...params, notifications };
}

export class WatchedResources {
  readonly #engine: EngineCore;
  readonly #server: string;
  readonly #watches = new Map<string, Watch>();

  constructor(engine: EngineCore, server: string) {
    this.#engine = engine;
    this.#server = server;
  }

  has(uri: string): boolean {
    return this.#watches.has(uri);
  }

  /** Subscribes to a resource that the rules allow. Resolves with how to end that; rejects if the server refuses. */
  async watch(uri: string, caller: Caller = {}, onNotification?: McpConnection['onNotification']): Promise<() => void> {
    await this.#requireAllowed(uri, caller);
    const known = this.#watches.get(uri);
    if (!known && this.#watches.size >= LIMITS.wire.watched)
      throw new JsonRpcError(INVALID_PARAMS, `More than ${LIMITS.wire.watched} resources are watched.`);
    const watch = known ?? { watchers: 0, stop: this.#start(uri, caller, onNotification) };
    watch.watchers++;
    this.#watches.set(uri, watch);
    try {
      await watch.stop;
    } catch (error) {
      if (this.#watches.get(uri) === watch) this.#watches.delete(uri);
      throw error;
    }
    return () => {
      if (--watch.watchers === 0 && this.#watches.get(uri) === watch) this.unwatch(uri);
    };
  }

  /** Ends the subscription to a resource, if there is one. */
  unwatch(uri: string): void {
    const watch = this.#watches.get(uri);
    this.#watches.delete(uri);
    watch?.stop.then(
      (stop) => stop(),
      () => {},
    );
  }

  close(): void {
    for (const uri of this.#watches.keys()) this.unwatch(uri);
  }

  /** Another client may watch what this caller may not. */
  async #requireAllowed(uri: string, caller: Caller): Promise<void> {
    if (!(await this.#engine.items.allows(this.#server, { kind: 'resource', id: uri }, { caller })))
      throw new JsonRpcError(INVALID_PARAMS, `A rule disables resource ${uri}.`, { code: 'TOOL_DISABLED' });
  }

  async #start(uri: string, caller: Caller, onNotification: McpConnection['onNotification']): Promise<() => void> {
    // The lease keeps the connection from being closed as idle.
    const { connection, release } = await this.#engine.connections.lease(this.#server, caller);
    try {
      if (onNotification) connection.onNotification = onNotification;
      const stop = await connection.watchResource(uri);
      return () => {
        stop();
        release();
      };
    } catch (error) {
      release();
      throw error;
    }
  }
}

/**
 * Keeps subscriptions to resources of one server, and the connections that carry them. A URI is subscribed once over
 * each, however many clients watch it.
 * @module
 */

import { INVALID_PARAMS, JsonRpcError } from '../connections/json-rpc.ts';
import type { McpConnection } from '../connections/mcp-connection.ts';
import { turnKey } from '../core/fair-share.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { requireItem } from './item-requests.ts';
import { WatchRoom } from './watch-room.ts';

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

/** Keeps a part of the resources that a client listens to. */
export const withUris = (params: Readonly<Record<string, unknown>>, uris: readonly string[]) => ({
  ...params,
  notifications: { ...Object(params.notifications), resourceSubscriptions: uris },
});

/**
 * Begins the work on each resource, and lets other work have its turn in between: a request may name a thousand. Returns
 * how to end what was begun.
 */
export function watchEach(uris: readonly string[], watch: (uri: string) => Promise<() => void>): () => void {
  const begun: Promise<() => void>[] = [];
  let isOver = false;
  void inTurns(uris, (uri) => {
    if (!isOver) begun.push(watch(uri).catch(() => () => {}));
  });
  return () => {
    isOver = true;
    for (const one of begun) void one.then((end) => end());
  };
}

async function inTurns(uris: readonly string[], work: (uri: string) => unknown): Promise<void> {
  for (const [at, uri] of uris.entries()) {
    if (at > 0 && at % LIMITS.wire.watchedAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    work(uri);
  }
}

/**
 * Returns a client's subscription without the resources that the client may not use. This is needed because updates go
 * to every client that named the resource, whichever client subscribed to it at the server.
 */
export async function withAllowed(
  params: Readonly<Record<string, unknown>>,
  require: (uri: string) => Promise<void>,
): Promise<Readonly<Record<string, unknown>>> {
  const uris = urisIn(params).slice(0, LIMITS.wire.watched);
  if (uris.length === 0) return params;
  const answers: Promise<boolean>[] = [];
  await inTurns(uris, (uri) => {
    answers.push(
      require(uri).then(
        () => true,
        () => false,
      ),
    );
  });
  const isAllowed = await Promise.all(answers);
  return withUris(
    params,
    uris.filter((_, at) => isAllowed[at]),
  );
}

export class WatchedResources {
  readonly #engine: EngineCore;
  readonly #server: string;
  readonly #watches = new Map<string, Watch>();
  readonly #room = new WatchRoom();

  constructor(engine: EngineCore, server: string) {
    this.#engine = engine;
    this.#server = server;
  }

  /** Subscribes to a resource that the caller may use. Resolves with how to end that; rejects if the server refuses. */
  async watch(uri: string, caller: Caller, onNotification?: McpConnection['onNotification']): Promise<() => void> {
    const client = turnKey(caller);
    if (this.#room.take(client, 1) === 0)
      throw new JsonRpcError(INVALID_PARAMS, 'Too many resources are watched. End other subscriptions first.');
    const leave = () => this.#room.leave(client, 1);
    try {
      const stop = await this.#share(uri, caller, onNotification);
      return () => {
        leave();
        stop();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #share(uri: string, caller: Caller, onNotification: McpConnection['onNotification']): Promise<() => void> {
    // Checked for each caller, because rules may differ.
    await requireItem(this.#engine, this.#server, { kind: 'resource', id: uri }, caller);
    // Each user with credentials of its own has a connection of its own.
    const key = JSON.stringify([uri, await this.#engine.connections.ownerOf(this.#server, caller)]);
    const watch = this.#watches.get(key) ?? { watchers: 0, stop: this.#start(uri, caller, onNotification) };
    watch.watchers++;
    this.#watches.set(key, watch);
    const forget = () => {
      if (this.#watches.get(key) === watch) this.#watches.delete(key);
    };
    const stop = await watch.stop.catch((error: unknown) => {
      forget();
      throw error;
    });
    return () => {
      if (--watch.watchers > 0) return;
      forget();
      stop();
    };
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

/**
 * Bounds the streams on which clients wait for notifications, so that one client does not take all of them.
 * @module
 */
import type { ServerResponse } from 'node:http';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';

export class OpenStreams {
  /** The name of each stream's client. The stream that was opened first is first. */
  readonly #clients = new Map<ServerResponse, string>();

  /** Counts the stream that answers a subscription. Beyond the limit, the client with the most loses its oldest one. */
  add(body: unknown, client: string, response: ServerResponse): void {
    if (!isObject(body) || body.method !== 'subscriptions/listen') return;
    this.#clients.set(response, client);
    response.once('close', () => this.#clients.delete(response));
    if (this.#clients.size > LIMITS.wire.streams) this.#ofMost()?.destroy();
  }

  #ofMost(): ServerResponse | undefined {
    const held = new Map<string, { readonly oldest: ServerResponse; count: number }>();
    let most: { readonly oldest: ServerResponse; count: number } | undefined;
    for (const [oldest, client] of this.#clients) {
      const own = held.get(client) ?? { oldest, count: 0 };
      held.set(client, own);
      own.count++;
      if (own.count > (most?.count ?? 0)) most = own;
    }
    return most?.oldest;
  }
}

/**
 * Bounds the streams on which clients wait for notifications, so that one client does not take all of them.
 * @module
 */
import type { ServerResponse } from 'node:http';
import { ofMost, tally } from '../core/fair-share.ts';
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
    if (this.#clients.size <= LIMITS.wire.streams) return;
    ofMost(this.#clients, ([, name]) => name, tally(this.#clients.values()))?.[0].destroy();
  }
}

/**
 * Shares the gateway's time among HTTP clients: a client has few short requests at work at once, and the rest waits.
 * Calls have limits of their own (`execution/steps`).
 * @module
 */
import type { ServerResponse } from 'node:http';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';

/** Requests that the gateway answers itself, at once. */
const SHORT = /^(?:ping|initialize|server\/discover|[\w/]{1,100}\/list)$/;

interface Client {
  running: number;
  readonly waiting: (() => void)[];
}

export class RequestTurns {
  readonly #clients = new Map<string, Client>();

  /**
   * Serves a request now or when it is its turn. Returns false if too many of the client's requests wait already, or if
   * the request is too large to wait.
   */
  take(name: string, body: unknown, response: ServerResponse, serve: () => void): boolean {
    if (!isObject(body) || typeof body.method !== 'string' || !SHORT.test(body.method)) {
      serve();
      return true;
    }
    const client = this.#clients.get(name) ?? { running: 0, waiting: [] };
    this.#clients.set(name, client);
    const bytes = Number(response.req.headers['content-length'] ?? Number.NaN);
    const mayWait = client.waiting.length < LIMITS.wire.waitingRequests && bytes <= LIMITS.wire.shortBody;
    if (client.running >= LIMITS.wire.runningRequests && !mayWait) return false;
    client.waiting.push(() => {
      client.running++;
      response.once('close', () => {
        client.running--;
        this.#next(name, client);
      });
      if (response.destroyed) response.emit('close');
      else serve();
    });
    this.#next(name, client);
    return true;
  }

  #next(name: string, client: Client): void {
    while (client.running < LIMITS.wire.runningRequests && client.waiting.length > 0) client.waiting.shift()?.();
    if (client.running === 0) this.#clients.delete(name);
  }
}

/**
 * Shares the gateway's time among HTTP clients: one request starts in each round of the event loop, the clients in turn.
 * Most requests are answered in the round in which they start. Without this, the requests of one client that arrive
 * together would all run before anything of another client is read.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '../core/limits.ts';

export class RequestTurns {
  /** The client that has waited longest is first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isTaken = false;

  /** Settles when a request of this client may start; undefined if that is now. */
  take(client: string): Promise<void> | undefined {
    if (this.#isTaken) {
      return new Promise((start) => {
        const starts = this.#waiting.get(client) ?? [];
        starts.push(start);
        this.#waiting.set(client, starts);
      });
    }
    this.#isTaken = true;
    setImmediate(() => this.#next());
    return undefined;
  }

  #next(): void {
    const [first] = this.#waiting;
    if (!first) {
      this.#isTaken = false;
      return;
    }
    const [client, starts] = first;
    starts.shift()?.();
    this.#waiting.delete(client);
    if (starts.length > 0) this.#waiting.set(client, starts);
    setImmediate(() => this.#next());
  }
}

/** Closes connections that send many requests without waiting for an answer: Node starts all of them at once. */
export class Pipelines {
  readonly #unanswered = new WeakMap<object, number>();

  /** Returns false if the connection is closed. */
  admit({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const count = (this.#unanswered.get(socket) ?? 0) + 1;
    this.#unanswered.set(socket, count);
    response.on('close', () => this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 1) - 1));
    if (count > LIMITS.wire.pipelined) socket.destroy();
    return !socket.destroyed;
  }
}

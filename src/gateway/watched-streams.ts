/**
 * Ends the open streams of clients whose token has expired or was revoked.
 * @module
 */
import type { ServerResponse } from 'node:http';
import type { Identity } from '../auth/identity.ts';
import { LIMITS } from '../core/limits.ts';

export class WatchedStreams {
  readonly #streams = new Map<ServerResponse, Identity | undefined>();
  readonly #isStillValid: (identity: Identity | undefined) => boolean;
  #timer: NodeJS.Timeout | undefined;

  constructor(isStillValid: (identity: Identity | undefined) => boolean) {
    this.#isStillValid = isStillValid;
  }

  /** Watches the stream of a client until it is closed. */
  add(response: ServerResponse, identity: Identity | undefined): void {
    this.#streams.set(response, identity);
    response.once('close', () => {
      this.#streams.delete(response);
      if (this.#streams.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
    this.#timer ??= setInterval(() => this.#look(), LIMITS.pace.stamp).unref();
  }

  /** Ends all streams. Clients open them again, at another gateway if there is one. */
  endAll(): void {
    for (const response of [...this.#streams.keys()]) response.end();
  }

  #look(): void {
    for (const [response, identity] of [...this.#streams]) if (!this.#isStillValid(identity)) response.destroy();
  }
}

/**
 * Ends streams whose client would not be let in any more: a token that expired or was revoked gets no further news.
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

  /** Ends all of them. Clients open them again, elsewhere if there is another gateway. */
  endAll(): void {
    for (const response of [...this.#streams.keys()]) response.end();
  }

  #look(): void {
    for (const [response, identity] of [...this.#streams]) if (!this.#isStillValid(identity)) response.destroy();
  }
}

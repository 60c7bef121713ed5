/**
 * Shares the gateway's time among HTTP clients: in each round of the event loop requests start for a short time, the
 * clients in turn. Without this, the requests of one client that arrive together would all run before anything of
 * another client is read.
 * @module
 */
import { elapsedNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';

export class RequestTurns {
  /** The client that has waited longest is first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isTaken = false;
  /** When the first request of this round started. */
  #began = 0;

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
    setImmediate(this.#round);
    return undefined;
  }

  readonly #round = (): void => {
    if (this.#waiting.size === 0) {
      this.#isTaken = false;
      return;
    }
    this.#began = elapsedNow();
    this.#start();
    setImmediate(this.#round);
    // Node finishes what one of these has begun before it calls the next.
    for (let more = 1; more < LIMITS.wire.starts; more++) setImmediate(this.#goOn);
  };

  readonly #goOn = (): void => {
    if (this.#waiting.size > 0 && elapsedNow() - this.#began < LIMITS.slice.starts) this.#start();
  };

  #start(): void {
    for (const [client, starts] of this.#waiting) {
      starts.shift()?.();
      this.#waiting.delete(client);
      if (starts.length > 0) this.#waiting.set(client, starts);
      return;
    }
  }
}

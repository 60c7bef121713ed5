/**
 * Bounds the memory of request bodies that are still being read, over all connections.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

interface Held {
  readonly bytes: number;
  readonly giveUp: () => void;
}

/** Holds the sizes of bodies that are being read. When they exceed the limit, the one that stalls longest is given up. */
export class BodyRoom {
  /** The body that received bytes last is last. */
  readonly #held = new Map<object, Held>();
  #bytes = 0;

  /** Notes that `body` holds `bytes` now. Short bodies cost no more than their connection and are never given up. */
  hold(body: object, bytes: number, giveUp: () => void): void {
    if (bytes <= LIMITS.wire.shortBody) return;
    this.leave(body);
    this.#held.set(body, { bytes, giveUp });
    this.#bytes += bytes;
    for (const [other, { giveUp }] of this.#held) {
      if (this.#bytes <= LIMITS.wire.bodies) return;
      this.leave(other);
      giveUp();
    }
  }

  leave(body: object): void {
    this.#bytes -= this.#held.get(body)?.bytes ?? 0;
    this.#held.delete(body);
  }
}

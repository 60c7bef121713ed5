/**
 * Bounds the memory that several holders share, for example request bodies that are being read.
 * @module
 */

interface Held {
  readonly bytes: number;
  readonly giveUp: () => void;
}

/** A number of bytes. When the holders exceed it, the holder that has grown least recently gives up its part. */
export class ByteRoom {
  readonly #most: number;
  /** Least recently grown first. */
  readonly #held = new Map<object, Held>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Notes that `holder` has `bytes` now. `giveUp` is called if it has to free them. */
  hold(holder: object, bytes: number, giveUp: () => void): void {
    this.leave(holder);
    this.#held.set(holder, { bytes, giveUp });
    this.#bytes += bytes;
    for (const [other, { giveUp }] of this.#held) {
      if (this.#bytes <= this.#most) return;
      this.leave(other);
      giveUp();
    }
  }

  leave(holder: object): void {
    this.#bytes -= this.#held.get(holder)?.bytes ?? 0;
    this.#held.delete(holder);
  }
}

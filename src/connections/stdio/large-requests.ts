/**
 * Sends large requests to a local server one at a time; callers take turns.
 *
 * A local server reads its requests in order, so a short one waits for all before it. At most one of those is large,
 * until it is answered or times out. A slow tool does not stop others from sending.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import type { JsonRpcId } from '../json-rpc.ts';

interface Waiting {
  readonly id: JsonRpcId;
  readonly text: string;
}

export class LargeRequests {
  readonly #write: (text: string, taken: () => void) => void;
  /** By caller; the next turn comes first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #current: JsonRpcId | undefined;
  #timer: NodeJS.Timeout | undefined;
  #chars = 0;

  /** `write` reports when the server has taken the text. */
  constructor(write: (text: string, taken: () => void) => void) {
    this.#write = write;
  }

  /** Whether a request has its turn. */
  get isBusy(): boolean {
    return this.#current !== undefined;
  }

  /** Characters that wait. */
  get chars(): number {
    return this.#chars;
  }

  /** Writes a request when it is its turn. */
  send(caller: string, id: JsonRpcId, text: string): void {
    if (this.#current === undefined) return this.#begin({ id, text });
    const own = this.#waiting.get(caller) ?? [];
    this.#waiting.set(caller, own);
    own.push({ id, text });
    this.#chars += text.length;
  }

  /** Notes that the answer has arrived. The turn lasts until it is read. */
  arriving(id: JsonRpcId): void {
    if (id === this.#current) clearTimeout(this.#timer);
  }

  /** Notes that a request was answered, large or not. */
  answered(id: JsonRpcId): void {
    if (id === this.#current) this.#next();
  }

  /** Withdraws a waiting request; false when it was sent already. */
  withdraw(id: unknown): boolean {
    for (const own of this.#waiting.values()) {
      const at = own.findIndex((one) => one.id === id);
      if (at === -1) continue;
      for (const { text } of own.splice(at, 1)) this.#chars -= text.length;
      return true;
    }
    return false;
  }

  /** Stops all writing. */
  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #begin({ id, text }: Waiting): void {
    this.#current = id;
    this.#write(text, () => {
      if (id === this.#current) this.#timer = setTimeout(() => this.answered(id), LIMITS.slice.request).unref();
    });
  }

  #next(): void {
    clearTimeout(this.#timer);
    this.#current = undefined;
    for (const [caller, own] of this.#waiting) {
      const first = own.shift();
      this.#waiting.delete(caller);
      if (first === undefined) continue;
      if (own.length > 0) this.#waiting.set(caller, own);
      this.#chars -= first.text.length;
      return this.#begin(first);
    }
  }
}

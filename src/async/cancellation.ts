/**
 * How a call learns that nobody waits for it any more: what can be listened to, and the one who says so. Does what an
 * `AbortController` does at a fraction of the work: every call has three of them (`npm run bench:gateway` times calls).
 * @module
 */

/** Tells once that a call is no longer wanted, and why. Every `AbortSignal` is one. */
export interface CallSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A signal that its owner aborts, or whatever it follows. */
export class Cancellation implements CallSignal {
  aborted = false;
  reason: unknown;
  readonly #followed: CallSignal | undefined;
  readonly #onAbort: (() => void) | undefined;
  #listeners: (() => void)[] = [];

  /** Aborts with what it follows, if anything. */
  constructor(followed?: CallSignal) {
    if (followed === undefined) return;
    this.#followed = followed;
    if (followed.aborted) {
      this.abort(followed.reason);
      return;
    }
    this.#onAbort = () => this.abort(followed.reason);
    followed.addEventListener('abort', this.#onAbort);
  }

  /** Tells all who listen, the first time it is called. */
  abort(reason: unknown = new Error('cancelled')): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    // As an `AbortSignal` does it: also for Node's own `fetch`, which may be handed this one.
    const event = { type: 'abort', target: this, currentTarget: this };
    for (const listener of listeners) {
      try {
        Reflect.apply(listener, this, [event]);
      } catch (error) {
        // Not the fault of those who come after it.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** No longer aborts with what it follows. */
  unfollow(): void {
    if (this.#onAbort !== undefined) this.#followed?.removeEventListener('abort', this.#onAbort);
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.lastIndexOf(listener);
    // Mostly it is the one that came last.
    if (at === this.#listeners.length - 1) this.#listeners.pop();
    else if (at !== -1) this.#listeners.splice(at, 1);
  }
}

/** The same as an `AbortSignal`, for those who hand it to Node or to somebody else's code. */
export function toAbortSignal(signal: CallSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener('abort', () => controller.abort(signal.reason));
  return controller.signal;
}

/**
 * Cancels calls. Does what `AbortController` does at a fraction of the cost: every call has three of these signals
 * (`npm run bench:gateway` times calls).
 * @module
 */

/** Signals once that a call is cancelled, and why. Every `AbortSignal` is one. */
export interface CallSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A signal that its owner aborts, or the signal it follows. */
export class Cancellation implements CallSignal {
  aborted = false;
  reason: unknown;
  readonly #followed: CallSignal | undefined;
  readonly #onAbort: (() => void) | undefined;
  #listeners: (() => void)[] = [];

  /** Follows another signal, if given, and aborts with it. */
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

  /** Aborts, once, and calls all listeners. */
  abort(reason: unknown = new Error('cancelled')): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    // With an event, as `AbortSignal` does: Node's own `fetch` may be given this signal.
    const event = { type: 'abort', target: this, currentTarget: this };
    for (const listener of listeners) {
      try {
        Reflect.apply(listener, this, [event]);
      } catch (error) {
        // A throwing listener must not affect the others.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** Stops following the other signal. */
  unfollow(): void {
    if (this.#onAbort !== undefined) this.#followed?.removeEventListener('abort', this.#onAbort);
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.lastIndexOf(listener);
    // Usually the latest listener is removed.
    if (at === this.#listeners.length - 1) this.#listeners.pop();
    else if (at !== -1) this.#listeners.splice(at, 1);
  }
}

/** Converts to an `AbortSignal`, for Node and third-party code. */
export function toAbortSignal(signal: CallSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener('abort', () => controller.abort(signal.reason));
  return controller.signal;
}

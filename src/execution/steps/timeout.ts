/**
 * Ends a call that is silent for too long, takes too long or is cancelled. Every call settles exactly once here, even
 * if the steps below never answer; a later answer is dropped. While a server waits for an answer from the caller, its
 * idle time is not counted.
 * @module
 */

import { Cancellation } from '../../async/cancellation.ts';
import { DEFAULTS } from '../../core/limits.ts';
import { fail, type ToolResult, toFailure } from '../../core/result.ts';
import type { CallToolResult, IdleClock, Progress, ToolCall } from '../../core/types.ts';
import { abortFailure } from '../abort.ts';
import { type Handler, nameOf, type Step } from '../pipeline.ts';
import { type Clock, systemClock } from '../timers.ts';
import { Watchdog, type Watched } from '../watchdog.ts';

/** How long a call may be idle, and how long it may take. */
interface TimeoutOptions {
  /** Idle timeout in ms; progress resets it. Default 60 s. */
  readonly idle?: number | undefined;
  /** The longest a call may take, even with progress. Default 10 min. */
  readonly ceiling?: number | undefined;
  /** Returns a server's own idle timeout, if configured. */
  readonly idleOf?: ((server: string) => number | undefined) | undefined;
  readonly clock?: Clock | undefined;
}

/** Creates the step. A caller's own deadline replaces both limits. */
export function timeout(options: TimeoutOptions = {}): Step {
  const {
    idle = DEFAULTS.limits.callIdle,
    ceiling = DEFAULTS.limits.callCeiling,
    idleOf,
    clock = systemClock,
  } = options;
  const watchdog = new Watchdog(clock);
  return (next) => (call) => {
    if (call.signal.aborted) return Promise.resolve(abortFailure(call, 'not_sent'));
    const now = clock.now();
    if (call.deadline !== undefined && call.deadline <= now) return Promise.resolve(tooLate(call));
    const watched =
      call.deadline === undefined
        ? new WatchedCall(call, clock, watchdog, now, now + ceiling, idleOf?.(call.server) ?? idle)
        : new WatchedCall(call, clock, watchdog, now, Math.min(call.deadline, now + ceiling), Number.POSITIVE_INFINITY);
    return watched.run(next);
  };
}

const tooLate = (call: ToolCall): ToolResult<never> =>
  fail(
    'TOOL_EXECUTION_TIMEOUT',
    `The deadline for ${nameOf(call)} passed before it could be called; nothing was sent.`,
    { server: call.server, tool: call.tool, outcome: 'not_sent' },
  );

/** One watched call: its timer, the derived signal and the single answer. */
class WatchedCall implements Watched, IdleClock {
  readonly #call: ToolCall;
  readonly #clock: Clock;
  readonly #watchdog: Watchdog;
  readonly #started: number;
  readonly #end: number;
  readonly #idle: number;
  readonly #below = new Cancellation();
  readonly #onAbort = () => this.#cancel();
  #lastSign: number;
  #pauses = 0;
  #resolve: ((result: ToolResult<CallToolResult>) => void) | undefined;

  constructor(call: ToolCall, clock: Clock, watchdog: Watchdog, started: number, end: number, idle: number) {
    this.#call = call;
    this.#clock = clock;
    this.#watchdog = watchdog;
    this.#started = started;
    this.#lastSign = started;
    this.#end = end;
    this.#idle = idle;
  }

  run(next: Handler): Promise<ToolResult<CallToolResult>> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      try {
        next({ ...this.#call, signal: this.#below, onProgress: this.#onProgress, idleClock: this }).then(
          this.#settle,
          this.#fail,
        );
      } catch (thrown) {
        this.#fail(thrown);
        return;
      }
      // Safe after sending: the answer comes in a later turn of the event loop at the earliest.
      const { signal } = this.#call;
      if (signal.aborted) return this.#cancel();
      signal.addEventListener('abort', this.#onAbort);
      this.#watchdog.add(this);
    });
  }

  /** When the idle timeout or the ceiling is reached. */
  get due(): number {
    return this.#pauses > 0 ? this.#end : Math.min(this.#lastSign + this.#idle, this.#end);
  }

  pause(): void {
    this.#pauses++;
    this.#call.idleClock?.pause();
  }

  resume(): void {
    this.#pauses--;
    this.#call.idleClock?.resume();
    this.#lastSign = this.#clock.now();
    // `due` may be earlier now, so the watchdog must be told.
    if (this.#pauses === 0 && this.#resolve !== undefined) this.#watchdog.add(this);
  }

  readonly #fail = (thrown: unknown): void => {
    this.#settle(toFailure(thrown, { server: this.#call.server, tool: this.#call.tool }));
  };

  readonly #onProgress = (progress: Progress): void => {
    if (this.#resolve === undefined) return;
    // Only moves `due`. The watchdog reads it when the old one passes, so many notifications cost nothing.
    this.#lastSign = this.#clock.now();
    this.#call.onProgress?.(progress);
  };

  expire(now: number): void {
    const { server, tool } = this.#call;
    const seconds = Math.round((now - this.#started) / 100) / 10;
    const silent = now + 1 < this.#end;
    const what = silent
      ? `was silent for ${Math.round((now - this.#lastSign) / 100) / 10} s`
      : `took over ${seconds} s`;
    const failure = fail(
      'TOOL_EXECUTION_TIMEOUT',
      `${nameOf(this.#call)} ${what} and was given up. It may still have taken effect: check before calling it again.`,
      { server, tool, outcome: 'unknown' },
    );
    this.#settle(failure);
    this.#below.abort(new Error('timed out'));
  }

  #cancel(): void {
    const { signal } = this.#call;
    this.#settle(abortFailure(this.#call, 'unknown'));
    this.#below.abort(signal.reason);
  }

  readonly #settle = (result: ToolResult<CallToolResult>): void => {
    const resolve = this.#resolve;
    if (resolve === undefined) return;
    this.#resolve = undefined;
    this.#watchdog.delete(this);
    this.#call.signal.removeEventListener('abort', this.#onAbort);
    resolve(result);
  };
}

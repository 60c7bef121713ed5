/**
 * Throttles progress notifications to what an agent can use: at most 20 a second, never backwards, none after the
 * result, and always the last one before it.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import type { Progress, ToolCall } from '../../core/types.ts';
import type { Step } from '../pipeline.ts';
import { type Clock, systemClock, type Timer } from '../timers.ts';

/** How progress is throttled. */
interface ProgressOptions {
  /** The shortest interval between two notifications of one call, in ms. Default 50. */
  readonly interval?: number | undefined;
  /** Called when a caller's listener throws; that listener gets no more notifications of its call. */
  readonly report?: ((thrown: unknown) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** Thins out the progress of each call. */
export function progress(options: ProgressOptions = {}): Step {
  const { interval = LIMITS.pace.progress, report, clock = systemClock } = options;
  return (next) => {
    const thinned = async (call: ToolCall, onProgress: (note: Progress) => void) => {
      const notes = new ThinnedProgress(onProgress, interval, clock, report);
      try {
        return await next({ ...call, onProgress: notes.take });
      } finally {
        notes.close();
      }
    };
    return (call) => (call.onProgress === undefined ? next(call) : thinned(call, call.onProgress));
  };
}

class ThinnedProgress {
  readonly #deliver: (progress: Progress) => void;
  readonly #interval: number;
  readonly #clock: Clock;
  readonly #report: ((thrown: unknown) => void) | undefined;
  #highest = Number.NEGATIVE_INFINITY;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #held: Progress | undefined;
  #timer: Timer | undefined;
  #closed = false;

  constructor(
    deliver: (progress: Progress) => void,
    interval: number,
    clock: Clock,
    report: ((thrown: unknown) => void) | undefined,
  ) {
    this.#deliver = deliver;
    this.#interval = interval;
    this.#clock = clock;
    this.#report = report;
  }

  readonly take = (note: Progress): void => {
    if (this.#closed || !Number.isFinite(note?.progress) || note.progress < this.#highest) return;
    this.#highest = note.progress;
    this.#held = note;
    if (this.#timer !== undefined) return;
    const wait = this.#quietUntil - this.#clock.now();
    if (wait <= 0) this.#flush();
    else this.#timer = this.#clock.after(wait, this.#flush);
  };

  close(): void {
    this.#flush();
    this.#closed = true;
  }

  readonly #flush = (): void => {
    this.#timer?.clear();
    this.#timer = undefined;
    const note = this.#held;
    if (note === undefined || this.#closed) return;
    this.#held = undefined;
    this.#quietUntil = this.#clock.now() + this.#interval;
    try {
      this.#deliver(clean(note));
    } catch (thrown) {
      // A listener's error must reach neither the connection nor, from the timer, the process.
      this.#closed = true;
      this.#report?.(thrown);
    }
  };
}

function clean(note: Progress): Progress {
  const { progress, total, message } = note;
  return {
    progress,
    ...(Number.isFinite(total) && { total }),
    ...(typeof message === 'string' && { message: message.slice(0, LIMITS.text.message) }),
  };
}

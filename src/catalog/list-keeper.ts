/**
 * Keeps one list fresh: decides when to read it, shares one reading among all callers, bounds their wait and backs off
 * after failures. The list itself stays with the owner, which keeps the last good one.
 * @module
 */
import { type BackOff, pauseAfter } from '../async/back-off.ts';
import { ageSince } from '../async/clock.ts';
import { waitAtMost } from '../async/time-limit.ts';

/** How a reading reports to its keeper. */
export interface Attempt<Failure> {
  /** False once the list was invalidated: the result of this reading no longer counts. */
  readonly isCurrent: () => boolean;
  /** Records why an attempt failed, if another follows. With `isWorthWaiting` false, callers stop waiting. */
  readonly failed: (failure: Failure, isWorthWaiting: boolean) => void;
  /** Announces the next attempt. New callers wait for it. */
  readonly next: () => void;
}

interface ListKeeperOptions<Failure, Context> {
  /** Reads the list and resolves with whether it is complete. A rejection is a failure. */
  readonly read: (attempt: Attempt<Failure>, context: Context) => Promise<boolean>;
  readonly toFailure: (thrown: unknown) => Failure;
  /** Tells whether a list of this age is stale. The age is Infinity for a list that was never read here. */
  readonly isStale: (ageMs: number) => boolean;
  /** The pause after a reading that failed or was incomplete. */
  readonly retry: BackOff;
  /** Milliseconds that never run backwards. */
  readonly now: () => number;
  /** A failure of an earlier process. */
  readonly failure?: Failure | undefined;
}

/** A running reading, of one or more attempts. Its promises never reject. */
export interface Reading {
  readonly startedAt: number;
  /** Whether the list had failed before. */
  readonly isRepeat: boolean;
  /** Settles when the list is read, or when no further attempt is worth waiting for. */
  readonly answered: Promise<void>;
  /** Whether callers were released while the reading goes on in the background. */
  readonly isAnswered: boolean;
  /** Makes new callers wait for the next attempt. */
  expectNext(): void;
  /** Resolves with whether a complete list was taken. */
  readonly done: Promise<boolean>;
}

class OpenReading implements Reading {
  readonly startedAt: number;
  readonly isRepeat: boolean;
  answered!: Promise<void>;
  answer!: () => void;
  isAnswered = true;
  done: Promise<boolean> = Promise.resolve(false);

  constructor(startedAt: number, isRepeat: boolean) {
    this.startedAt = startedAt;
    this.isRepeat = isRepeat;
    this.expectNext();
  }

  expectNext(): void {
    if (!this.isAnswered) return;
    this.isAnswered = false;
    this.answered = new Promise((resolve) => {
      this.answer = () => {
        this.isAnswered = true;
        resolve();
      };
    });
  }
}

export class ListKeeper<Failure, Context = void> {
  readonly #options: ListKeeperOptions<Failure, Context>;
  #reading: Reading | undefined;
  #failure: Failure | undefined;
  /** Readings in a row that failed or were incomplete. */
  #failures = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #heldUntil = Number.NEGATIVE_INFINITY;
  /** How often the list was marked as out of date, and how many of these marks the last reading has seen. */
  #marks = 0;
  #seenMarks = 0;
  /** Whether a reading has ended, successfully or not, since the list was last invalidated. */
  #isSettled = false;

  constructor(options: ListKeeperOptions<Failure, Context>) {
    this.#options = options;
    this.#failure = options.failure;
  }

  /** Why the last attempt failed, until one succeeds. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  get reading(): Reading | undefined {
    return this.#reading;
  }

  /** Whether the list is stale or known to have changed. */
  get isOld(): boolean {
    const { isStale, now } = this.#options;
    return this.#marks > this.#seenMarks || isStale(ageSince(this.#readAt, now()));
  }

  /** Whether to read the list now: it is old, is not being read, and has no recent failure. */
  get isDue(): boolean {
    return this.#reading === undefined && this.isOld && this.#options.now() >= this.#heldUntil;
  }

  /** Starts a reading, or joins the running one. */
  read(context: Context): Reading {
    if (this.#reading) return this.#reading;
    const { read, toFailure, now } = this.#options;
    const reading = new OpenReading(now(), this.#failure !== undefined);
    // Set first: a source may ask for this list while listing.
    this.#reading = reading;
    const isCurrent = () => this.#reading === reading;
    const marks = this.#marks;
    const failed = (failure: Failure, isWorthWaiting: boolean): void => {
      if (isCurrent()) this.#failure = failure;
      if (!isWorthWaiting) reading.answer();
    };
    const ended = (isWhole: boolean, failure?: Failure): boolean => {
      const counts = isCurrent();
      if (counts) this.#end(isWhole, failure, marks);
      reading.answer();
      return counts && isWhole;
    };
    const run = async (): Promise<boolean> => read({ isCurrent, failed, next: () => reading.expectNext() }, context);
    reading.done = run().then(
      (isWhole) => ended(isWhole),
      (thrown) => ended(false, toFailure(thrown)),
    );
    return reading;
  }

  /**
   * Starts a reading if one is due. Returns undefined if callers need not wait; otherwise a promise that settles with
   * the reading, after at most `ms`.
   */
  fresh(context: Context, ms: number): Promise<unknown> | undefined {
    if (this.isDue) this.read(context);
    return this.#reading && !this.#isSettled ? waitAtMost(this.#reading.answered, ms) : undefined;
  }

  /** Marks the list as out of date. It is read again when due, even after a running reading, which may miss the change. */
  outdate(): void {
    this.#marks++;
  }

  /** Makes the next caller read the list, regardless of earlier failures. A running reading no longer counts. */
  invalidate(): void {
    this.#reading = undefined;
    this.#marks++;
    this.#isSettled = false;
    this.#failures = 0;
    this.#heldUntil = Number.NEGATIVE_INFINITY;
  }

  /** Marks the list as read now, from elsewhere. A running reading no longer counts. */
  replaced(): void {
    this.#end(true, undefined, this.#marks);
  }

  #end(isWhole: boolean, failure: Failure | undefined, marks: number): void {
    const { now, retry } = this.#options;
    this.#reading = undefined;
    this.#isSettled = true;
    this.#failure = failure;
    this.#failures = isWhole ? 0 : this.#failures + 1;
    this.#heldUntil = isWhole ? Number.NEGATIVE_INFINITY : now() + pauseAfter(this.#failures, retry);
    if (!isWhole) return;
    this.#seenMarks = marks;
    this.#readAt = now();
  }
}

/**
 * Tells the time in two ways. `elapsedNow` measures durations and never jumps. `wallNow` dates what people and files
 * read; it may jump by days or years. `test/architecture.test.ts` lists the modules that may use it.
 * @module
 */

/** Milliseconds that never run backwards, for durations. Meaningless to another process. */
export const elapsedNow = (): number => performance.now();

/** Milliseconds since 1970, for dates. */
export const wallNow = (): number => Date.now();

/**
 * Age of a date from a wall clock. A date in the future comes from a clock that was wrong. It counts as equally old, so
 * that nothing stays fresh for ever.
 */
export const ageSince = (date: number, now: number): number => Math.abs(now - date);

/**
 * Tells the time, in two ways. What lasts is measured with `elapsedNow`, which never jumps. What people and files read is
 * dated with `wallNow`, which somebody may put back a day or ahead ten years: who may do that is a list in
 * `test/architecture.test.ts`.
 * @module
 */

/** Milliseconds that never run backwards, for durations. They mean nothing to another process. */
export const elapsedNow = (): number => performance.now();

/** Milliseconds since 1970, for dates. */
export const wallNow = (): number => Date.now();

/**
 * How old something is that was dated by a wall clock. What lies ahead was dated by a clock that was wrong, or this one is:
 * it counts as that much old, so that nothing stays fresh for ever.
 */
export const ageSince = (date: number, now: number): number => Math.abs(now - date);

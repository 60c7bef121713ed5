/**
 * Waits for others only while this process can hear them: time in which its event loop was held up does not count.
 * @module
 */

/** In how many steps the time passes. After each, what has arrived meanwhile is read first. */
const STEPS = 5;

/** Calls back after `ms`. Returns a function that stops the timer. */
export function afterLive(ms: number, fire: () => void): () => void {
  let left = STEPS;
  const step = (): void => {
    left -= 1;
    if (left === 0) fire();
    else timer = setTimeout(step, ms / STEPS);
  };
  let timer = setTimeout(step, ms / STEPS);
  return () => clearTimeout(timer);
}

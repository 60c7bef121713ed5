/**
 * Compares two texts, or two lists, from both ends.
 * @module
 */

/** Returns how much of two sequences is the same at their beginnings, and how much of the rest at their ends. */
export function sharedEnds(
  a: ArrayLike<unknown>,
  b: ArrayLike<unknown>,
): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return { head, tail };
}

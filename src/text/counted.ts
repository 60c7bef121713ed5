/**
 * Writes a number with its noun.
 * @module
 */

/** `1 tool`, `3 servers`, `2,500 tokens`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;

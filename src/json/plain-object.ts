/**
 * One question asked of every value that came from outside.
 * @module
 */

/** Whether a value is an object with named fields: no array, not null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Tells whether a value is a plain object.
 * @module
 */

/** Tells whether a value is an object with named fields: not an array, not null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

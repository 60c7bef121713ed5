/**
 * Says why a value cannot be written as JSON, within bounds. A program's own values may have getters, `toJSON` and
 * BigInts; what was parsed from JSON has none.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

/**
 * Why a value cannot be written as JSON, in words that continue "Arguments …"; undefined if it can. Never throws.
 * `tell`: describes what a getter, `toJSON` or proxy in it threw.
 */
export function jsonFault(value: unknown, tell = (_thrown: unknown): string => THREW): string | undefined {
  const walk = { left: LIMITS.json.walkedValues, written: LIMITS.json.copyValues, fault: undefined };
  try {
    find(value, LIMITS.json.depth, walk, false);
  } catch (thrown) {
    return `cannot be read: ${tell(thrown)}`;
  }
  return walk.fault;
}

interface Walk {
  /** How many values may still be looked at: a few shared objects, or a list of holes, can stand for any number. */
  left: number;
  /** How many values may still come out of `toJSON`, which can go on for ever. */
  written: number;
  fault: string | undefined;
}

/** Returns whether something is wrong. Recursion is limited by `levels`, and much faster than an explicit stack. */
function find(value: unknown, levels: number, walk: Walk, isWritten: boolean): boolean {
  if (typeof value === 'bigint') walk.fault = BIGINT;
  if (!isDeep(value) || walk.fault !== undefined) return walk.fault !== undefined;
  if (levels === 0) walk.fault = `are nested more than ${LIMITS.json.depth} levels deep, or refer to themselves`;
  else if (isWritten && --walk.written < 0) walk.fault = 'have a toJSON that writes too much';
  if (walk.fault !== undefined) return true;
  const { toJSON } = value as { toJSON?: unknown };
  // JSON asks once: what `toJSON` returns is written as it is, even if it is the same object.
  const shown: unknown = typeof toJSON === 'function' ? toJSON.call(value, '') : value;
  if (typeof shown === 'function') return false;
  if (shown !== value && (typeof shown !== 'object' || shown === null)) return find(shown, levels, walk, true);
  if (shown instanceof BigInt) walk.fault = BIGINT;
  // A text or a number in a box is asked for its value, and may throw.
  else if (shown instanceof String || shown instanceof Number) JSON.stringify(shown);
  const items: readonly unknown[] = Array.isArray(shown) ? shown : Object.values(shown as object);
  walk.left -= items.length;
  if (walk.left < 0) walk.fault = `hold more than ${LIMITS.json.walkedValues} values`;
  if (walk.fault !== undefined) return true;
  const inner = isWritten || typeof toJSON === 'function';
  for (const item of items)
    if ((isDeep(item) || typeof item === 'bigint') && find(item, levels - 1, walk, inner)) return true;
  return false;
}

const THREW = 'a getter, toJSON or proxy in them threw';
const BIGINT = 'hold a BigInt, which JSON cannot have: write it as a text or a number';

/** Whether JSON looks into a value. A function is left out, unless it has a `toJSON`. */
const isDeep = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

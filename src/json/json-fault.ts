/**
 * Says why a value cannot be written as JSON, within bounds. A program's own values may have getters, `toJSON` and
 * BigInts; what was parsed from JSON has none.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

/** Why a value cannot be written as JSON, in words that continue "Arguments …"; undefined if it can. Never throws. */
export function jsonFault(value: unknown): string | undefined {
  const walk = { written: LIMITS.json.copyValues, fault: undefined };
  try {
    find(value, LIMITS.json.depth, walk, false);
  } catch {
    return 'cannot be read: a getter, toJSON or proxy in them threw';
  }
  return walk.fault;
}

interface Walk {
  /** How many values may still come out of `toJSON`, which can go on for ever. */
  written: number;
  fault: string | undefined;
}

/** Returns whether something is wrong. Recursion is limited by `levels`, and much faster than an explicit stack. */
function find(value: unknown, levels: number, walk: Walk, isWritten: boolean): boolean {
  if (typeof value === 'bigint') walk.fault = 'hold a BigInt, which JSON cannot have: write it as a text or a number';
  if (typeof value !== 'object' || value === null || walk.fault !== undefined) return walk.fault !== undefined;
  if (levels === 0) walk.fault = `are nested more than ${LIMITS.json.depth} levels deep`;
  else if (isWritten && --walk.written < 0) walk.fault = 'have a toJSON that writes too much';
  if (walk.fault !== undefined) return true;
  const { toJSON } = value as { toJSON?: unknown };
  // JSON asks once: what `toJSON` returns is written as it is, even if it is the same object.
  const shown: unknown = typeof toJSON === 'function' ? toJSON.call(value, '') : value;
  if (shown !== value && (typeof shown !== 'object' || shown === null)) return find(shown, levels, walk, true);
  const items: readonly unknown[] = Array.isArray(shown) ? shown : Object.values(shown as object);
  const inner = isWritten || typeof toJSON === 'function';
  for (const item of items) {
    const isDeep = typeof item === 'object' && item !== null;
    if ((isDeep || typeof item === 'bigint') && find(item, levels - 1, walk, inner)) return true;
  }
  return false;
}

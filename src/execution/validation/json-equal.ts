/**
 * Compares JSON values within a budget.
 * @module
 */

/** Charges for the comparison. */
interface Payer {
  spend(steps: number): void;
}

/** Tells whether two JSON values are equal; the order of keys does not matter. */
export function deepEqual(a: unknown, b: unknown, payer: Payer): boolean {
  payer.spend(1);
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      deepEqual((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key], payer),
  );
}

/** Returns a key that two values share exactly when they are equal. */
export function uniqueKey(value: unknown, payer: Payer): unknown {
  // Strings get a quote in front, so that none looks like a serialised array or object.
  if (typeof value === 'string') return `"${value}`;
  return typeof value === 'object' && value !== null ? canonical(value, payer) : value;
}

function canonical(value: unknown, payer: Payer): string {
  payer.spend(1);
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string') payer.spend(value.length >> 6);
    return JSON.stringify(value) ?? 'null';
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, payer)).join()}]`;
  const record = value as Record<string, unknown>;
  const entries = Object.keys(record)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(record[key], payer)}`);
  return `{${entries.join()}}`;
}

/**
 * Any value in, a copy of it as plain JSON out, or why there is none. Bounded in depth and size, so that what works on
 * the copy need not be.
 * @module
 */

/** Arrays and objects inside each other. */
const MAX_DEPTH = 100;
/** Values of any kind. */
const MAX_VALUES = 100_000;
/** Characters of all texts and keys together. */
const MAX_CHARACTERS = 2_000_000;

/** What is too big or too deep to be copied. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}

/** Copies what JSON can hold and leaves out the rest; throws `CopyError` beyond the bounds, also for a value that holds itself. */
export function copyJson(value: unknown): unknown {
  return copy(value, 0, { values: MAX_VALUES, characters: MAX_CHARACTERS });
}

interface Left {
  values: number;
  characters: number;
}

function copy(value: unknown, depth: number, left: Left): unknown {
  if (--left.values < 0) throw new CopyError('it is too big');
  if (typeof value === 'string') {
    spend(value, left);
    return value;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object') return undefined;
  if (depth >= MAX_DEPTH) throw new CopyError(`it is nested more than ${MAX_DEPTH} levels deep`);
  // JSON has no holes in arrays.
  if (Array.isArray(value)) return Array.from(value, (item) => copy(item, depth + 1, left) ?? null);
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    spend(key, left);
    const copied = copy(item, depth + 1, left);
    if (copied !== undefined) entries.push([key, copied]);
  }
  // Entries, not assignment: a key may be `__proto__`.
  return Object.fromEntries(entries);
}

function spend(text: string, left: Left): void {
  left.characters -= text.length;
  if (left.characters < 0) throw new CopyError('it is too big');
}

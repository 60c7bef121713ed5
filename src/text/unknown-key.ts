/**
 * Finds misspelt keys of an object, and the keys that were meant. TypeScript reports them at compile time; in
 * JavaScript nothing else does.
 * @module
 */
import { nearestName } from './nearest-names.ts';
import { shorten } from './plain-text.ts';

interface UnknownKey {
  /** As shown in messages. */
  readonly key: string;
  /** The known key that was probably meant. */
  readonly meant: string | undefined;
}

/**
 * Returns the first unknown key with a value. Undefined values are ignored, because callers may pass on options that
 * are not set.
 */
export function unknownKey(given: object, known: readonly string[]): UnknownKey | undefined {
  const key = Object.entries(given).find(([name, value]) => value !== undefined && !known.includes(name))?.[0];
  return key === undefined ? undefined : { key: shorten(key, 64), meant: nearestName(key, known) };
}

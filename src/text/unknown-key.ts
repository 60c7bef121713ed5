/**
 * Misspelt keys: an object and the keys it may have in, the one that is wrong and the one that was meant out. Types find
 * these in TypeScript; in JavaScript nothing else does.
 * @module
 */
import { nearestName } from './nearest-names.ts';
import { shorten } from './plain-text.ts';

/** A key that nobody knows. */
export interface UnknownKey {
  /** As messages show it. */
  readonly key: string;
  /** The known key that was probably meant. */
  readonly meant: string | undefined;
}

/** The first key that is not known and says something: those who hand options on may name some that nobody has set. */
export function unknownKey(given: object, known: readonly string[]): UnknownKey | undefined {
  const key = Object.entries(given).find(([name, value]) => value !== undefined && !known.includes(name))?.[0];
  return key === undefined ? undefined : { key: shorten(key, 64), meant: nearestName(key, known) };
}

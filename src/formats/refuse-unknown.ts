/**
 * Misspelt options: an object and the keys it may have in; an error that names the wrong one and the one that was meant out.
 * Types find these in TypeScript; in JavaScript nothing else does.
 * @module
 */
import { ValidationError } from '../errors.ts';
import { nearestName } from '../nearest-names.ts';
import { shorten } from '../plain-text.ts';

/** Throws `ValidationError` for a key that is not known and says something. `what` begins the sentence. */
export function refuseUnknown(given: object, known: readonly string[], what: string): void {
  const unknown = Object.entries(given).find(([key, value]) => value !== undefined && !known.includes(key))?.[0];
  if (unknown === undefined) return;
  const meant = nearestName(unknown, known);
  const hint = meant === undefined ? `It has ${known.join(', ')}.` : `Did you mean "${meant}"?`;
  throw new ValidationError(`${what} has no "${shorten(unknown, 64)}". ${hint}`);
}

/**
 * Misspelt options of formats and of the unified registry: an object and the keys it may have in, an error that names the
 * wrong one and the one that was meant out.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import { unknownKey } from '../../text/unknown-key.ts';

/** Throws `ValidationError` for a key that is not known and says something. `what` begins the sentence. */
export function refuseUnknown(given: object, known: readonly string[], what: string): void {
  const unknown = unknownKey(given, known);
  if (unknown === undefined) return;
  const { key, meant } = unknown;
  const hint = meant === undefined ? `It has ${known.join(', ')}.` : `Did you mean "${meant}"?`;
  throw new ValidationError(`${what} has no "${key}". ${hint}`);
}

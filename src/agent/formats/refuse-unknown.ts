/**
 * Refuses misspelt options of formats and of the unified registry, with an error that names the wrong key and the one
 * that was meant.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import { unknownKey } from '../../text/unknown-key.ts';

/** Throws `ValidationError` for an unknown key with a value. `what` starts the sentence. */
export function refuseUnknown(given: object, known: readonly string[], what: string): void {
  const unknown = unknownKey(given, known);
  if (unknown === undefined) return;
  const { key, meant } = unknown;
  const hint = meant === undefined ? `It has ${known.join(', ')}.` : `Did you mean "${meant}"?`;
  throw new ValidationError(`${what} has no "${key}". ${hint}`);
}

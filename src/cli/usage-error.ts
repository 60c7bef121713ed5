/**
 * A command line that cannot be understood. Said with the help at hand; exit code 1.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';

/** A mistake of the person, or the script, that wrote the command line. */
export class UsageError extends DiscoveryError {
  constructor(message: string, suggestions: readonly string[] = []) {
    super('VALIDATION_ERROR', message, { suggestions });
  }
}

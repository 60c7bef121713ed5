/**
 * Defines the error for an invalid command line; exit code 1.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';

/** A mistake in the command line. */
export class UsageError extends DiscoveryError {
  constructor(message: string, suggestions: readonly string[] = []) {
    super('VALIDATION_ERROR', message, { suggestions });
  }
}

/**
 * Defines the error for an invalid command line; exit code 1.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import { didYouMean, nearestName } from '../text/nearest-names.ts';

/** A mistake in the command line. */
export class UsageError extends DiscoveryError {
  constructor(message: string, suggestions: readonly string[] = []) {
    super('VALIDATION_ERROR', message, { suggestions });
  }
}

/** Throws a `UsageError` for an unknown word, with the nearest known one, else with a hint. */
export function refuseWord(message: string, word: string, known: readonly string[], hint = ''): never {
  const near = nearestName(word, known);
  const suggestions = near === undefined ? [] : [near];
  throw new UsageError([message, didYouMean(suggestions, hint)].filter(Boolean).join(' '), suggestions);
}

/** Returns the whole number of an option; undefined if the option is missing. */
export function numberOf(option: string, value: unknown, least: number, most: number): number | undefined {
  if (value === undefined) return undefined;
  const number = /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} up` : `${least} to ${most}`;
  throw new UsageError(`${option} takes a number from ${range}`);
}

/** Returns the value of an option if it is one of the known ones. */
export function oneOf<T extends string>(option: string, value: unknown, known: readonly T[]): T {
  const found = known.find((one) => one === value);
  return found ?? refuseWord(`${option} must be one of ${known.join(', ')}.`, String(value), known);
}

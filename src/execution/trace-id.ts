/**
 * Names for calls: unique among all gateways, in the form of a UUID.
 * @module
 */
import { randomUUID } from 'node:crypto';

// Random once and then counted: drawing one for each call takes some microseconds of it.
const RANDOM_CHARS = 24;
const COUNTED_DIGITS = 12;
let ours: string | undefined;
let counted = 0;

/** The next one. Says nothing about the call, and is no secret: whoever knows one can guess the others of its process. */
export function nextTraceId(): string {
  ours ??= randomUUID().slice(0, RANDOM_CHARS);
  return ours + (counted++).toString(16).padStart(COUNTED_DIGITS, '0');
}

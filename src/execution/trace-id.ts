/**
 * Creates trace ids: unique among all gateways, in the form of a UUID.
 * @module
 */
import { randomUUID } from 'node:crypto';

// Ids are a random prefix and a counter: a random id for each call would cost microseconds.
const RANDOM_CHARS = 24;
const COUNTED_DIGITS = 12;
let ours: string | undefined;
let counted = 0;

/**
 * Returns the next id. It says nothing about the call and is not a secret: from one id, others of the same process can
 * be guessed.
 */
export function nextTraceId(): string {
  ours ??= randomUUID().slice(0, RANDOM_CHARS);
  return ours + (counted++).toString(16).padStart(COUNTED_DIGITS, '0');
}

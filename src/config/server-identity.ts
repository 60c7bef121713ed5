/**
 * Tells whether two connections reach the same server: same program or address, arguments, environment and headers.
 * @module
 */
import { transportParts, type WrittenConnection } from '../core/transport-parts.ts';

/** What is started or reached, and the variables or headers it is given, sorted. */
interface Traits {
  readonly reached: string;
  readonly given: readonly (readonly [string, string])[];
}

/** A text that two connections share exactly when they reach the same server. */
export function identityOf(connection: WrittenConnection): string {
  const { reached, given } = traitsOf(connection);
  return JSON.stringify([reached, given]);
}

export function traitsOf(connection: WrittenConnection): Traits {
  const parts = transportParts(connection.type);
  return { reached: parts.reached(connection), given: sorted(parts.given(connection)) };
}

const sorted = (pairs: readonly (readonly [string, string])[]) =>
  pairs.toSorted(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1));

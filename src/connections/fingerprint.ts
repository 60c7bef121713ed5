/**
 * Computes a short key for a connection, for caches and pools.
 * @module
 */
import { createHash } from 'node:crypto';
import { transportParts } from '../core/transport-parts.ts';
import type { ConnectionDefinition } from '../core/types.ts';

// Definitions are immutable, and every call needs the key.
const known = new WeakMap<ConnectionDefinition, string>();

/**
 * Returns a key that changes when the connection would reach something else. Values of variables and headers are left
 * out: they may be secrets.
 */
export function fingerprint(connection: ConnectionDefinition): string {
  let print = known.get(connection);
  if (print === undefined) {
    print = createHash('sha256')
      .update(JSON.stringify(traits(connection)))
      .digest('hex')
      .slice(0, 16);
    known.set(connection, print);
  }
  return print;
}

const traits = (connection: ConnectionDefinition): readonly unknown[] => [
  connection.type,
  ...transportParts(connection.type).traits(connection),
];

/**
 * A short name for "the same server as before", for caches and pools.
 * @module
 */
import { createHash } from 'node:crypto';
import type { ConnectionDefinition } from '../core/types.ts';

// Definitions are immutable, and every call asks.
const known = new WeakMap<ConnectionDefinition, string>();

/** Changes when a connection would reach something else. Environment and header values stay out: they may be secrets. */
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

function traits(connection: ConnectionDefinition): readonly unknown[] {
  return connection.type === 'stdio'
    ? [connection.type, connection.command, connection.args, Object.keys(connection.env).sort(), connection.cwd ?? '']
    : [connection.type, connection.url, Object.keys(connection.headers).sort(), connection.auth ?? ''];
}

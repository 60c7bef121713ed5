/**
 * Returns the timeout for connecting: from the entry, or the default of its transport.
 * @module
 */
import { transportParts } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';

/** Timeout of one attempt to connect, in milliseconds. */
export const connectMs = ({ timeouts, connection }: ServerDefinition): number =>
  timeouts.connect ?? transportParts(connection.type).connectMs;

/**
 * How long a server may take to connect: its entry's word, else what is usual for its kind.
 * @module
 */
import type { ServerDefinition } from '../core/types.ts';

/** A cold `npx` takes long. */
const CONNECT_MS = { stdio: 30_000, http: 5_000, sse: 5_000 } as const;

/** Milliseconds until an attempt to connect is given up. */
export const connectMs = ({ timeouts, connection }: ServerDefinition): number =>
  timeouts.connect ?? CONNECT_MS[connection.type];

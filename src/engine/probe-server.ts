/**
 * Connects to one server, reads its list and measures both.
 * @module
 */

import { abortable } from '../async/abortable.ts';
import type { Discovery } from '../catalog/discovery.ts';
import { toServerError, worthWaiting } from '../catalog/retry-policy.ts';
import type { Lease } from '../connections/connection-pool.ts';
import { DiscoveryError } from '../core/errors.ts';
import { isProvider } from '../core/tool-provider.ts';
import type { TransportType } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';
import type { Downstreams } from './downstreams.ts';
import type { EngineState } from './engine-state.ts';

/** What a server answered and how long it took. After an `error`, the fields of later steps are missing. */
export interface ServerProbe {
  readonly error?: DiscoveryError | undefined;
  /** Milliseconds until the handshake was done. */
  readonly connectMs?: number | undefined;
  /** Milliseconds for the whole tool list. */
  readonly listMs?: number | undefined;
  readonly protocolVersion?: string | undefined;
  readonly transport?: TransportType | undefined;
  readonly toolCount?: number | undefined;
  /** Number of tools left out because of unusable definitions. */
  readonly skipped?: number | undefined;
  /** Why the list is incomplete. */
  readonly incomplete?: string | undefined;
}

/** Probes a server: stores its list and closes the connection. Never rejects. */
export async function probeServer(
  { servers, catalog, discovery }: EngineState,
  downstreams: Downstreams,
  server: string,
  signal?: AbortSignal,
): Promise<ServerProbe> {
  const definition = servers.get(server)?.definition;
  if (!definition || isProvider(definition))
    return { error: new DiscoveryError('SERVER_NOT_FOUND', `There is no server "${server}".`) };
  try {
    const { lease, began } = await connected(definition, discovery, downstreams, signal);
    const connectedAt = performance.now();
    const { protocolVersion } = lease.connection.identity;
    const { transport } = downstreams.pool.verdict(definition) ?? {};
    try {
      const error = await abortable(discovery.listed(server), signal);
      const listMs = Math.round(performance.now() - connectedAt);
      await abortable(discovery.followNow(server), signal);
      const { toolCount, skipped, incomplete } = catalog.state(server) ?? {};
      const about = { connectMs: Math.round(connectedAt - began), protocolVersion, transport };
      return { ...about, ...(error ? { error } : { listMs, toolCount, skipped, incomplete }) };
    } finally {
      discovery.leaveChange(server);
      lease.release({ close: true });
    }
  } catch (error) {
    return { error: toServerError(error, server) };
  }
}

/** Connects with discovery's retries. `began` is the start of the attempt that succeeded. */
async function connected(
  definition: ServerDefinition,
  discovery: Discovery,
  downstreams: Downstreams,
  signal: AbortSignal | undefined,
): Promise<{ readonly lease: Lease; readonly began: number }> {
  const started = performance.now();
  for (let attempt = 1; ; attempt++) {
    const began = performance.now();
    try {
      return { lease: await downstreams.acquire(definition, undefined, signal), began };
    } catch (error) {
      const failure = toServerError(error, definition.name);
      const now = performance.now();
      const pause = worthWaiting(failure)
        ? discovery.pauseBefore(failure, { made: attempt, spentMs: now - started, lastMs: now - began })
        : undefined;
      if (pause === undefined || signal?.aborted) throw error;
      const paused = new Promise((resolve) => setTimeout(resolve, pause));
      // A caller that gives up gets the server's error.
      await abortable(paused, signal).catch(() => Promise.reject(error));
    }
  }
}

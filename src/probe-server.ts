/**
 * Connects to one server and reads its list, with a watch in hand: a state in, how it went out.
 * @module
 */
import { abortable } from './connections/abortable.ts';
import type { Downstreams } from './downstreams.ts';
import type { EngineState } from './engine-state.ts';
import { DiscoveryError } from './errors.ts';

/** What a server said and how long it took. With an `error`, what is missing never happened. */
export interface ServerProbe {
  readonly error?: DiscoveryError | undefined;
  /** Milliseconds until it had said hello. */
  readonly connectMs?: number | undefined;
  /** Milliseconds for its whole list of tools. */
  readonly listMs?: number | undefined;
  readonly protocolVersion?: string | undefined;
  readonly transport?: 'stdio' | 'http' | 'sse' | undefined;
  readonly toolCount?: number | undefined;
  /** Tools that were left out, because their definitions cannot be used. */
  readonly skipped?: number | undefined;
  /** Why the list has an end that is not its own. */
  readonly incomplete?: string | undefined;
}

/** The list that is read is kept; the connection is closed. Never rejects. */
export async function probeServer(
  { servers, catalog, discovery }: EngineState,
  downstreams: Downstreams,
  server: string,
  signal?: AbortSignal,
): Promise<ServerProbe> {
  const definition = servers.get(server)?.definition;
  if (!definition) return { error: new DiscoveryError('SERVER_NOT_FOUND', `There is no server "${server}".`) };
  const started = performance.now();
  try {
    const lease = await downstreams.acquire(definition, undefined, signal);
    const connected = performance.now();
    const { protocolVersion } = lease.connection.identity;
    const { transport } = downstreams.pool.verdict(definition) ?? {};
    const listing = abortable(discovery.attempt(server), signal);
    const error = await listing.finally(() => lease.release({ close: true }));
    const { toolCount, skipped, incomplete } = catalog.state(server) ?? {};
    return {
      connectMs: Math.round(connected - started),
      protocolVersion,
      transport,
      ...(error ? { error } : { listMs: Math.round(performance.now() - connected), toolCount, skipped, incomplete }),
    };
  } catch (error) {
    return { error: asError(error, server) };
  }
}

function asError(error: unknown, server: string): DiscoveryError {
  if (error instanceof DiscoveryError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new DiscoveryError('SERVER_CONNECTION_ERROR', `${server}: ${message}`, { server, cause: error });
}

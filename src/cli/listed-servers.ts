/**
 * Lists the servers with their current state, after connecting to them where a command asks for that.
 * @module
 */
import type { ServerMetadata } from '../core/types.ts';
import type { Session } from './session.ts';

/** Which servers to ask before listing. */
export type Asking = 'all' | 'unknown' | 'none';

/**
 * All enabled servers. With `all`, every server is asked for its tools now, so that each one is connected or failed; with
 * `unknown`, only servers whose tools are not known, or those --refresh names.
 */
export async function listedServers(session: Session, asking: Asking): Promise<ServerMetadata[]> {
  const failed = asking === 'none' ? new Map() : await session.lists(undefined, asking === 'all' || undefined);
  return (await session.engine.listServers()).map((server) => {
    if (server.status !== 'disconnected') return server;
    const reason = failed.get(server.name)?.message;
    if (reason !== undefined) return { ...server, status: 'error', reason };
    // It has just listed its tools; the pool closed its connection only to make room for others.
    return asking === 'all' ? { ...server, status: 'connected', reason: undefined } : server;
  });
}

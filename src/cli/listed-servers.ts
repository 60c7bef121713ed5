/**
 * Lists the servers with their current state, after connecting to them where a command asks for that.
 * @module
 */
import { isLocal } from '../core/transport-parts.ts';
import type { ServerDefinition, ServerMetadata } from '../core/types.ts';
import type { Session } from './session.ts';

/** Which servers to ask before listing. */
type Asking = 'all' | 'unknown' | 'none';

/**
 * All enabled servers. With `all`, every server is asked for its tools now, so that each one is connected or failed; with
 * `unknown`, only servers whose tools are not known, or those --refresh names. A server that was not asked, but whose
 * entry shows that it cannot start, has failed as well.
 */
export async function listedServers(session: Session, asking: Asking): Promise<ServerMetadata[]> {
  const failed = asking === 'none' ? new Map() : await session.lists(undefined, asking === 'all' || undefined);
  const { servers } = await session.engine.getConfig();
  const definitions = new Map(servers.map((definition) => [definition.name, definition]));
  const obstacleOf = await obstacles(session);
  return (await session.engine.listServers()).map((server) => {
    if (server.status !== 'disconnected') return server;
    const reason = failed.get(server.name)?.message;
    if (reason !== undefined) return { ...server, status: 'error', reason };
    // It has just listed its tools; the pool closed its connection only to make room for others.
    if (asking === 'all') return { ...server, status: 'connected', reason: undefined };
    const definition = definitions.get(server.name);
    const obstacle = definition && obstacleOf(definition);
    return obstacle === undefined ? server : { ...server, status: 'error', reason: obstacle };
  });
}

/** Finds what keeps a server from starting without starting it: a missing program or folder, an unset variable. */
async function obstacles({ io: { env } }: Session): Promise<(server: ServerDefinition) => string | undefined> {
  const { checkDefinition } = await import('../doctor/check-definition.ts');
  const world = { env, platform: process.platform, execPath: process.execPath };
  return (server) => {
    const broken = checkDefinition(server, world).find(({ status }) => status === 'fail');
    return broken && `${isLocal(server.connection) ? CANNOT.start : CANNOT.connect}${broken.detail}`;
  };
}

const CANNOT = { start: 'Cannot start: ', connect: 'Cannot connect: ' } as const;

/** Tells whether a reason is an obstacle that was found without starting the server. */
export const isObstacle = (reason: string): boolean => Object.values(CANNOT).some((start) => reason.startsWith(start));

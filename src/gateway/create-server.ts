/**
 * Builds the discovery gateway as an SDK server with the five meta-tools, one per client connection or request.
 * @module
 */

import { Server } from '@modelcontextprotocol/server';
import { LIMITS } from '../core/limits.ts';
import type { Introduction } from './introduction.ts';
import { handlersOf, type UpstreamIdentity } from './sdk-context.ts';
import type { UpstreamHandler } from './upstream.ts';

/** What a client sees may depend on who it is. */
const isPersonal = ({ principal, profile }: UpstreamIdentity): boolean =>
  principal !== undefined || profile !== undefined;

/** Builds a server. Cheap, because all state is in the engine. */
export function createGatewayServer(
  { serverInfo, capabilities, instructions, listTools }: Introduction,
  handler: UpstreamHandler,
  identity: UpstreamIdentity,
): Server {
  const server = new Server(serverInfo, {
    capabilities,
    instructions,
    cacheHints: {
      'tools/list': { ttlMs: LIMITS.age.metaTools, cacheScope: isPersonal(identity) ? 'private' : 'public' },
    },
  });
  const on = handlersOf(server, identity);
  on('tools/list', async () => ({ tools: await listTools() }));
  on('tools/call', (call) => handler(call));
  return server;
}

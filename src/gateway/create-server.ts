/**
 * Builds the discovery gateway as an SDK server with the five meta-tools, one per client connection or request.
 * @module
 */

import { Server } from '@modelcontextprotocol/server';
import { type Introduction, toolListAge } from './introduction.ts';
import { handlersOf, type UpstreamIdentity } from './sdk-context.ts';
import type { UpstreamHandler } from './upstream.ts';

/** Builds a server. Cheap, because all state is in the engine. */
export function createGatewayServer(
  introduction: Introduction,
  handler: UpstreamHandler,
  identity: UpstreamIdentity,
): Server {
  const { serverInfo, capabilities, instructions, listTools } = introduction;
  const server = new Server(serverInfo, {
    capabilities,
    instructions,
    cacheHints: { 'tools/list': toolListAge(introduction) },
  });
  const on = handlersOf(server, identity);
  on('tools/list', async () => ({ tools: await listTools() }));
  on('tools/call', (call) => handler(call));
  return server;
}

/**
 * The discovery gateway as an SDK server: the five meta-tools, one instance per client connection or request.
 * @module
 */
import { Server } from '@modelcontextprotocol/server';
import type { DiscoveryEngine } from '../discovery-engine.ts';
import { IDENTITY } from '../version.ts';
import { metaToolDefinitions } from './meta-tools.ts';
import { toUpstreamCall, type UpstreamIdentity } from './sdk-context.ts';
import type { UpstreamHandler } from './upstream.ts';

const INSTRUCTIONS =
  'Tools of many servers stand behind these five. Find one with search_tools, then call it with execute_tool.';

/** Builds a server; cheap, because all state lives in the engine. */
export async function createGatewayServer(
  engine: DiscoveryEngine,
  handler: UpstreamHandler,
  identity: UpstreamIdentity,
): Promise<Server> {
  const server = new Server(IDENTITY, {
    capabilities: { tools: { listChanged: true } },
    instructions: INSTRUCTIONS,
    cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } },
  });
  // Asked for anew each time: the servers it names change on reload.
  server.setRequestHandler('tools/list', async () => ({
    tools: [...metaToolDefinitions(await engine.serverNames())] as never,
  }));
  server.setRequestHandler(
    'tools/call',
    async (request, context) => (await handler(toUpstreamCall(server, identity, request.params, context))) as never,
  );
  return server;
}

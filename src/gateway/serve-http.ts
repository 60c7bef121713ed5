/**
 * The gateway on Streamable HTTP, loopback only: each modern request stands alone, older clients get sessions.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { DiscoveryEngine } from '../discovery-engine.ts';
import { foreignness } from './local-guard.ts';
import { ParkedCalls } from './parked-calls.ts';
import { hasLongBody, readRequestBody } from './request-body.ts';
import type { ServedGateway, Surface } from './serve-stdio.ts';
import { UnreadAnswers } from './unread-answers.ts';
import { createUpstreamHandler } from './upstream.ts';

/** Where to listen, what to serve, and to how many at a time. */
export interface ServeHttpOptions {
  readonly port: number;
  readonly surface: Surface;
  readonly maxSessions?: number;
}

/** A gateway on HTTP that runs, and its address. */
export interface ServedHttp extends ServedGateway {
  readonly url: string;
}

interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  lastUsed: number;
}

const SESSION_IDLE_MS = 30 * 60_000;

/** Serves on 127.0.0.1 until `close`. Requests whose Host or Origin is not this machine are refused. */
export async function serveGatewayOnHttp(
  engine: DiscoveryEngine,
  { port, surface, maxSessions = 256 }: ServeHttpOptions,
): Promise<ServedHttp> {
  const parked = new ParkedCalls();
  const handler = createUpstreamHandler(surface.run, parked);
  const modern = createMcpHandler(() => surface.createServer(handler, { era: 'modern' }), { legacy: 'reject' });
  const stopRelaying = surface.relayChanges?.(modern.notify);
  const sessions = new Map<string, Session>();
  const stopReloading = engine.onReload(() => {
    modern.notify.toolsChanged();
    // A client that cannot be told now asks again later.
    for (const { server } of sessions.values()) void server.sendToolListChanged().catch(() => {});
  });

  const legacy = async (request: Request, body: { readonly parsedBody?: unknown }): Promise<Response> => {
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : sessions.get(id);
    if (id !== null && !known) return rpcError(404, -32001, 'Session not found');
    if (known) {
      known.lastUsed = Date.now();
      return known.transport.handleRequest(request, body);
    }
    sweep();
    if (sessions.size >= maxSessions) return rpcError(503, -32603, 'Too many sessions');
    const session = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => session,
      onsessioninitialized: (name) => {
        sessions.set(name, { server, transport, lastUsed: Date.now() });
      },
      onsessionclosed: (name) => end(name),
    });
    const server = await surface.createServer(handler, { era: 'legacy', session });
    await server.connect(transport);
    return transport.handleRequest(request, body);
  };

  const end = (id: string) => {
    const session = sessions.get(id);
    if (!session) return;
    sessions.delete(id);
    engine.endSession(id);
    void session.server.close().catch(() => {});
  };
  const sweep = () => {
    const before = Date.now() - SESSION_IDLE_MS;
    for (const [id, session] of sessions) if (session.lastUsed < before) end(id);
  };

  const unread = new UnreadAnswers();
  const handle = toNodeHandler({
    fetch: async (request, options) =>
      (await isLegacyRequest(request, options?.parsedBody))
        ? legacy(request, { parsedBody: options?.parsedBody })
        : modern.fetch(request, options),
  });
  const http = createServer({ connectionsCheckingInterval: 5000 }, (request, response) => {
    const foreign = foreignness(request, (http.address() as AddressInfo).port);
    if (foreign !== undefined) {
      const error = { code: -32000, message: foreign };
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
      return;
    }
    if (request.url?.split('?')[0] !== '/mcp') {
      response.writeHead(404).end();
      return;
    }
    unread.watch(response);
    if (!hasLongBody(request)) return void handle(request as never, response as never);
    void readRequestBody(request).then(
      (body) => {
        if ('value' in body) return handle(request as never, response as never, body.value);
        const { status, id, ...error } = body.refused;
        response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      },
      () => response.destroy(),
    );
  });
  http.requestTimeout = 30_000;
  http.headersTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, '127.0.0.1', resolve);
  });
  let finish = () => {};
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    closed,
    close: async () => {
      stopReloading();
      stopRelaying?.();
      parked.close();
      for (const id of [...sessions.keys()]) end(id);
      await modern.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      finish();
    },
  };
}

const rpcError = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });

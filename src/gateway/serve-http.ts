/**
 * Serves the gateway on Streamable HTTP, loopback only. Each modern request stands alone; older clients get sessions.
 * Nothing is opened or started before the head and body of a request are checked.
 * @module
 */

import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { META } from '../connections/handshake.ts';
import { HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST } from '../connections/json-rpc.ts';
import { LISTEN } from '../connections/peer.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { coreOf, type EngineHandle } from '../engine/engine-handle.ts';
import { isObject } from '../json/plain-object.ts';
import { oneLine } from '../text/plain-text.ts';
import { messageOf } from '../text/thrown-message.ts';
import { BodyRoom } from './body-room.ts';
import { type HttpSession, HttpSessions } from './http-sessions.ts';
import { refusalOf } from './local-guard.ts';
import { OpenStreams } from './open-streams.ts';
import { ParkedCalls } from './parked-calls.ts';
import { readRequestBody } from './request-body.ts';
import { Pipelines, RequestTurns } from './request-turns.ts';
import type { ServedGateway, Surface } from './serve-stdio.ts';
import { UnreadAnswers } from './unread-answers.ts';
import { createUpstreamHandler } from './upstream.ts';

/** The port, what to serve, and the maximum number of sessions. */
export interface ServeHttpOptions {
  readonly port: number;
  readonly surface: Surface;
  readonly maxSessions?: number;
}

/** A running HTTP gateway, and its address. */
export interface ServedHttp extends ServedGateway {
  readonly url: string;
}

interface Session extends HttpSession {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
}

type Params = Readonly<Record<string, unknown>>;

/** A Node request whose head was checked, and its body. */
interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: unknown;
}

/** Serves on 127.0.0.1 until `close`. Refuses requests that could come from another site. */
export async function serveGatewayOnHttp(
  engine: EngineHandle,
  { port, surface, maxSessions = DEFAULTS.http.sessions }: ServeHttpOptions,
): Promise<ServedHttp> {
  const parked = new ParkedCalls();
  const handler = createUpstreamHandler(surface.run, parked);
  const incoming = new WeakMap<Request, Incoming>();
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const from = requestInfo && incoming.get(requestInfo);
      const identity = from && callerOf(from);
      return surface.createServer(handler, { era: 'modern', ...identity });
    },
    { legacy: 'reject' },
  );
  const stopRelaying = surface.relayChanges?.(modern.notify);
  const sessions = new HttpSessions<Session>(maxSessions);
  const stopReloading = coreOf(engine).onReload(() => {
    modern.notify.toolsChanged();
    // A client that cannot be notified now will list again later.
    for (const { server } of sessions.values()) void server.sendToolListChanged().catch(() => {});
  });

  const legacy = async (web: Request, from: Incoming): Promise<Response> => {
    const id = web.headers.get('mcp-session-id');
    if (id === null) return open(web, from);
    const session = sessions.get(id);
    // The answer has no request id, as in the SDK. An outer gateway then knows that nothing was executed and may retry.
    if (!session) return rpcError(404, -32001, 'Session not found');
    if (asksForSomething(from.body)) session.requests += 1;
    // The session is in use until the last byte of the answer: an open stream counts.
    whenClosed(from.response, sessions.use(session, web.method === 'GET' ? 'streams' : 'calls'));
    return session.transport.handleRequest(web, { parsedBody: from.body });
  };

  /** Opens a session, only for a valid `initialize`. */
  const open = async (web: Request, from: Incoming): Promise<Response> => {
    const refused = initializeProblem(web, from.body);
    if (refused) return refused;
    const clientName = nameOf(from.request, (from.body as { params: { clientInfo?: unknown } }).params.clientInfo);
    const place = sessions.reserve(clientName);
    if (!place) return rpcError(503, INTERNAL_ERROR, 'Too many sessions are in use. Try again later.', from.body);
    try {
      const id = randomUUID();
      const { capabilities } = (from.body as { params: { capabilities: Readonly<Record<string, unknown>> } }).params;
      const server = await surface.createServer(handler, { era: 'legacy', session: id, clientName, capabilities });
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => id,
        onsessionclosed: (name) => sessions.end(name),
      });
      const close = () => {
        coreOf(engine).connections.endSession(id);
        void server.close().catch(() => {});
      };
      await server.connect(transport);
      const session: Session = {
        id,
        clientName,
        server,
        transport,
        close,
        calls: 0,
        streams: 0,
        requests: 0,
        lastUsed: 0,
      };
      place.take(session);
      whenClosed(from.response, sessions.use(session, 'calls'));
      // End a session whose client disconnected before it learnt the session's id.
      whenClosed(from.response, () => from.response.writableFinished || sessions.end(id));
      const answer = await transport.handleRequest(web, { parsedBody: from.body });
      if (answer.status >= 400) sessions.end(id);
      return answer;
    } catch (error) {
      // The server behind `--expose` cannot be reached. Report that as the answer.
      return rpcError(503, INTERNAL_ERROR, oneLine(messageOf(error), LIMITS.text.detail), from.body);
    } finally {
      place.leave();
    }
  };

  /** Answers a request of the new protocol. */
  const alone = async (web: Request, from: Incoming): Promise<Response> => {
    const { body } = from;
    const isCall = isObject(body) && body.method === 'tools/call' && isObject(body.params);
    const fault = isCall && (await surface.headerFault?.(body.params as Params, web.headers, callerOf(from)));
    if (fault) return rpcError(400, HEADER_MISMATCH, `The headers do not fit the request: ${fault}.`, body);
    return modern.fetch(web, { parsedBody: body });
  };

  const unread = new UnreadAnswers();
  const bodies = new BodyRoom();
  const turns = new RequestTurns();
  const streams = new OpenStreams();
  const pipelines = new Pipelines();
  const http = createServer({ connectionsCheckingInterval: LIMITS.pace.httpConnections }, (request, response) => {
    const refusal = refusalOf(request, (http.address() as AddressInfo).port);
    if (refusal !== undefined) {
      const { status, message, headers } = refusal;
      // The body is not read: the connection closes with the answer.
      return answer(response, status, rpcFault(-32000, message), headers);
    }
    if (!pipelines.admit(request, response)) return;
    unread.watch(response);
    const serve = (body: unknown) => {
      const from = { request, response, body };
      streams.add(body, modernName(from), response);
      const fetch = async (web: Request): Promise<Response> => {
        incoming.set(web, from);
        if (isObject(body) && body.method === LISTEN && isObject(body.params) && surface.listen)
          whenClosed(response, surface.listen(body.params));
        const answer = await ((await isLegacyRequest(web, body)) ? legacy(web, from) : alone(web, from));
        // Send the head of an event stream now; Node would hold it back until the first event.
        if (answer.headers.get('content-type') === 'text/event-stream') setImmediate(() => response.flushHeaders());
        return answer;
      };
      void toNodeHandler({ fetch })(request as never, response as never, body as never);
    };
    if (request.method !== 'POST') return serve(undefined);
    const turn = (body: unknown) => {
      const session = sessions.get(String(request.headers['mcp-session-id']));
      return turns.take(session?.clientName ?? modernName({ request, response, body }));
    };
    void readRequestBody(request, bodies, turn).then(
      (body) => {
        if ('value' in body) return response.destroyed ? undefined : serve(body.value);
        const { status, id, ...error } = body.refused;
        // A client that is still writing would go on for as long as it likes.
        if (status === 503) response.once('finish', () => request.destroy());
        answer(response, status, { jsonrpc: '2.0', id, error });
      },
      () => response.destroy(),
    );
  });
  http.maxConnections = LIMITS.wire.connections;
  http.requestTimeout = LIMITS.time.httpRequest;
  http.headersTimeout = LIMITS.time.httpHead;
  http.keepAliveTimeout = LIMITS.time.httpKeepAlive;
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
      sessions.endAll();
      await modern.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      finish();
    },
  };
}

/** Why a request without a session cannot open one, or undefined. */
function initializeProblem(web: Request, body: unknown): Response | undefined {
  if (!isObject(body) || body.method !== 'initialize')
    return rpcError(400, INVALID_REQUEST, 'Mcp-Session-Id is missing; a session begins with initialize', body);
  const { jsonrpc, id, params } = body;
  if (jsonrpc !== '2.0' || !(typeof id === 'string' || Number.isInteger(id)))
    return rpcError(400, INVALID_REQUEST, 'initialize must be a JSON-RPC request with an id', body);
  if (!isObject(params) || typeof params.protocolVersion !== 'string' || !isObject(params.capabilities))
    return rpcError(400, INVALID_PARAMS, 'initialize needs protocolVersion, capabilities and clientInfo', body);
  const accept = web.headers.get('accept') ?? '';
  return accept.includes('application/json') && accept.includes('text/event-stream')
    ? undefined
    : rpcError(406, -32000, 'The client must accept application/json and text/event-stream', body);
}

/** Tells whether a body holds a request that counts as use of a session. */
const asksForSomething = (body: unknown): boolean =>
  (Array.isArray(body) ? body : [body]).some(
    (message) => isObject(message) && message.id !== undefined && message.method !== 'ping' && 'method' in message,
  );

/** Calls `done` when a response is closed, which it may be already. */
function whenClosed(response: ServerResponse, done: () => void): void {
  if (response.closed || response.destroyed) done();
  else response.once('close', done);
}

const socketOf = ({ socket }: IncomingMessage): string => `${socket.remoteAddress}:${socket.remotePort}`;

const modernName = ({ request, body }: Incoming): string => nameOf(request, envelopeOf(body)[META.clientInfo]);

/** The caller of a request of the new protocol. */
function callerOf(from: Incoming) {
  const capabilities = envelopeOf(from.body)[META.clientCapabilities];
  return {
    socket: socketOf(from.request),
    clientName: modernName(from),
    capabilities: isObject(capabilities) ? capabilities : {},
  };
}

function envelopeOf(body: unknown): Params {
  const { params } = (isObject(body) ? body : {}) as { params?: { _meta?: Params } };
  return params?._meta ?? {};
}

/** Identifies a client among others on its machine, by what the client says about itself. */
function nameOf({ headers }: IncomingMessage, clientInfo: unknown): string {
  const { name, version } = (isObject(clientInfo) ? clientInfo : {}) as { name?: unknown; version?: unknown };
  const { authorization, 'user-agent': agent } = headers;
  const token = authorization === undefined ? '' : createHash('sha256').update(authorization).digest('hex');
  return [name, version, agent].map((one) => String(one ?? '').slice(0, LIMITS.names.shown)).join('\n') + token;
}

const rpcFault = (code: number, message: string, request?: unknown) => {
  const id = isObject(request) && ['string', 'number'].includes(typeof request.id) ? request.id : null;
  return { jsonrpc: '2.0', id, error: { code, message } };
};

/** Answers without the SDK, and closes the connection. */
function answer(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
  response.end(JSON.stringify(body));
}

const rpcError = (status: number, code: number, message: string, request?: unknown): Response =>
  Response.json(rpcFault(code, message, request), { status });

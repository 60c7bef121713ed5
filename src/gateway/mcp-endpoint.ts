/**
 * Answers MCP requests over HTTP in both eras: a request of the new protocol stands alone, a client of the old one gets
 * a session. Gets only requests whose head was checked.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type PassedRequest, ReplicaGone } from '../cluster/request-relay.ts';
import type { SessionClaims } from '../cluster/session-ids.ts';
import { HEADER_MISMATCH, INTERNAL_ERROR, INVALID_REQUEST } from '../connections/json-rpc.ts';
import { turnKey } from '../core/fair-share.ts';
import { LIMITS } from '../core/limits.ts';
import { coreOf, type EngineHandle } from '../engine/engine-handle.ts';
import { isObject } from '../json/plain-object.ts';
import { ByteRoom } from './byte-room.ts';
import {
  type Asked,
  asksForSomething,
  type Greeting,
  type Incoming,
  isListening,
  isOwnClient,
  modernIdentity,
  modernName,
  nameOf,
  type Params,
  type Who,
  whenClosed,
  whoIs,
} from './client-request.ts';
import { Hearers } from './hearers.ts';
import { answerPlainCall, plainCallIn, plainSessionCallIn } from './http-lane.ts';
import { type HttpSession, HttpSessions } from './http-sessions.ts';
import { OpenStreams } from './open-streams.ts';
import { ParkedCalls } from './parked-calls.ts';
import { callerOf, goneAnswer, lastWordsFor, PassedResponse } from './passed-requests.ts';
import { markOf, markQuestions, partsByMark, replicaIn } from './question-ids.ts';
import { initializeProblem, listenProblem, rpcError, unreachable } from './refused-requests.ts';
import type { UpstreamIdentity } from './sdk-context.ts';
import type { Surface } from './serve-stdio.ts';
import { SessionCalls } from './session-calls.ts';
import { SessionEvents, streamIn } from './session-events.ts';
import { passedHeaders, SharedSessions } from './shared-sessions.ts';
import { canBeAsked, createUpstreamHandler, type UpstreamCall } from './upstream.ts';
import { WatchRoom } from './watch-room.ts';
import { urisIn, withUris } from './watched-resources.ts';
import type { WatchedStreams } from './watched-streams.ts';

interface Session extends HttpSession {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly principal: string | undefined;
  readonly profile: string | undefined;
  /** Answers what needs no SDK. Undefined if its client can be asked something, or sees a server as it is. */
  readonly plain: SessionCalls | undefined;
  readonly identity: UpstreamIdentity & Pick<UpstreamCall, 'capabilities'>;
  /** Is in the ids of its questions. Undefined without other replicas. */
  readonly mark: string | undefined;
}

interface McpEndpoint {
  serve(from: Incoming): void;
  /** The name by which a client takes turns with others. */
  clientName(from: Incoming): string;
  /** Hands sessions over to other replicas, each with its next request. */
  drain(): void;
  close(): Promise<void>;
}

/** Serves one surface in both eras. */
export function createMcpEndpoint(
  engine: EngineHandle,
  surface: Surface,
  maxSessions: number,
  watched: WatchedStreams,
): McpEndpoint {
  const { runtime } = coreOf(engine);
  const cluster = runtime.cluster.current;
  const shared = cluster && new SharedSessions(cluster);
  const parked = new ParkedCalls({ replica: cluster?.id });
  const handler = createUpstreamHandler(surface.run, parked);
  const incoming = new WeakMap<Request, Asked>();
  /** Why there is no server for a request. The SDK keeps that to itself. */
  const failures = new WeakMap<Request, unknown>();
  const createModern = () =>
    createMcpHandler(
      async ({ requestInfo }) => {
        const from = requestInfo && incoming.get(requestInfo);
        try {
          return await surface.createServer(handler, from ? modernIdentity(from) : { era: 'modern' });
        } catch (error) {
          if (requestInfo) failures.set(requestInfo, error);
          throw error;
        }
      },
      { legacy: 'reject' },
    );
  const modern = createModern();
  const hearers = new Hearers({
    create: createModern,
    relay: ({ notify }, who) => surface.relayChanges?.(notify, who),
  });
  const sessions = new HttpSessions<Session>(maxSessions);
  let marks = 0;
  const resuming = new Map<string, Promise<Response | Session>>();
  const events = new ByteRoom(LIMITS.wire.events);
  const streams = new OpenStreams();
  const watching = new WatchRoom();
  const stopReloading = coreOf(engine).onShownTools((isFor) => {
    hearers.toolsChanged(isFor);
    // A client that cannot be notified now will list again later.
    for (const { server, principal, profile } of sessions.values())
      if (isFor({ principal, profile })) void server.sendToolListChanged().catch(() => {});
  });

  const isOwn = (session: Session, from: Asked): boolean => {
    const { principal, profile } = whoIs(from);
    return session.principal === principal && session.profile === profile;
  };

  /** The session of a request, if it is the caller's own. */
  const sessionOf = (id: string, from: Asked): Session | undefined => {
    const session = sessions.get(id);
    return session && isOwn(session, from) ? session : undefined;
  };

  const legacy = async (web: Request, from: Asked): Promise<Response> => {
    const id = web.headers.get('mcp-session-id');
    if (id === null) return open(web, from);
    if (Array.isArray(from.body) && from.body.length > LIMITS.wire.clientBatch)
      return rpcError(400, INVALID_REQUEST, `A batch has more than ${LIMITS.wire.clientBatch} messages`);
    const parts = partsByMark(from.body);
    if (parts.size > 1) return inParts(parts, web, from);
    const [mark] = parts.keys();
    const session =
      mark === undefined || !shared
        ? (sessionOf(id, from) ?? (await continued(id, web, from)))
        : await asking(id, mark, web, from);
    if (session instanceof Response) return session;
    // The answer has no request id, as in the SDK. An outer gateway then knows that nothing was executed and may retry.
    if (!session) return rpcError(404, -32001, 'Session not found');
    const lastEvent = web.headers.get('last-event-id');
    if (lastEvent !== null && streamIn(lastEvent) === undefined)
      return rpcError(400, INVALID_REQUEST, 'Last-Event-ID is no id of an event of this session');
    if (asksForSomething(from.body)) session.requests += 1;
    session.plain?.cancel(from.body);
    // The session is in use until the last byte of the answer: an open stream counts.
    const isStream = web.method === 'GET';
    whenClosed(from.response, sessions.use(session, isStream ? 'streams' : 'calls'));
    if (isStream && isOwnClient(from)) watched.add(from.response, from.identity);
    return session.transport.handleRequest(web, { parsedBody: from.body });
  };

  /** Handles each part of a batch by itself. An answer to a question is only accepted. */
  const inParts = async (parts: ReturnType<typeof partsByMark>, web: Request, from: Asked): Promise<Response> => {
    const handle = (body: unknown) => legacy(web, { ...from, body });
    // One after the other: a batch must not take the places of many requests that are passed on.
    const reply = async () => {
      let last: Response | undefined;
      for (const [mark, body] of parts) if (mark !== undefined) last = await handle(body);
      return last as Response;
    };
    const [asked, replied] = await Promise.all([parts.has(undefined) && handle(parts.get(undefined)), reply()]);
    return asked || replied;
  };

  /** Where a question is answered: the session that asked it, or the answer of the replica that has it. */
  const asking = async (
    id: string,
    mark: string,
    web: Request,
    from: Asked,
  ): Promise<Response | Session | undefined> => {
    const session = sessions.all(id).find((one) => one.mark === mark && isOwn(one, from));
    if (session) return session;
    if (!from.isPassed && !shared?.claimsOf(id, whoIs(from))) return undefined;
    const replica = replicaIn(mark);
    // The question has been answered, or nobody waits for it any more.
    if (!shared || from.isPassed || replica === cluster?.id) return new Response(null, { status: 202 });
    const request = passedOn(web, from);
    return shared.pass(replica, request, lastWordsFor(request)).catch((error: unknown) => goneAnswer(request, error));
  };

  /** Opens a session, only for a valid `initialize`. */
  const open = async (web: Request, from: Asked): Promise<Response> => {
    const refused = initializeProblem(web, from.body);
    if (refused) return refused;
    const { params } = from.body as { params: Greeting };
    const clientName = nameOf(from, params.clientInfo);
    const place = sessions.reserve(clientName);
    if (!place) return rpcError(503, INTERNAL_ERROR, 'Too many sessions are in use. Try again later.', from.body);
    const name = randomUUID();
    const id = shared?.newId(name, whoIs(from), params) ?? name;
    try {
      const session = await create(id, name, clientName, params, whoIs(from));
      place.take(session);
      whenClosed(from.response, sessions.use(session, 'calls'));
      // End a session whose client disconnected before it learnt the session's id.
      whenClosed(from.response, () => from.response.writableFinished || sessions.end(id));
      const answer = await session.transport.handleRequest(web, { parsedBody: from.body });
      if (answer.status >= 400) sessions.end(id);
      return answer;
    } catch (error) {
      // No client knows the session.
      sessions.end(id);
      return unreachable(error, from.body);
    } finally {
      place.leave();
    }
  };

  const create = async (
    id: string,
    name: string,
    clientName: string,
    greeting: Greeting,
    who: Who,
  ): Promise<Session> => {
    const { capabilities } = greeting;
    const identity = { era: 'legacy' as const, session: id, clientName, capabilities, ...who };
    const plain = surface.relays || canBeAsked(capabilities) ? undefined : new SessionCalls(handler);
    const server = await surface.createServer(plain?.handler ?? handler, identity);
    const kept = new SessionEvents(events);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: async (closed) => {
        sessions.end(closed);
        await shared?.ended(name);
      },
      eventStore: kept,
      retryInterval: LIMITS.pace.streamRetry,
    });
    const close = () => {
      kept.clear();
      plain?.close();
      coreOf(engine).connections.endSession(id);
      void server.close().catch(() => {});
    };
    await server.connect(transport);
    const mark = cluster && markOf(cluster.id, ++marks);
    if (mark !== undefined) markQuestions(transport, mark);
    const counts = { calls: 0, streams: 0, requests: 0, lastUsed: 0 };
    return { id, clientName, server, transport, close, plain, identity, mark, ...who, ...counts };
  };

  /** A session of another replica: its answer, or the session, if it is to be continued here. */
  const continued = async (id: string, web: Request, from: Asked): Promise<Response | Session | undefined> => {
    const who = whoIs(from);
    const claims = from.isPassed ? undefined : shared?.claimsOf(id, who);
    if (!shared || !claims) return undefined;
    const request = passedOn(web, from);
    try {
      const answer = await shared.answer(id, claims, request, lastWordsFor(request));
      if (answer === 'ended') return undefined;
      if (answer === 'here') return sessionOf(id, from) ?? (await resumedOnce(id, claims, from));
      if (web.method === 'GET' && isOwnClient(from)) watched.add(from.response, from.identity);
      return answer;
    } catch (error) {
      return goneAnswer(request, error);
    }
  };

  /** Several requests of a session may arrive at once. */
  const resumedOnce = async (id: string, claims: SessionClaims, from: Asked): Promise<Response | Session> => {
    const known = resuming.get(id);
    const session = known ?? resumed(id, claims, from).finally(() => resuming.delete(id));
    resuming.set(id, session);
    const answer = await session;
    return answer instanceof Response ? answer.clone() : answer;
  };

  /** Continues a session whose replica is gone: the client's greeting is in the session's id. */
  const resumed = async (id: string, claims: SessionClaims, from: Asked): Promise<Response | Session> => {
    const greeting = claims.greeting as unknown as Greeting;
    const clientName = nameOf(from, greeting.clientInfo);
    const place = sessions.reserve(clientName);
    if (!place) return rpcError(503, INTERNAL_ERROR, 'Too many sessions are in use. Try again later.', from.body);
    try {
      const session = await create(id, claims.name, clientName, greeting, whoIs(from));
      const say = async (body: object, headers: Record<string, string>) => {
        const init = { method: 'POST', headers: { ...headers, ...SPEAKS_MCP } };
        const answer = await session.transport.handleRequest(new Request(OWN_URL, init), { parsedBody: body });
        await answer.text();
      };
      await say({ jsonrpc: '2.0', id: 0, method: 'initialize', params: greeting }, {});
      await say({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': id });
      place.take(session);
      return session;
    } finally {
      place.leave();
    }
  };

  shared?.onTaken((id) => sessions.release(id));
  let isDraining = false;
  cluster?.relay.serve(async ({ method, headers, body, caller }, signal) => {
    // Answers and cancellations are for calls that still run here.
    if (isDraining && 'mcp-session-id' in headers && (method === 'GET' || asksForSomething(body)))
      throw new ReplicaGone('not_sent');
    const web = new Request(OWN_URL, { method, headers, signal });
    const response = new PassedResponse(signal);
    const from: Asked = { request: { headers }, response, body, ...callerOf(caller), isPassed: true };
    return answerInEra(web, from);
  });

  /** Answers a request of the new protocol. */
  const alone = async (web: Request, from: Asked): Promise<Response> => {
    const { body } = from;
    const replica = ParkedCalls.replicaOf(isObject(body) && isObject(body.params) && body.params.requestState);
    if (shared && replica !== undefined && replica !== cluster?.id && !from.isPassed) {
      const request = passedOn(web, from);
      return shared.pass(replica, request, lastWordsFor(request)).catch((error: unknown) => goneAnswer(request, error));
    }
    const isCall = isObject(body) && body.method === 'tools/call' && isObject(body.params);
    const fault = isCall && (await surface.headerFault?.(body.params as Params, web.headers, modernIdentity(from)));
    if (fault) return rpcError(400, HEADER_MISMATCH, `The headers do not fit the request: ${fault}.`, body);
    const handler = isListening(body) && isOwnClient(from) ? hearers.of(whoIs(from), from.response) : modern;
    const answer = await handler.fetch(web, { parsedBody: body });
    return failures.has(web) ? unreachable(failures.get(web), body) : answer;
  };

  /** Notes what a client listens to. Returns its request, with what it may hear. */
  const listening = async (from: Incoming, body: Params): Promise<Incoming> => {
    const { response, identity } = from;
    // More listeners wait for the end of this response than the ten after which Node warns of a leak.
    response.setMaxListeners(0);
    watched.add(response, identity);
    if (!isObject(body.params)) return from;
    const who = modernIdentity(from);
    const client = turnKey(who);
    const wanted = urisIn(body.params);
    const places = watching.take(client, wanted.length);
    whenClosed(response, () => watching.leave(client, places));
    const asked = places < wanted.length ? withUris(body.params, wanted.slice(0, places)) : body.params;
    const params = (await surface.mayHear?.(asked, who)) ?? body.params;
    if (surface.listen) whenClosed(response, surface.listen(params, who));
    return { ...from, body: { ...body, params } };
  };

  const answerInEra = async (web: Request, from: Asked): Promise<Response> => {
    incoming.set(web, from);
    return (await isLegacyRequest(web, from.body)) ? legacy(web, from) : alone(web, from);
  };

  /** Makes a plain call of a session. Undefined if the SDK has to handle the request; false if it has to go on with it. */
  const quickly = (from: Incoming): Promise<boolean> | undefined => {
    const { request, response, body } = from;
    const id = request.headers['mcp-session-id'];
    const session = id === undefined ? undefined : sessionOf(String(id), from);
    const call = session?.plain && plainSessionCallIn(request, body);
    if (!session?.plain || !call || session.plain.has(call.id)) return undefined;
    session.requests += 1;
    whenClosed(response, sessions.use(session, 'calls'));
    const { server, identity, plain } = session;
    const known = { ...identity, params: call.params, revision: server.getNegotiatedProtocolVersion() };
    return plain.answer(call.id, known, response, { 'mcp-session-id': session.id });
  };

  const serve = (arrived: Incoming) => {
    const { request, response, body } = arrived;
    const plain = surface.relays ? undefined : plainCallIn(request, body);
    if (plain)
      return void answerPlainCall(plain, modernIdentity(arrived), handler, response).catch(() => response.destroy());
    const answered = quickly(arrived);
    if (!answered) return serveThroughSdk(arrived);
    answered.then((isDone) => isDone || serveThroughSdk(arrived)).catch(() => response.destroy());
  };

  const serveThroughSdk = (arrived: Incoming): void => {
    const { request, response, body } = arrived;
    streams.add(body, modernName(arrived), response);
    const fetch = async (web: Request): Promise<Response> => {
      const refused = isListening(body) ? listenProblem(body) : undefined;
      if (refused) return refused;
      const from = isListening(body) ? await listening(arrived, body) : arrived;
      const answer = await answerInEra(web, from);
      // Send the head of an event stream now; Node would hold it back until the first event.
      if (answer.headers.get('content-type') === 'text/event-stream') setImmediate(() => response.flushHeaders());
      return answer;
    };
    void toNodeHandler({ fetch })(request as never, response as never, body as never);
  };

  return {
    serve,
    clientName: (from) => {
      const session = sessionOf(String(from.request.headers['mcp-session-id']), from);
      return session?.clientName ?? modernName(from);
    },
    drain: () => {
      isDraining = true;
    },
    close: async () => {
      stopReloading();
      parked.close();
      sessions.endAll();
      await Promise.all([modern.close(), hearers.close()]);
    },
  };
}

/** For requests that no client has sent. */
const OWN_URL = 'http://replica.invalid/mcp';
const SPEAKS_MCP = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

const passedOn = ({ method }: Request, { request, body, identity, profile }: Asked): PassedRequest => ({
  method,
  headers: passedHeaders(request.headers),
  ...(body !== undefined && { body }),
  caller: { identity, profile },
});

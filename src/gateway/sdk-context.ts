/**
 * Converts the SDK's view of a request into ours, for requests that do not take the fast lane.
 * @module
 */
import { ProtocolError, type Server, type ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';
import { META, type ProtocolEra } from '../connections/handshake.ts';
import { JsonRpcError } from '../connections/json-rpc.ts';
import { DEFAULTS } from '../core/limits.ts';
import type { Caller, Progress } from '../core/types.ts';
import type { Ask } from './parked-calls.ts';
import type { UpstreamCall } from './upstream.ts';

type Params = Readonly<Record<string, unknown>>;

export interface UpstreamIdentity {
  readonly era: ProtocolEra;
  /** Who is asking, where the front door found that out. */
  readonly principal?: string | undefined;
  readonly profile?: string | undefined;
  readonly session?: string | undefined;
  /** The socket of a request without a session. */
  readonly socket?: string | undefined;
  /** The name a network client gives itself. */
  readonly clientName?: string | undefined;
  /** What the client says it can do, if that is known before its server is built. */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  readonly traced?: TraceRequest | undefined;
}

/** Traces a request other than a call of a tool, which is traced where it runs. */
type TraceRequest = (
  request: { method: string; params: Params | undefined; id: string | number; caller: Caller },
  answer: (params: Params | undefined) => Promise<unknown>,
) => Promise<unknown>;

/** Restores the parameters that the SDK took out of a request, because a relay passes on everything. */
function wholeParams(params: Params | undefined, context: ServerContext): Params {
  const { inputResponses, envelope } = context.mcpReq as { inputResponses?: unknown; envelope?: unknown };
  const level = Object(envelope)[META.logLevel];
  const state = (context.mcpReq as { requestState?: () => unknown }).requestState?.();
  return {
    ...params,
    ...(inputResponses !== undefined && { inputResponses }),
    ...(typeof state === 'string' && { requestState: state }),
    ...(level !== undefined && { _meta: { ...(params?._meta as object | undefined), [META.logLevel]: level } }),
  };
}

/**
 * Returns a function that sets how a server answers a method. The SDK types handlers per method; relays set theirs in
 * loops.
 */
export function handlersOf(server: Server, identity: UpstreamIdentity) {
  const set = server.setRequestHandler.bind(server) as unknown as (
    method: string,
    handler: (request: { params?: Params }, context: ServerContext) => Promise<unknown>,
  ) => void;
  return (method: string, answer: (call: UpstreamCall, context: ServerContext) => Promise<unknown>): void =>
    set(method, ({ params }, context) => {
      const { traced, session } = identity;
      const reply = (own = params) => answer(toUpstreamCall(server, identity, own, context), context);
      if (!traced || method === 'tools/call') return asProtocolError(reply);
      const caller = { session, revision: server.getNegotiatedProtocolVersion() };
      return asProtocolError(() => traced({ method, params, id: context.mcpReq.id, caller }, reply));
    });
}

/** Converts a `tools/call`, or any other request for a server, for our handlers. */
function toUpstreamCall(
  server: Server,
  identity: UpstreamIdentity,
  params: Params | undefined,
  context: ServerContext,
): UpstreamCall {
  const request = context.mcpReq;
  const envelope = request.envelope as unknown as Record<string, unknown> | undefined;
  const token = (request._meta as { progressToken?: string | number } | undefined)?.progressToken;
  const capabilities = identity.era === 'modern' ? envelope?.[META.clientCapabilities] : server.getClientCapabilities();
  return {
    params: wholeParams(params, context),
    id: request.id,
    era: identity.era,
    principal: identity.principal,
    profile: identity.profile,
    session: identity.session,
    socket: identity.socket,
    clientName: identity.clientName,
    revision: server.getNegotiatedProtocolVersion(),
    capabilities: (capabilities ?? {}) as Params,
    signal: request.signal,
    onProgress: token === undefined ? undefined : (progress) => void notifyProgress(context, token, progress),
    ask: identity.era === 'legacy' ? askThrough(context) : undefined,
  };
}

/** Asks the agent with a request of our own, related to the request being answered. */
function askThrough(context: ServerContext): Ask {
  return async (request, signal) => {
    try {
      const send = context.mcpReq.send as (request: unknown, schema: unknown, options?: unknown) => Promise<unknown>;
      return (await send({ method: request.method, params: request.params ?? {} }, z.looseObject({}), {
        ...(signal && { signal }),
        timeout: DEFAULTS.limits.callCeiling,
      })) as Record<string, unknown>;
    } catch (error) {
      const { code, message, data } = error as { code?: unknown; message: string; data?: unknown };
      throw typeof code === 'number' ? new JsonRpcError(code, message, data) : error;
    }
  };
}

async function notifyProgress(
  context: ServerContext,
  progressToken: string | number,
  progress: Progress,
): Promise<void> {
  // The agent may have disconnected; the call itself notices.
  await context.mcpReq
    .notify({ method: 'notifications/progress', params: { progressToken, ...progress } as never })
    .catch(() => {});
}

/** Turns our protocol errors into those of the SDK, which passes on no others. */
async function asProtocolError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof JsonRpcError) throw new ProtocolError(error.code, error.message, error.data);
    throw error;
  }
}

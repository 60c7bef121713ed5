/**
 * Writes the answers to requests over HTTP that cannot be served.
 * @module
 */
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST } from '../connections/json-rpc.ts';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { oneLine } from '../text/plain-text.ts';
import { messageOf } from '../text/thrown-message.ts';
import type { Params } from './client-request.ts';
import { rpcFault } from './rpc-fault.ts';

/** Why a request without a session cannot open one, or undefined. */
export function initializeProblem(web: Request, body: unknown): Response | undefined {
  if (!isObject(body) || body.method !== 'initialize')
    return rpcError(400, INVALID_REQUEST, 'Mcp-Session-Id is missing; a session begins with initialize', body);
  const { jsonrpc, id, params } = body;
  if (jsonrpc !== '2.0' || !(typeof id === 'string' || Number.isInteger(id)))
    return rpcError(400, INVALID_REQUEST, 'initialize must be a JSON-RPC request with an id', body);
  if (!isObject(params) || typeof params.protocolVersion !== 'string' || !isObject(params.capabilities))
    return rpcError(400, INVALID_PARAMS, 'initialize needs protocolVersion, capabilities and clientInfo', body);
  // A session keeps what its client says about itself.
  if (JSON.stringify(params).length > LIMITS.wire.greeting)
    return rpcError(413, INVALID_PARAMS, `initialize has more than ${LIMITS.wire.greeting} characters`, body);
  const accept = web.headers.get('accept') ?? '';
  return accept.includes('application/json') && accept.includes('text/event-stream')
    ? undefined
    : rpcError(406, -32000, 'The client must accept application/json and text/event-stream', body);
}

/** Why a client cannot listen, or undefined. Its request is kept as long as the stream is open. */
export const listenProblem = (body: Params): Response | undefined =>
  JSON.stringify(body).length > LIMITS.wire.listening
    ? rpcError(413, INVALID_PARAMS, `A subscription has more than ${LIMITS.wire.listening} characters`, body)
    : undefined;

/** Reports as the answer that the server behind `--expose` cannot be reached. */
export const unreachable = (error: unknown, request: unknown): Response =>
  rpcError(503, INTERNAL_ERROR, oneLine(messageOf(error), LIMITS.text.detail), request);

export const rpcError = (status: number, code: number, message: string, request?: unknown): Response =>
  Response.json(rpcFault(code, message, request), { status });

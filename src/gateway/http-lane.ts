/**
 * Recognises plain calls over HTTP, which need no SDK: it checks every message against schemas, in and out. Answers those
 * of the new protocol. Anything unusual goes to the SDK: its handler does the same thing more slowly.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Cancellation } from '../async/cancellation.ts';
import { LEGACY_VERSIONS, META, MODERN_VERSION } from '../connections/handshake.ts';
import { INTERNAL_ERROR, isJsonRpcMessage, JsonRpcError, type JsonRpcId } from '../connections/json-rpc.ts';
import { LIMITS } from '../core/limits.ts';
import { IDENTITY } from '../core/version.ts';
import { writeJson } from '../json/exact-json.ts';
import { isObject } from '../json/plain-object.ts';
import { messageOf } from '../text/thrown-message.ts';
import type { RawResult } from './parked-calls.ts';
import { isClientsOwn, requestFault } from './request-fault.ts';
import type { UpstreamIdentity } from './sdk-context.ts';
import type { UpstreamCall, UpstreamHandler } from './upstream.ts';

const CALL = 'tools/call';
/** With any other parameter, a call is more than a plain one. */
const PARAMS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);
const ENVELOPE: ReadonlySet<string> = new Set([META.protocolVersion, META.clientInfo, META.clientCapabilities]);

/** A call that needs no look by the SDK. */
interface PlainCall {
  readonly id: JsonRpcId;
  readonly params: UpstreamCall['params'];
  readonly capabilities: UpstreamCall['capabilities'];
}

/** The call in a request of the new protocol, if it is a plain one: headers and body agree, and nothing comes before its result. */
export function plainCallIn(request: IncomingMessage, body: unknown): PlainCall | undefined {
  const { headers } = request;
  if (headers['mcp-session-id'] !== undefined) return undefined;
  const call = callIn(request, body);
  const meta = call?.params._meta;
  if (!call || !isObject(meta)) return undefined;
  const isAgreed =
    Object.keys(meta).every((key) => ENVELOPE.has(key) || isClientsOwn(key)) &&
    meta[META.protocolVersion] === MODERN_VERSION &&
    headers['mcp-protocol-version'] === MODERN_VERSION &&
    headers['mcp-method'] === CALL &&
    headers['mcp-name'] === call.params.name;
  if (!isAgreed) return undefined;
  const { id, params } = call;
  return { id, params, capabilities: meta[META.clientCapabilities] as PlainCall['capabilities'] };
}

/** The call in a request of a session, if nothing can come before its result. */
export function plainSessionCallIn(
  request: IncomingMessage,
  body: unknown,
): Omit<PlainCall, 'capabilities'> | undefined {
  const version = request.headers['mcp-protocol-version'];
  if (version !== undefined && !LEGACY_VERSIONS.some((known) => known === version)) return undefined;
  const call = callIn(request, body);
  const meta = call?.params._meta;
  const isPlain = meta === undefined || (isObject(meta) && Object.keys(meta).every(isClientsOwn));
  return isPlain ? call : undefined;
}

function callIn({ headers, method }: IncomingMessage, body: unknown): Omit<PlainCall, 'capabilities'> | undefined {
  if (method !== 'POST' || !isJsonRpcMessage(body) || body.method !== CALL || Object.keys(body).length !== 4)
    return undefined;
  const { id, params } = body;
  if (!(typeof id === 'string' || Number.isSafeInteger(id)) || !isObject(params) || requestFault(body))
    return undefined;
  const { name, arguments: args } = params;
  const accept = headers.accept ?? '';
  const isPlain =
    typeof name === 'string' &&
    (args === undefined || isObject(args)) &&
    Object.keys(params).every((key) => PARAMS.has(key)) &&
    accept.includes('application/json') &&
    accept.includes('text/event-stream');
  return isPlain ? { id: id as JsonRpcId, params } : undefined;
}

/** Runs a plain call of the new protocol and answers it. The call is cancelled when its client leaves. */
export async function answerPlainCall(
  { id, params, capabilities }: PlainCall,
  identity: UpstreamIdentity,
  handler: UpstreamHandler,
  response: ServerResponse,
): Promise<void> {
  const signal = new Cancellation();
  const leave = () => signal.abort(new Error('the client closed the connection'));
  response.on('close', leave);
  const { era, principal, profile, socket, clientName } = identity;
  const revision = MODERN_VERSION;
  const call = { era, principal, profile, socket, clientName, capabilities, params, id, signal, revision };
  const answer = await answerTo(id, handler(call), stamped);
  response.off('close', leave);
  sendAnswer(response, answer);
}

const stamped = (result: RawResult): RawResult => {
  const meta = result._meta as Record<string, unknown> | undefined;
  return { resultType: 'complete', ...result, _meta: { ...meta, [META.serverInfo]: IDENTITY } };
};

/** Returns the message that answers a call. Never rejects. */
export async function answerTo(
  id: JsonRpcId,
  result: Promise<RawResult>,
  finish: (result: RawResult) => RawResult = (given) => given,
): Promise<object> {
  try {
    return { jsonrpc: '2.0', id, result: finish(await result) };
  } catch (error) {
    const { code, data } = error instanceof JsonRpcError ? error : { code: INTERNAL_ERROR, data: undefined };
    return { jsonrpc: '2.0', id, error: { code, message: messageOf(error), ...(data !== undefined && { data }) } };
  }
}

/** Sends an answer, if its client is still there. */
export function sendAnswer(response: ServerResponse, answer: object, headers?: Readonly<Record<string, string>>): void {
  if (response.destroyed) return;
  const text = writeJson(answer);
  const length = Buffer.byteLength(text);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length, ...headers });
  // A short answer goes out in one packet with its head. What waits of a long one is watched from its first write on.
  if (text.length <= LIMITS.wire.shortBody) response.end(text);
  else {
    response.write(text);
    response.end();
  }
}

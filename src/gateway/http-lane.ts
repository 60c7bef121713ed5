/**
 * Answers plain calls of the new protocol over HTTP without the SDK, which checks every message against schemas, in and
 * out. Anything unusual goes to the SDK: its handler does the same thing more slowly.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Cancellation } from '../async/cancellation.ts';
import { META, MODERN_VERSION } from '../connections/handshake.ts';
import { INTERNAL_ERROR, isJsonRpcMessage, JsonRpcError, type JsonRpcId } from '../connections/json-rpc.ts';
import { LIMITS } from '../core/limits.ts';
import { IDENTITY } from '../core/version.ts';
import { writeJson } from '../json/exact-json.ts';
import { isObject } from '../json/plain-object.ts';
import { messageOf } from '../text/thrown-message.ts';
import { requestFault } from './request-fault.ts';
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

/** The call in a request, if it is a plain one: headers and body agree, and nothing comes before its result. */
export function plainCallIn({ headers, method }: IncomingMessage, body: unknown): PlainCall | undefined {
  if (method !== 'POST' || headers['mcp-session-id'] !== undefined) return undefined;
  if (!isJsonRpcMessage(body) || body.method !== CALL || Object.keys(body).length !== 4) return undefined;
  const { id, params } = body;
  if (!(typeof id === 'string' || Number.isSafeInteger(id)) || !isObject(params) || requestFault(body))
    return undefined;
  const { name, arguments: args, _meta: meta } = params;
  if (typeof name !== 'string' || !(args === undefined || isObject(args)) || !isObject(meta)) return undefined;
  const isPlain =
    Object.keys(params).every((key) => PARAMS.has(key)) &&
    Object.keys(meta).every((key) => ENVELOPE.has(key) || !(key.includes('modelcontextprotocol') || key === TOKEN));
  const accept = headers.accept ?? '';
  const isAgreed =
    meta[META.protocolVersion] === MODERN_VERSION &&
    headers['mcp-protocol-version'] === MODERN_VERSION &&
    headers['mcp-method'] === CALL &&
    headers['mcp-name'] === name &&
    accept.includes('application/json') &&
    accept.includes('text/event-stream');
  if (!isPlain || !isAgreed) return undefined;
  return { id: id as JsonRpcId, params, capabilities: meta[META.clientCapabilities] as PlainCall['capabilities'] };
}

const TOKEN = 'progressToken';

/** Runs a plain call and answers it. The call is cancelled when its client leaves. */
export async function answerPlainCall(
  { id, params, capabilities }: PlainCall,
  identity: UpstreamIdentity,
  handler: UpstreamHandler,
  response: ServerResponse,
): Promise<void> {
  const signal = new Cancellation();
  const leave = () => signal.abort(new Error('the client closed the connection'));
  response.once('close', leave);
  let answer: object;
  try {
    const result = await handler({ ...identity, params, id, capabilities, signal, revision: MODERN_VERSION });
    const meta = result._meta as Record<string, unknown> | undefined;
    const stamped = { resultType: 'complete', ...result, _meta: { ...meta, [META.serverInfo]: IDENTITY } };
    answer = { jsonrpc: '2.0', id, result: stamped };
  } catch (error) {
    const { code, data } = error instanceof JsonRpcError ? error : { code: INTERNAL_ERROR, data: undefined };
    answer = { jsonrpc: '2.0', id, error: { code, message: messageOf(error), ...(data !== undefined && { data }) } };
  }
  response.off('close', leave);
  if (response.destroyed) return;
  const text = writeJson(answer as never);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  // A short answer goes out in one packet with its head. What waits of a long one is watched from its first write on.
  if (text.length <= LIMITS.wire.shortBody) response.end(text);
  else {
    response.write(text);
    response.end();
  }
}

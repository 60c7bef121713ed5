/**
 * Sends tool calls over Streamable HTTP without the SDK and the objects of `fetch`, which take longer than the rest of a
 * call. Reads short JSON answers; any other answer is returned as it arrived, for those who can read everything.
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { LIMITS } from '../../core/limits.ts';
import { isObject } from '../../json/plain-object.ts';
import { type Redact, redactUnknown } from '../../secrets/redactor.ts';
import type { Credentials } from '../credentials.ts';
import { META } from '../handshake.ts';
import { isJsonRpcMessage, type JsonRpcMessage, type SendOptions } from '../json-rpc.ts';
import { headerValue } from '../param-headers.ts';
import { unreachable } from './guarded-fetch.ts';
import { type Arrived, OWN_HEADERS, sendRequest, type Target, targetOf } from './http-fetch.ts';

export interface PlainCallsOptions {
  readonly server: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly maxMessageBytes: number;
  readonly credentials?: Credentials | undefined;
  readonly redact?: Redact | undefined;
}

/** What a call carries from the handshake. */
export interface Greeted {
  readonly sessionId: string | undefined;
  readonly version: string | undefined;
}

/** The answer to a call, or what arrived instead of a short one. */
export type PlainAnswer =
  | { readonly message: JsonRpcMessage; readonly bytes: number; readonly authorization: string | undefined }
  | { readonly arrived: Arrived };

const ACCEPTED = ['application/json', 'text/event-stream'];

export class PlainCalls {
  readonly #options: PlainCallsOptions;
  readonly #redact: Redact;
  readonly #target: Target;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #maxBytes: number;

  constructor(options: PlainCallsOptions) {
    this.#options = options;
    this.#redact = options.redact ?? redactUnknown;
    this.#target = targetOf(options.url);
    const own = options.headers.get('accept')?.toLowerCase().split(',') ?? [];
    const accept = [...new Set([...own.map((type) => type.trim()), ...ACCEPTED])].join(', ');
    const given = { ...Object.fromEntries(options.headers), accept, 'content-type': 'application/json' };
    this.#headers = { ...OWN_HEADERS, ...given };
    this.#maxBytes = Math.min(options.maxMessageBytes, LIMITS.wire.large);
  }

  /** Sends a call once. Rejects like a guarded fetch. */
  async send(call: JsonRpcMessage, options: SendOptions, greeted: Greeted): Promise<PlainAnswer> {
    const { server, credentials } = this.#options;
    const { requestSignal: signal } = options;
    const body = JSON.stringify(call);
    const found = credentials?.authorization();
    const authorization = found instanceof Promise ? await found : found;
    const headers = this.#headersOf(call, options, greeted, authorization);
    let what = 'could not be reached';
    const receive = async (message: IncomingMessage): Promise<PlainAnswer> => {
      what = 'broke off its answer';
      const bytes = isPlain(message) ? await shortBody(message, this.#maxBytes) : undefined;
      const answer = bytes && answerIn(bytes);
      return answer && bytes
        ? { message: answer, bytes: bytes.length, authorization }
        : { arrived: { message, body: bytes, authorization } };
    };
    try {
      return await sendRequest(this.#target, { method: 'POST', headers, body, signal }, receive);
    } catch (error) {
      throw signal?.aborted ? error : unreachable(server, what, error, this.#redact);
    }
  }

  #headersOf(
    { method, params }: JsonRpcMessage,
    { headers: own }: SendOptions,
    { sessionId, version }: Greeted,
    authorization: string | undefined,
  ): Record<string, string> {
    const headers: Record<string, string> = { ...this.#headers };
    if (own) Object.assign(headers, own);
    if (authorization !== undefined) headers.authorization = authorization;
    if (sessionId !== undefined) headers['mcp-session-id'] = sessionId;
    const meta = params?._meta;
    const claimed = isObject(meta) ? meta[META.protocolVersion] : undefined;
    if (typeof claimed === 'string') {
      headers['mcp-method'] = method ?? '';
      headers['mcp-name'] = headerValue(String(params?.name));
      headers['mcp-protocol-version'] = claimed;
    } else if (version !== undefined) headers['mcp-protocol-version'] = version;
    return headers;
  }
}

const isPlain = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 200 &&
  headers['content-encoding'] === undefined &&
  /^\s*application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '');

function answerIn(bytes: Buffer): JsonRpcMessage | undefined {
  try {
    const message: unknown = JSON.parse(bytes.toString('utf8'));
    return isJsonRpcMessage(message) && message.method === undefined ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a body of a few chunks. Of any other, nothing is taken away, and undefined is returned. */
function shortBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const whole = () => (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes && chunks.length <= LIMITS.wire.plainChunks) return;
      message.off('data', onData).pause();
      message.unshift(whole());
      resolve(undefined);
    };
    message.on('data', onData);
    message.on('end', () => resolve(whole()));
    // Node reports both for a body that breaks off.
    message.on('error', reject);
    message.on('close', () => message.readableEnded || reject(new Error('the connection was closed')));
  });
}

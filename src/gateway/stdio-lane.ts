/**
 * Our end of stdio: the SDK's transport with a lane of its own for `tools/call`.
 *
 * The SDK decides the protocol revision, answers the handshake and everything rare. But it parses and validates every
 * message against schemas, which costs more than the call it carries. So once a connection is open, plain calls go
 * straight to the handler and their results straight out, verbatim. What the lane does not fully understand, it leaves
 * to the SDK, whose own handler for `tools/call` does the same thing more slowly.
 * @module
 */
import type { Readable, Writable } from 'node:stream';
import { Cancellation } from '../cancellation.ts';
import { META, MODERN_VERSION, type ProtocolEra } from '../connections/handshake.ts';
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isJsonRpcMessage,
  JsonRpcError,
  type JsonRpcId,
  type JsonRpcMessage,
  METHOD_NOT_FOUND,
} from '../connections/json-rpc.ts';
import { LineReader } from '../connections/line-reader.ts';
import { lostRequest } from '../connections/lost-answer.ts';
import { NestingError, parseNested } from '../json-nesting.ts';
import type { Progress, ServerRequest } from '../types.ts';
import type { RawResult } from './parked-calls.ts';
import { requestFault } from './request-fault.ts';
import { reworded } from './sdk-refusal.ts';
import type { UpstreamHandler } from './upstream.ts';

export interface StdioLaneOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly handler: UpstreamHandler;
  readonly maxMessageBytes: number;
  /** The client talks to somebody else through us: errors that come by the SDK may be theirs and stay as they are. */
  readonly relays?: boolean | undefined;
  /** Stamped on results of protocol 2026-07-28. */
  readonly serverInfo: Readonly<Record<string, unknown>>;
  /** The client has closed its end, or we ours. */
  readonly onEnd?: () => void;
}

const PARSE_ERROR = -32700;
const SESSION = 'stdio';
/** Bytes of answers that may wait for the client before we stop reading its requests. */
const MOST_UNREAD = 4 * 1024 * 1024;
const ASK_CAPABILITY: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** An SDK `Transport` over stdin and stdout; hand it to `serveStdio`. */
export class StdioLane {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  readonly #options: StdioLaneOptions;
  readonly #calls = new Map<JsonRpcId, Cancellation>();
  readonly #questions = new Map<
    JsonRpcId,
    { resolve: (result: Record<string, unknown>) => void; reject: (reason: Error) => void }
  >();
  /** Ids of opening requests whose answers tell us that the SDK has settled on an era. */
  readonly #openings = new Map<JsonRpcId, ProtocolEra>();
  #era: ProtocolEra | undefined;
  #revision: string | undefined;
  #capabilities: Readonly<Record<string, unknown>> = {};
  #asked = 0;
  #ended = false;
  #closed = false;

  constructor(options: StdioLaneOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { input, output, maxMessageBytes } = this.#options;
    const lines = new LineReader({
      maxBytes: maxMessageBytes,
      onLine: (line) => this.#line(line),
      onTooLong: (head, tail) =>
        this.#invalid(lostRequest(head, tail), INVALID_REQUEST, `a message may have at most ${maxMessageBytes} bytes`),
    });
    input.on('data', (chunk: Buffer) => lines.push(chunk));
    input.on('error', (error) => this.onerror?.(error));
    input.on('end', () => this.#end());
    input.on('close', () => this.#end());
    output.on('error', () => this.close());
  }

  async send(message: JsonRpcMessage): Promise<void> {
    if (message.method === undefined && message.id !== undefined && message.id !== null)
      this.#answered(message.id, message);
    this.#write(message.error && !this.#options.relays ? { ...message, error: reworded(message.error) } : message);
  }

  /** The client says no more. It may still read what it has asked for, so calls go on until we are closed. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#abandonQuestions(new Error('the client closed the connection'));
    this.#options.onEnd?.();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // A client may keep its end open after it has told us to go; reading on would keep this process alive.
    this.#options.input.pause();
    const reason = new Error('the client closed the connection');
    for (const call of this.#calls.values()) call.abort(reason);
    this.#abandonQuestions(reason);
    this.onclose?.();
    this.#end();
  }

  #abandonQuestions(reason: Error): void {
    for (const question of this.#questions.values()) question.reject(reason);
    this.#questions.clear();
  }

  /** Calls in the lane that have not been answered. */
  get inFlight(): number {
    return this.#calls.size;
  }

  #line(line: string): void {
    let message: unknown;
    try {
      message = parseNested(line);
    } catch (error) {
      if (!(error instanceof NestingError)) return this.#invalid(null, PARSE_ERROR, 'this line is not JSON');
      const id = error.value === undefined ? lostRequest(line.slice(0, 1024), line.slice(-128)) : idOf(error.value);
      return this.#invalid(id, INVALID_REQUEST, `this message cannot be read: ${error.message}`);
    }
    if (!isJsonRpcMessage(message))
      return this.#invalid(idOf(message), INVALID_REQUEST, 'this is not a JSON-RPC 2.0 message');
    if (message.method === undefined) {
      if (!this.#reply(message)) this.#forward(message);
    } else if (message.id === undefined) {
      if (!this.#cancel(message)) this.#forward(message);
    } else if (!isRequestId(message.id)) {
      this.#invalid(idOf(message), INVALID_REQUEST, 'a request id is a string or a whole number');
    } else if (this.#calls.has(message.id)) {
      this.#invalid(message.id, INVALID_REQUEST, 'this request id is still in use');
    } else this.#request(message.id, message);
  }

  #request(id: JsonRpcId, message: JsonRpcMessage): void {
    const { jsonrpc, method, params } = message;
    const fault = requestFault(message);
    if (fault) return this.#invalid(id, fault.code, fault.message);
    if (method === 'tools/call' && this.#understands(params)) return void this.#call(id, params ?? {});
    this.#watchOpening(message);
    // Without what does not belong to a request, for which the SDK would drop it.
    this.#forward({ jsonrpc, id, ...(method !== undefined && { method }), ...(params && { params }) });
  }

  async #call(id: JsonRpcId, params: Readonly<Record<string, unknown>>): Promise<void> {
    const cancellation = new Cancellation();
    this.#calls.set(id, cancellation);
    const modern = this.#era === 'modern';
    const meta = params._meta as Record<string, unknown> | undefined;
    const token = meta?.progressToken;
    const capabilities = modern ? (meta?.[META.clientCapabilities] as Record<string, unknown>) : this.#capabilities;
    try {
      const result = await this.#options.handler({
        params,
        era: modern ? 'modern' : 'legacy',
        session: modern ? undefined : SESSION,
        revision: this.#revision,
        capabilities,
        signal: cancellation,
        onProgress:
          typeof token === 'string' || typeof token === 'number'
            ? (progress) => this.#progress(id, cancellation, token, progress)
            : undefined,
        ask: modern ? undefined : this.#ask,
      });
      if (this.#finish(id, cancellation))
        this.#write({ jsonrpc: '2.0', id, result: modern ? this.#stamp(result) : result });
    } catch (error) {
      if (!this.#finish(id, cancellation)) return;
      if (error instanceof JsonRpcError) this.#refuse(id, error.code, error.message, error.data);
      else this.#refuse(id, INTERNAL_ERROR, error instanceof Error ? error.message : String(error));
    }
  }

  /** Whether the call still waits for its answer. A cancelled one does not, even if its id is in use again. */
  #finish(id: JsonRpcId, cancellation: Cancellation): boolean {
    return this.#calls.get(id) === cancellation && this.#calls.delete(id);
  }

  #progress(id: JsonRpcId, cancellation: Cancellation, progressToken: JsonRpcId, progress: Progress): void {
    if (this.#calls.get(id) === cancellation)
      this.#write({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, ...progress } });
  }

  #stamp(result: RawResult): RawResult {
    const meta = result._meta as Record<string, unknown> | undefined;
    return { resultType: 'complete', ...result, _meta: { ...meta, [META.serverInfo]: this.#options.serverInfo } };
  }

  readonly #ask = (request: ServerRequest, signal?: AbortSignal): Promise<Record<string, unknown>> => {
    const capability = ASK_CAPABILITY[request.method];
    if (!capability || !this.#capabilities[capability]) {
      return Promise.reject(new JsonRpcError(METHOD_NOT_FOUND, `the client does not support ${request.method}`));
    }
    const id = `anygpt-${++this.#asked}`;
    return new Promise((resolve, reject) => {
      this.#questions.set(id, { resolve, reject });
      signal?.addEventListener(
        'abort',
        () => {
          if (!this.#questions.delete(id)) return;
          this.#write({
            jsonrpc: '2.0',
            method: 'notifications/cancelled',
            params: { requestId: id, reason: 'no longer needed' },
          });
          reject(signal.reason);
        },
        { once: true },
      );
      this.#write({ jsonrpc: '2.0', id, method: request.method, ...(request.params && { params: request.params }) });
    });
  };

  #reply(message: JsonRpcMessage): boolean {
    const question = this.#questions.get(message.id as JsonRpcId);
    if (!question) return false;
    this.#questions.delete(message.id as JsonRpcId);
    if (message.error) question.reject(new JsonRpcError(message.error.code, message.error.message, message.error.data));
    else question.resolve({ ...message.result });
    return true;
  }

  #cancel(message: JsonRpcMessage): boolean {
    if (message.method !== 'notifications/cancelled') return false;
    const id = message.params?.requestId as JsonRpcId;
    const call = this.#calls.get(id);
    if (!call) return false;
    // No answer is expected to a cancelled request.
    this.#calls.delete(id);
    call.abort(new Error('cancelled by the client'));
    return true;
  }

  /** Whether a call is one that the lane may take: the era is settled, and it is the call's. An envelope has been checked. */
  #understands(params: Readonly<Record<string, unknown>> | undefined): boolean {
    if (typeof params?.name !== 'string') return false;
    const meta = params._meta as Record<string, unknown> | undefined;
    const claims = meta?.[META.protocolVersion];
    return this.#era === 'legacy' ? claims === undefined : this.#era === 'modern' && claims === MODERN_VERSION;
  }

  #watchOpening(message: JsonRpcMessage): void {
    // A client may probe with `server/discover` and then go on with `initialize`; never the other way round.
    if (this.#era === 'legacy') return;
    const claims = (message.params?._meta as Record<string, unknown> | undefined)?.[META.protocolVersion];
    if (claims === MODERN_VERSION) this.#openings.set(message.id as JsonRpcId, 'modern');
    else if (message.method === 'initialize') {
      this.#capabilities = (message.params?.capabilities as Record<string, unknown> | undefined) ?? {};
      this.#openings.set(message.id as JsonRpcId, 'legacy');
    }
  }

  #answered(id: JsonRpcId, message: JsonRpcMessage): void {
    const era = this.#openings.get(id);
    if (!era) return;
    this.#openings.delete(id);
    if (message.error) return;
    this.#era = era;
    this.#revision = era === 'modern' ? MODERN_VERSION : (message.result?.protocolVersion as string | undefined);
  }

  #forward(message: JsonRpcMessage): void {
    this.onmessage?.(message as never);
  }

  /** Refuses what the client sent, in words of our own. */
  #invalid(id: JsonRpcId | null, code: number, message: string): void {
    this.#refuse(id, code, message, { code: 'VALIDATION_ERROR' });
  }

  #refuse(id: JsonRpcId | null, code: number, message: string, data?: unknown): void {
    this.#write({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
  }

  #write(message: JsonRpcMessage): void {
    if (this.#closed) return;
    let text: string;
    try {
      text = JSON.stringify(message);
    } catch {
      // Only nesting that no JSON writer can follow ends here.
      text = JSON.stringify({
        jsonrpc: '2.0',
        id: message.id ?? null,
        error: { code: INTERNAL_ERROR, message: 'the result is nested too deeply to be sent' },
      });
    }
    const { input, output } = this.#options;
    if (output.write(`${text}\n`) || output.writableLength < MOST_UNREAD || input.isPaused()) return;
    // A client that asks and does not read gets no further questions in.
    input.pause();
    output.once('drain', () => !this.#closed && input.resume());
  }
}

const isRequestId = (id: unknown): id is JsonRpcId => typeof id === 'string' || Number.isSafeInteger(id);

function idOf(message: unknown): JsonRpcId | null {
  const id = typeof message === 'object' && message !== null ? (message as { id?: unknown }).id : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

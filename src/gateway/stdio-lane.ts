/**
 * Carries our end of stdio: the SDK's transport, with a fast lane for `tools/call`.
 *
 * The SDK decides the protocol revision and answers everything rare. But it validates every message against schemas,
 * which costs more than the call itself. So once a connection is open, plain calls go straight to the handler, and
 * their results go out verbatim. Anything the lane does not fully understand goes to the SDK, whose handler for
 * `tools/call` does the same more slowly. Loading the SDK takes longer than the rest of a start, so the lane can greet
 * a client by itself. The SDK is loaded when it is first needed, and is told what it missed.
 * @module
 */
import type { Readable, Writable } from 'node:stream';
import { Cancellation } from '../async/cancellation.ts';
import { META, MODERN_VERSION, type ProtocolEra } from '../connections/handshake.ts';
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isJsonRpcMessage,
  JsonRpcError,
  type JsonRpcId,
  type JsonRpcMessage,
  PARSE_ERROR,
} from '../connections/json-rpc.ts';
import { parseLarge } from '../connections/large-json.ts';
import { largeTurns } from '../connections/large-turns.ts';
import { type LargeLine, type LineFault, LineReader } from '../connections/line-reader.ts';
import { lostRequest } from '../connections/lost-answer.ts';
import { LIMITS } from '../core/limits.ts';
import type { Progress } from '../core/types.ts';
import { NestingError, parseNested } from '../json/json-nesting.ts';
import { ClientQuestions } from './client-questions.ts';
import { earlyAnswer, greet, type Introduction, isPlainEnvelope } from './introduction.ts';
import { LateSdk } from './late-sdk.ts';
import { MessageWriter } from './message-writer.ts';
import type { RawResult } from './parked-calls.ts';
import { requestFault, unreadRequest } from './request-fault.ts';
import { reworded } from './sdk-refusal.ts';
import type { UpstreamHandler } from './upstream.ts';

export interface StdioLaneOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly handler: UpstreamHandler;
  readonly maxMessageBytes: number;
  /** Whether the client talks to one exposed server. Errors may then come from that server and are not reworded. */
  readonly relays?: boolean | undefined;
  /** Stamped on results of protocol 2026-07-28. */
  readonly serverInfo: Readonly<Record<string, unknown>>;
  /** What the lane may answer by itself before the SDK is loaded. */
  readonly introduction?: Introduction | undefined;
  /** Called with each request and notification that is left to the SDK. */
  readonly onLeft?: ((message: JsonRpcMessage) => void) | undefined;
  /** Loads the SDK, which then calls `start`. Called once, after `listen`, when the SDK is needed. */
  readonly wake?: (() => void) | undefined;
  /** Called when either side has closed. */
  readonly onEnd?: () => void;
}

const SESSION = 'stdio';

/** An SDK `Transport` over stdin and stdout; hand it to `serveStdio`. */
export class StdioLane {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  readonly #options: StdioLaneOptions;
  readonly #calls = new Map<JsonRpcId, Cancellation>();
  readonly #writer: MessageWriter;
  readonly #questions: ClientQuestions;
  readonly #sdk: LateSdk;
  /** Requests left to the SDK, with the era that the answer settles, if any. */
  readonly #leftToSdk = new Map<JsonRpcId, ProtocolEra | undefined>();
  #era: ProtocolEra | undefined;
  #revision: string | undefined;
  #reads = false;
  #ended = false;
  #closed = false;

  constructor(options: StdioLaneOptions) {
    this.#options = options;
    this.#writer = new MessageWriter(options.input, options.output);
    this.#questions = new ClientQuestions((message) => this.#writer.write(message));
    const { input, wake } = options;
    this.#sdk = new LateSdk({ input, wake, deliver: (message) => this.onmessage?.(message as never) });
  }

  /** Starts reading, even before the SDK is loaded. */
  listen(): void {
    if (this.#reads) return;
    this.#reads = true;
    const { input, output, maxMessageBytes } = this.#options;
    const lines = new LineReader({
      maxBytes: maxMessageBytes,
      maxValues: LIMITS.json.clientValues,
      onLine: (line) => this.#line(line),
      onLarge: (line) => this.#large(line),
      onUnread: (head, tail, why) => this.#unread(head, tail, why),
    });
    const end = () => void (lines.reading ? lines.reading.then(end) : this.#end());
    input.on('data', (chunk: Buffer) => {
      lines.push(chunk);
      if (!lines.reading) return;
      // Nothing overtakes a large message, so the input is paused meanwhile.
      input.pause();
      void lines.reading.then(() => this.#writer.readOn());
    });
    input.on('error', (error) => this.onerror?.(error));
    input.on('end', end);
    input.on('close', end);
    output.on('error', () => this.close());
  }

  /** Called by the SDK once it is loaded. */
  async start(): Promise<void> {
    if (this.#sdk.arrive() && !this.#closed) this.#options.input.resume();
    this.listen();
  }

  async send(message: JsonRpcMessage): Promise<void> {
    if (this.#sdk.isRetold(message)) return;
    if (message.method === undefined && message.id !== undefined && message.id !== null)
      this.#answered(message.id, message);
    this.#writer.write(
      message.error && !this.#options.relays ? { ...message, error: reworded(message.error) } : message,
    );
  }

  /** Handles the end of the input. The client may still read, so calls go on until `close`. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#questions.abandon(new Error('the client closed the connection'));
    this.#options.onEnd?.();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#writer.close();
    const reason = new Error('the client closed the connection');
    for (const call of this.#calls.values()) call.abort(reason);
    this.#questions.abandon(reason);
    this.onclose?.();
    this.#end();
  }

  /** The client's capabilities, as its first message gave them. */
  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#questions.capabilities;
  }

  /** Tells the client to list the tools again, as the SDK would. */
  toolListChanged(): void {
    if (this.#era === 'legacy') this.#writer.write({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  }

  /** Calls in the lane without an answer yet. */
  get inFlight(): number {
    return this.#calls.size;
  }

  #line(line: string): void {
    let message: unknown;
    try {
      message = parseNested(line);
    } catch (error) {
      if (!(error instanceof NestingError)) return this.#invalid(null, PARSE_ERROR, 'this line is not JSON');
      const id =
        error.value === undefined
          ? lostRequest(line.slice(0, LIMITS.wire.head), line.slice(-LIMITS.wire.tail))
          : idOf(error.value);
      return this.#invalid(id, INVALID_REQUEST, `this message cannot be read: ${error.message}`);
    }
    this.#message(message);
  }

  /** Waits for a turn, then reads a large message. */
  #large({ bytes, values }: LargeLine): Promise<void> | undefined {
    if (values > LIMITS.json.clientValues) {
      const tail = bytes.toString('utf8', Math.max(0, bytes.length - LIMITS.wire.tail));
      return void this.#unread(bytes.toString('utf8', 0, LIMITS.wire.head), tail, 'too-many');
    }
    return largeTurns.run(parseLarge(bytes, values)).then(
      (message) => this.#message(message),
      () => this.#invalid(null, PARSE_ERROR, 'this line is not JSON'),
    );
  }

  /** Refuses a message of which only a part was read. Finds its id in that part. */
  #unread(head: string, tail: string | undefined, why: LineFault): void {
    const { maxMessageBytes } = this.#options;
    this.#invalid(
      lostRequest(head, tail),
      INVALID_REQUEST,
      unreadRequest(why, maxMessageBytes, LIMITS.json.clientValues),
    );
  }

  #message(message: unknown): void {
    if (!isJsonRpcMessage(message))
      return this.#invalid(idOf(message), INVALID_REQUEST, 'this is not a JSON-RPC 2.0 message');
    if (message.method === undefined) {
      if (!this.#questions.reply(message)) this.#sdk.forward(message);
    } else if (message.id === undefined) {
      if (!this.#cancel(message)) this.#leave(message);
    } else if (!isRequestId(message.id)) {
      this.#invalid(idOf(message), INVALID_REQUEST, 'a request id is a string or a whole number');
    } else if (this.#calls.has(message.id) || this.#leftToSdk.has(message.id)) {
      this.#invalid(message.id, INVALID_REQUEST, 'this request id is still in use');
    } else this.#request(message.id, message);
  }

  #request(id: JsonRpcId, message: JsonRpcMessage): void {
    const { jsonrpc, method, params } = message;
    const fault = requestFault(message);
    if (fault) return this.#invalid(id, fault.code, fault.message);
    if (this.#era === undefined) this.#openAlone(message);
    if (method === 'tools/call' && this.#understands(params)) return this.#call(id, params ?? {});
    if (this.#sdk.isAbsent && this.#answerAlone(id, message)) return;
    this.#leftToSdk.set(id, this.#eraOpenedBy(message));
    // Extra keys are left out: the SDK would drop the request because of them.
    this.#leave({ jsonrpc, id, ...(method !== undefined && { method }), ...(params && { params }) });
  }

  #leave(message: JsonRpcMessage): void {
    this.#options.onLeft?.(message);
    this.#sdk.forward(message);
  }

  /** Settles on the new protocol without the SDK: each of its requests stands alone. */
  #openAlone(message: JsonRpcMessage): void {
    if (!this.#options.introduction || !this.#sdk.isAbsent || !isPlainEnvelope(message.params)) return;
    this.#eraOpenedBy(message);
    this.#era = 'modern';
    this.#revision = MODERN_VERSION;
  }

  /** Answers in place of the SDK while it is not loaded. Returns false if it cannot. */
  #answerAlone(id: JsonRpcId, { method, params }: JsonRpcMessage): boolean {
    const { introduction } = this.#options;
    if (introduction === undefined) return false;
    if (this.#era !== undefined && this.#isOfEra(params)) {
      const work = earlyAnswer(introduction, this.#era, method, params);
      if (work) void this.#answer(id, work);
      if (work || this.#era === 'legacy') return work !== undefined;
    }
    const greeting = method === 'initialize' ? greet(introduction, params) : undefined;
    if (greeting === undefined) return false;
    this.#era = 'legacy';
    this.#revision = greeting.revision;
    this.#questions.capabilities = greeting.capabilities;
    this.#sdk.greeted(params);
    this.#writer.write({ jsonrpc: '2.0', id, result: greeting.result });
    return true;
  }

  #call(id: JsonRpcId, params: Readonly<Record<string, unknown>>): void {
    const modern = this.#era === 'modern';
    const meta = params._meta as Record<string, unknown> | undefined;
    const token = meta?.progressToken;
    const { capabilities, ask } = this.#questions;
    void this.#answer(id, (signal) =>
      this.#options.handler({
        params,
        id,
        era: modern ? 'modern' : 'legacy',
        session: SESSION,
        revision: this.#revision,
        capabilities: modern ? (meta?.[META.clientCapabilities] as Record<string, unknown>) : capabilities,
        signal,
        onProgress:
          typeof token === 'string' || typeof token === 'number'
            ? (progress) => this.#progress(id, signal, token, progress)
            : undefined,
        ask: modern ? undefined : ask,
      }),
    );
  }

  async #answer(id: JsonRpcId, work: (signal: Cancellation) => Promise<RawResult>): Promise<void> {
    const cancellation = new Cancellation();
    const modern = this.#era === 'modern';
    this.#calls.set(id, cancellation);
    try {
      const result = await work(cancellation);
      if (this.#finish(id, cancellation))
        this.#writer.write({ jsonrpc: '2.0', id, result: modern ? this.#stamp(result) : result });
    } catch (error) {
      if (!this.#finish(id, cancellation)) return;
      if (error instanceof JsonRpcError) this.#refuse(id, error.code, error.message, error.data);
      else this.#refuse(id, INTERNAL_ERROR, error instanceof Error ? error.message : String(error));
    }
  }

  /** Tells whether the call still waits for its answer. A cancelled call does not, even if its id is in use again. */
  #finish(id: JsonRpcId, cancellation: Cancellation): boolean {
    return this.#calls.get(id) === cancellation && this.#calls.delete(id);
  }

  #progress(id: JsonRpcId, cancellation: Cancellation, progressToken: JsonRpcId, progress: Progress): void {
    if (this.#calls.get(id) === cancellation)
      this.#writer.write({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, ...progress } });
  }

  #stamp(result: RawResult): RawResult {
    const meta = result._meta as Record<string, unknown> | undefined;
    return { resultType: 'complete', ...result, _meta: { ...meta, [META.serverInfo]: this.#options.serverInfo } };
  }

  #cancel(message: JsonRpcMessage): boolean {
    if (message.method !== 'notifications/cancelled') return false;
    const id = message.params?.requestId as JsonRpcId;
    const call = this.#calls.get(id);
    this.#leftToSdk.delete(id);
    if (!call) return false;
    // A cancelled request gets no answer.
    this.#calls.delete(id);
    call.abort(new Error('cancelled by the client'));
    return true;
  }

  /**
   * Tells whether the lane may take a call: the era is settled and matches the call. The envelope is already checked.
   */
  #understands(params: Readonly<Record<string, unknown>> | undefined): boolean {
    return typeof params?.name === 'string' && this.#isOfEra(params);
  }

  #isOfEra(params: Readonly<Record<string, unknown>> | undefined): boolean {
    const meta = params?._meta as Record<string, unknown> | undefined;
    const claims = meta?.[META.protocolVersion];
    return this.#era === 'legacy' ? claims === undefined : this.#era === 'modern' && claims === MODERN_VERSION;
  }

  #eraOpenedBy(message: JsonRpcMessage): ProtocolEra | undefined {
    // A client may probe with `server/discover` and then continue with `initialize`; never the other way round.
    if (this.#era === 'legacy') return undefined;
    const meta = message.params?._meta as Record<string, unknown> | undefined;
    const isModern = meta?.[META.protocolVersion] === MODERN_VERSION;
    if (!isModern && message.method !== 'initialize') return undefined;
    const given = isModern ? meta?.[META.clientCapabilities] : message.params?.capabilities;
    this.#questions.capabilities = (given as Record<string, unknown> | undefined) ?? {};
    return isModern ? 'modern' : 'legacy';
  }

  #answered(id: JsonRpcId, message: JsonRpcMessage): void {
    const era = this.#leftToSdk.get(id);
    this.#leftToSdk.delete(id);
    if (!era || message.error) return;
    this.#era = era;
    this.#revision = era === 'modern' ? MODERN_VERSION : (message.result?.protocolVersion as string | undefined);
  }

  /** Refuses a client's message. */
  #invalid(id: JsonRpcId | null, code: number, message: string): void {
    this.#refuse(id, code, message, { code: 'VALIDATION_ERROR' });
  }

  #refuse(id: JsonRpcId | null, code: number, message: string, data?: unknown): void {
    this.#writer.write({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
  }
}

const isRequestId = (id: unknown): id is JsonRpcId => typeof id === 'string' || Number.isSafeInteger(id);

function idOf(message: unknown): JsonRpcId | null {
  const id = typeof message === 'object' && message !== null ? (message as { id?: unknown }).id : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

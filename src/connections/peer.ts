/**
 * Implements one side of a JSON-RPC conversation: sends requests with progress and cancellation, and receives requests
 * and notifications.
 *
 * The SDK's `Client` parses every message into its own schemas, which costs as much as the call itself, drops what it
 * does not know and loses the last progress message. A gateway needs every message unchanged, in order, once. Answers
 * are delivered in the order they arrive, so progress always precedes its result.
 * @module
 */
import { type CallSignal, Cancellation } from '../async/cancellation.ts';
import { InFlight } from '../async/in-flight.ts';
import { LIMITS } from '../core/limits.ts';
import type { Progress } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { redactData } from '../secrets/redact-data.ts';
import { type Redact, redactUnknown } from '../secrets/redactor.ts';
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isJsonRpcMessage,
  JsonRpcError,
  type JsonRpcId,
  type JsonRpcMessage,
  METHOD_NOT_FOUND,
  type MessageInfo,
  NotSentError,
  type Wire,
} from './json-rpc.ts';

export interface PeerRequestOptions {
  readonly signal?: CallSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The caller, if known: callers that share a server take turns with large requests. */
  readonly caller?: string | undefined;
}

export interface Answer {
  readonly result: Readonly<Record<string, unknown>>;
  readonly bytes: number | undefined;
}

export interface IncomingRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Aborted when the other side cancels or the conversation ends. */
  readonly signal: AbortSignal;
}

export interface PeerOptions {
  /** Answers requests of the other side. If absent, they get "method not found". */
  readonly onRequest?: (request: IncomingRequest) => Promise<Record<string, unknown>>;
  readonly onNotification?: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** Whether notifications are relayed. If not, large ones are not even read. */
  readonly relaysNotifications?: () => boolean;
  readonly onClose?: (reason: Error) => void;
  /** Removes secrets from errors and progress of the other side before they are used. */
  readonly redact?: Redact | undefined;
  /** Requests of the other side that may be open at the same time. */
  readonly maxIncoming?: number;
}

/** The conversation ended before the answer came. The outcome of the request is unknown. */
export class PeerClosedError extends Error {
  override readonly name: string = 'PeerClosedError';
}

/** We closed the connection because the server no longer knows us. The server itself may be healthy. */
export class ForgottenError extends PeerClosedError {
  override readonly name = 'ForgottenError';
}

interface Pending {
  readonly id: JsonRpcId;
  readonly method: string;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly signal: CallSignal | undefined;
  readonly onAbort: (() => void) | undefined;
  readonly stream: Cancellation | undefined;
}

/** The request of a subscription, which stays open. */
export const LISTEN = 'subscriptions/listen';

/** Subscriptions and requests without a signal have no caller that waits. */
const isWaitedFor = ({ signal, method }: Pending): boolean => signal !== undefined && method !== LISTEN;

const NO_PARAMS: Readonly<Record<string, unknown>> = Object.freeze({});

export class Peer {
  /**
   * Entries for the `_meta` of every request: protocol 2026-07-28 has no handshake, so each request names the client.
   */
  envelope: Readonly<Record<string, unknown>> | undefined;
  readonly #wire: Wire;
  readonly #options: PeerOptions;
  readonly #redact: Redact;
  readonly #pending = new InFlight<Pending>();
  readonly #incoming = new Map<JsonRpcId, AbortController>();
  /** Messages received so far. */
  received = 0;
  /** Answers to pings that are still on their way out. */
  #answering = 0;
  #nextId = 1;
  #closed: Error | undefined;

  constructor(wire: Wire, options: PeerOptions = {}) {
    this.#wire = wire;
    this.#options = options;
    this.#redact = options.redact ?? redactUnknown;
    wire.onmessage = (message, info) => this.#receive(message, info);
    wire.awaited = (id) => this.#pendingWith(id)?.method;
    wire.relaysNotifications = () => options.relaysNotifications?.() ?? false;
    wire.onclose = () => this.#end(new PeerClosedError('the connection was closed by the server'));
  }

  /** Opens the wire. */
  start(): Promise<void> {
    return this.#wire.start();
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** Whether a call should wait until the server has accepted a harmless request with the current token. */
  get needsProof(): boolean {
    return this.#wire.needsProof?.() === true;
  }

  /** Whether a caller waits for an answer. */
  get isAwaited(): boolean {
    return this.#pending.find(isWaitedFor) !== undefined;
  }

  /**
   * Sends a request and returns the raw result. Rejects with `JsonRpcError` for an error answer, `PeerClosedError` when
   * the conversation ends first, `NotSentError` when it has ended already, and the signal's reason when aborted; the
   * other side is then told to stop.
   */
  request(
    method: string,
    params: Readonly<Record<string, unknown>> | undefined,
    options: PeerRequestOptions = {},
  ): Promise<Answer> {
    const { signal, onProgress } = options;
    if (this.#closed) return Promise.reject(new NotSentError(this.#closed.message, { cause: this.#closed }));
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.#nextId++;
    const stream = this.#wire.hasPerRequestStream ? new Cancellation() : undefined;
    return new Promise<Answer>((resolve, reject) => {
      const onAbort = signal ? () => this.#cancel(id, signal.reason) : undefined;
      this.#pending.add({ id, method, resolve, reject, onProgress, signal, onAbort, stream });
      if (onAbort) signal?.addEventListener('abort', onAbort);
      const message = { jsonrpc: '2.0' as const, id, method, params: this.#withMeta(params, onProgress && id) };
      this.#send(id, message, stream, options);
    });
  }

  /** Sends a notification. If the wire cannot carry it, the wire ends the conversation itself. */
  notify(method: string, params?: Readonly<Record<string, unknown>>): void {
    if (this.#closed) return;
    this.#post({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  /** Fails the request whose answer arrived but could not be read. */
  failRequest(id: JsonRpcId, reason: Error): boolean {
    const pending = this.#take(id);
    pending?.reject(reason);
    return pending !== undefined;
  }

  /** Fails the request that a caller waits for, if there is only one. */
  failOnly(reason: Error): void {
    const [only, ...others] = [...this.#pending].filter(isWaitedFor);
    if (only && others.length === 0) this.failRequest(only.id, reason);
  }

  /** Ends the conversation: rejects all open requests, then closes the wire. */
  async close(reason: Error = new PeerClosedError('the connection was closed')): Promise<void> {
    this.#end(reason);
    await this.#wire.close();
  }

  #send(
    id: number,
    message: JsonRpcMessage,
    stream: Cancellation | undefined,
    { headers, caller }: PeerRequestOptions,
  ): void {
    const failed = (error: unknown) => this.#take(id)?.reject(error);
    try {
      const sent = this.#wire.send(
        message,
        stream && {
          requestSignal: stream,
          ...(headers && { headers }),
          // An answer on the stream is read before the stream ends; requests still open then will never be answered.
          onRequestStreamEnd: (reason) =>
            queueMicrotask(() => {
              if (this.#pendingWith(id)) failed(reason ?? new PeerClosedError('the response ended without an answer'));
            }),
        },
        caller,
      );
      if (sent instanceof Promise) sent.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  #withMeta(params: Readonly<Record<string, unknown>> | undefined, ours: number | undefined) {
    const own = params?._meta as Record<string, unknown> | undefined;
    if (this.envelope === undefined && own === undefined)
      return ours === undefined ? (params ?? NO_PARAMS) : { ...params, _meta: { progressToken: ours } };
    // Only our own token: one chosen by a caller could be the number of another request of ours.
    return { ...params, _meta: { ...this.envelope, ...own, progressToken: ours } };
  }

  #cancel(id: number, reason: unknown): void {
    const pending = this.#take(id);
    if (!pending) return;
    // On a modern HTTP wire, closing the stream is the cancellation; elsewhere the server must be told.
    if (!(pending.stream && this.envelope)) {
      this.notify('notifications/cancelled', {
        requestId: id,
        reason: reason instanceof Error ? reason.message : 'cancelled',
      });
    }
    pending.stream?.abort(reason);
    pending.reject(reason);
  }

  #pendingWith(id: JsonRpcId): Pending | undefined {
    return this.#pending.find((pending) => pending.id === id);
  }

  #take(id: JsonRpcId): Pending | undefined {
    const pending = this.#pendingWith(id);
    if (!pending) return undefined;
    this.#pending.delete(pending);
    if (pending.onAbort) pending.signal?.removeEventListener('abort', pending.onAbort);
    return pending;
  }

  /** Returns whether a caller waited for this message. */
  #receive(message: JsonRpcMessage, info: MessageInfo | undefined): boolean {
    if (!isJsonRpcMessage(message)) return false;
    this.received++;
    if (message.method === undefined) return this.#settle(message, info);
    if (message.id === undefined || message.id === null) this.#notified(message.method, message.params ?? NO_PARAMS);
    else void this.#answer(message.id, message.method, message.params ?? NO_PARAMS);
    return false;
  }

  #settle(message: JsonRpcMessage, info: MessageInfo | undefined): boolean {
    const pending = this.#take(message.id ?? -1);
    if (!pending) return false;
    const { result, error } = message;
    if (error !== undefined && error !== null) pending.reject(toJsonRpcError(error, this.#redact));
    else if (isObject(result)) pending.resolve({ result, bytes: info?.bytes });
    else pending.reject(new JsonRpcError(INTERNAL_ERROR, 'the answer has neither a result object nor an error'));
    return true;
  }

  #notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'notifications/progress') {
      const { progressToken, progress, total, message } = params;
      const onProgress = this.#pendingWith(progressToken as JsonRpcId)?.onProgress;
      if (typeof progress !== 'number') return;
      const about = { progress, ...(typeof total === 'number' && { total }) };
      const redact = this.#redact;
      // Redacted on reading: in a flood of progress, most messages are never delivered.
      const note =
        typeof message === 'string'
          ? {
              ...about,
              get message() {
                return redact.cut(message, LIMITS.text.message);
              },
            }
          : about;
      return this.#tell(() => onProgress?.(note));
    }
    if (method === 'notifications/cancelled')
      this.#incoming.get(params.requestId as JsonRpcId)?.abort(new Error('cancelled by the server'));
    this.#tell(() => this.#options.onNotification?.(method, params));
  }

  async #answer(id: JsonRpcId, method: string, params: Readonly<Record<string, unknown>>): Promise<void> {
    const { onRequest, maxIncoming = LIMITS.wire.requests } = this.#options;
    if (method === 'ping') return this.#pong(id);
    if (!onRequest) return this.#refuse(id, METHOD_NOT_FOUND, `no handler for ${method}`);
    if (this.#incoming.has(id)) return this.#refuse(id, INVALID_REQUEST, 'this request id is already in use');
    if (this.#incoming.size >= maxIncoming) return this.#refuse(id, INTERNAL_ERROR, 'too many open requests');
    const controller = new AbortController();
    this.#incoming.set(id, controller);
    try {
      const result = await onRequest({ method, params, signal: controller.signal });
      if (!controller.signal.aborted) this.#post({ jsonrpc: '2.0', id, result });
    } catch (error) {
      if (controller.signal.aborted) return;
      if (error instanceof JsonRpcError) this.#refuse(id, error.code, error.message, error.data);
      else this.#refuse(id, INTERNAL_ERROR, error instanceof Error ? error.message : String(error));
    } finally {
      this.#incoming.delete(id);
    }
  }

  /** A server that pings faster than we can answer needs no answers. */
  #pong(id: JsonRpcId): void {
    if (this.#answering >= LIMITS.wire.pongs) return;
    const sent = this.#post({ jsonrpc: '2.0', id, result: {} });
    if (!sent) return;
    this.#answering++;
    void sent.finally(() => this.#answering--);
  }

  #refuse(id: JsonRpcId, code: number, message: string, data?: unknown): void {
    this.#post({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
  }

  /** The returned promise, if any, settles when the message was sent or lost, and never rejects. */
  #post(message: JsonRpcMessage): Promise<void> | undefined {
    if (this.#closed) return undefined;
    try {
      const sent = this.#wire.send(message);
      if (sent instanceof Promise) return sent.catch((error: Error) => this.#wire.onerror?.(error));
    } catch (error) {
      this.#wire.onerror?.(error as Error);
    }
    return undefined;
  }

  #end(reason: Error): void {
    if (this.#closed) return;
    this.#closed = reason;
    for (const { id } of this.#pending) {
      const pending = this.#take(id);
      pending?.reject(reason);
      pending?.stream?.abort(reason);
    }
    for (const controller of this.#incoming.values()) controller.abort(reason);
    this.#incoming.clear();
    this.#tell(() => this.#options.onClose?.(reason));
  }

  /** A listener that throws must not break the stream that called it. */
  #tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#wire.onerror?.(error as Error);
    }
  }
}

function toJsonRpcError(error: unknown, redact: Redact): JsonRpcError {
  const { code, message, data } = Object(error) as { code?: unknown; message?: unknown; data?: unknown };
  const text = typeof message === 'string' ? message : typeof error === 'string' ? error : 'unknown error';
  const said = redact.cut(text, LIMITS.text.raw);
  return new JsonRpcError(typeof code === 'number' ? code : INTERNAL_ERROR, said, redactData(data, redact));
}

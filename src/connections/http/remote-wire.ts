/**
 * Connects to a server over HTTP with the SDK's transports, and reports what became of each request. Plain calls go past
 * the transports; what they make of an unusual answer is left to them.
 *
 * The transports hide why a stream broke off, leave a request waiting whose JSON answer has another id, drop answers
 * that come with an error status, and (legacy SSE) silently reconnect to a server that has forgotten us.
 * @module
 */
import { SSEClientTransport, SseError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toAbortSignal } from '../../async/cancellation.ts';
import { elapsedNow } from '../../async/clock.ts';
import { waitAtMost } from '../../async/time-limit.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { nestsTooDeep, SHORTEST_DEEP } from '../../json/json-nesting.ts';
import type { Redact } from '../../secrets/redactor.ts';
import type { Credentials } from '../credentials.ts';
import { HttpStatusError } from '../http-status-error.ts';
import {
  type JsonRpcId,
  type JsonRpcMessage,
  type MessageInfo,
  type SendOptions,
  unsendable,
  type Wire,
} from '../json-rpc.ts';
import { type GuardedFetch, type GuardedFetchOptions, guardedFetch, statusRefusal } from './guarded-fetch.ts';
import type { Arrived } from './http-fetch.ts';
import { httpRefusal } from './http-refusal.ts';
import { PlainCalls } from './plain-calls.ts';

interface RemoteWireOptions extends GuardedFetchOptions {
  readonly url: URL;
  readonly headers: Headers;
  readonly credentials?: Credentials | undefined;
  /** Whether a broken stream may be resumed. Servers of protocol 2026-07-28 do not offer that. */
  readonly resumable: boolean;
  /** Called when an answer was nested too deep to be read. */
  readonly onTooDeep?: ((id: JsonRpcId) => void) | undefined;
}

/** One request in flight. `fetch` finds it by a header that is never sent. */
interface Exchange {
  readonly signal: AbortSignal | undefined;
  /** What arrived if the request was sent already. */
  readonly arrived: Arrived | undefined;
  isStream: boolean;
  failure: Error | undefined;
}

interface SdkTransport extends Wire {
  readonly sessionId?: string | undefined;
  terminateSession?(): Promise<void>;
}

const EXCHANGE = 'x-anygpt-exchange';
/** Recognises a tool call. Other text with these words counts as one too, and is sent at most once. */
const CALL = /"method":"tools\/call"/;

/** Creates a wire for Streamable HTTP. */
export function httpWire(options: RemoteWireOptions): Wire {
  return new HttpWire(options, (fetch) => {
    const transport = new StreamableHTTPClientTransport(options.url, {
      requestInit: { headers: options.headers, redirect: 'manual' },
      fetch,
      reconnectionOptions: {
        initialReconnectionDelay: LIMITS.pace.reconnect,
        maxReconnectionDelay: LIMITS.pace.reconnectMost,
        reconnectionDelayGrowFactor: 1.5,
        maxRetries: options.resumable ? 2 : 0,
      },
      // A server may ask for any delay, even none.
      reconnectionScheduler: (reconnect, delay) => {
        const timer = setTimeout(reconnect, Math.max(delay, LIMITS.pace.reconnect)).unref();
        return () => clearTimeout(timer);
      },
    });
    return transport as unknown as SdkTransport;
  });
}

/** Creates a wire for the transport of protocol 2024-11-05: one event stream down, POSTs up. */
export function sseWire(options: RemoteWireOptions): Wire {
  return new SseWire(
    options,
    (fetch) =>
      new SSEClientTransport(options.url, {
        requestInit: { headers: options.headers, redirect: 'manual' },
        fetch,
      }) as unknown as SdkTransport,
    (error) => error instanceof SseError,
  );
}

abstract class RemoteWire implements Wire {
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  awaited?: Wire['awaited'];
  relaysNotifications?: Wire['relaysNotifications'];
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  readonly #guarded: GuardedFetch;
  readonly #credentials: Credentials | undefined;
  readonly #refusals = new WeakMap<Response, DiscoveryError>();
  readonly #server: string;
  readonly #redact: Redact | undefined;
  readonly #onTooDeep: RemoteWireOptions['onTooDeep'];
  /** The Authorization that the server took last, and when. */
  #accepted: string | undefined;
  #acceptedAt = Number.NEGATIVE_INFINITY;
  /** The Authorization of the last call, if it was refused. */
  #refusedCall: string | undefined;
  protected readonly inner: SdkTransport;

  constructor(options: RemoteWireOptions, create: (fetch: GuardedFetch) => SdkTransport) {
    this.#guarded = guardedFetch({ ...options, returnsRefusals: true }, this);
    this.#credentials = options.credentials;
    this.#server = options.server;
    this.#redact = options.redact;
    this.inner = create((input, init) => this.fetch(input, init));
    this.inner.onmessage = (message) => this.deliver(message);
    this.#onTooDeep = options.onTooDeep;
    this.inner.onclose = () => this.onclose?.();
    this.inner.onerror = (error) => this.onerror?.(error);
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  protected deliver(message: JsonRpcMessage, info?: MessageInfo): void {
    const isShort = info?.bytes !== undefined && info.bytes < SHORTEST_DEEP;
    if (isShort || !nestsTooDeep(message)) this.onmessage?.(message, info);
    else if (message.method === undefined && message.id != null) this.#onTooDeep?.(message.id);
  }

  abstract send(message: JsonRpcMessage, options?: SendOptions): Promise<void>;
  abstract close(): Promise<void>;
  protected abstract fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }

  needsProof(): boolean {
    return this.#credentials?.needsProof(this.#accepted, elapsedNow() - this.#acceptedAt) === true;
  }

  /** Notes that the server took an Authorization. */
  protected accept(authorization: string | undefined, isCall: boolean): void {
    this.#accepted = authorization;
    this.#acceptedAt = elapsedNow();
    if (isCall) this.#refusedCall = undefined;
  }

  /**
   * Sends a request with the current token. If it was refused for its token and there is another one, it is sent once
   * more; a call is not, because a refusal does not prove that it was not executed.
   */
  protected async guarded(
    input: string | URL | Request,
    init: NonNullable<Parameters<GuardedFetch>[1]> = {},
    onBodyFailure?: (error: unknown) => void,
  ): Promise<Response> {
    const credentials = this.#credentials;
    if (credentials === undefined) return this.#guarded(input, init, onBodyFailure);
    const isCall = typeof init.body === 'string' && CALL.test(init.body);
    for (let attempt = 1; ; attempt++) {
      const arrived = attempt === 1 ? init.arrived : undefined;
      const sent = arrived ? arrived.authorization : await credentials.authorization();
      const headers = new Headers(init.headers);
      if (sent !== undefined) headers.set('authorization', sent);
      const response = await this.#guarded(input, { ...init, headers, arrived }, onBodyFailure);
      const { status } = response;
      const isChallenge = response.headers.has('www-authenticate');
      if (status !== 401 && !(status === 403 && isChallenge)) {
        this.accept(sent, isCall);
        return response;
      }
      // A result is an answer, whatever the status: such a call was executed.
      if (isCall && isChallenge && (await bringsResult(response.clone(), init.body))) return response;
      const isRepeated = isCall ? this.#isRefusedAgain(sent) : attempt > 1;
      const next = await credentials.refused({ sent, response, isCall, isRepeated }).catch((error: unknown) => {
        throw isCall ? withUnknownOutcome(error) : error;
      });
      if (next === 'renewed' && !isCall && !isRepeated) {
        await response.body?.cancel();
        continue;
      }
      if (next !== 'renewed') this.#refusals.set(response, next);
      else if (isCall) this.#refusals.set(response, renewedTooLate(this.#server, status));
      return response;
    }
  }

  /** Whether the call before was refused as well, with another token. */
  #isRefusedAgain(sent = ''): boolean {
    const before = this.#refusedCall;
    this.#refusedCall = sent;
    return before !== undefined && before !== sent;
  }

  /** Handles an error status: an answer is delivered, everything else is thrown. */
  protected async refused(response: Response, init: RequestInit | undefined): Promise<Response> {
    const { answer, error } = await httpRefusal(response, init?.body, this.#redact);
    if (answer === undefined)
      throw this.#refusals.get(response) ?? statusRefusal(this.#server, response, this.#redact) ?? error;
    this.deliver(answer);
    return new Response(null, { status: 202 });
  }
}

async function bringsResult(response: Response, request: unknown): Promise<boolean> {
  const { answer } = await httpRefusal(response, request);
  return answer !== undefined && 'result' in answer;
}

class HttpWire extends RemoteWire {
  readonly hasPerRequestStream = true;
  readonly #resumable: boolean;
  /** Undefined where requests go through a `fetch` of the program. */
  readonly #calls: PlainCalls | undefined;
  readonly #exchanges = new Map<string, Exchange>();
  #version: string | undefined;
  #next = 1;

  constructor(options: RemoteWireOptions, create: (fetch: GuardedFetch) => SdkTransport) {
    super(options, create);
    this.#resumable = options.resumable;
    this.#calls = options.fetch ? undefined : new PlainCalls(options);
  }

  override setProtocolVersion(version: string): void {
    this.#version = version;
    super.setProtocolVersion(version);
  }

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    try {
      if (message.method === undefined || message.id === undefined) await this.inner.send(message, options);
      else if (message.method === 'tools/call' && this.#calls) await this.#call(this.#calls, message, options);
      else await this.#ask(message, options, undefined);
    } catch (error) {
      throw unsendable(error);
    }
  }

  async #call(calls: PlainCalls, message: JsonRpcMessage, options: SendOptions): Promise<void> {
    const { sessionId } = this.inner;
    const answer = await calls.send(message, options, { sessionId, version: this.#version });
    if ('arrived' in answer) return this.#ask(message, options, answer.arrived);
    this.accept(answer.authorization, true);
    this.deliver(answer.message, { bytes: answer.bytes });
    if (answer.message.id !== message.id) options.onRequestStreamEnd?.();
  }

  /** Sends a request through the transport, or lets it read what arrived already. */
  async #ask(message: JsonRpcMessage, options: SendOptions, arrived: Arrived | undefined): Promise<void> {
    const key = String(this.#next++);
    const { requestSignal, ...rest } = options;
    const signal = requestSignal && toAbortSignal(requestSignal);
    const exchange: Exchange = { signal, arrived, isStream: false, failure: undefined };
    const onRequestStreamEnd = () => options.onRequestStreamEnd?.(exchange.failure);
    this.#exchanges.set(key, exchange);
    try {
      await this.inner.send(message, {
        ...rest,
        // The transport links the signal to its own for good, which leaks on Node 20. It needs the signal only to leave
        // a cancelled stream alone instead of resuming it.
        ...(this.#resumable && signal && { requestSignal: signal }),
        headers: { ...options.headers, [EXCHANGE]: key },
        onRequestStreamEnd,
      });
      if (!exchange.isStream) onRequestStreamEnd();
    } finally {
      this.#exchanges.delete(key);
    }
  }

  async close(): Promise<void> {
    if (this.inner.sessionId !== undefined) {
      // A courtesy: the server may not support it, or be gone.
      const goodbye = this.inner.terminateSession?.().catch(() => {});
      await waitAtMost(Promise.resolve(goodbye), LIMITS.time.goodbye);
    }
    await this.inner.close();
  }

  protected async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const headers = new Headers(init?.headers);
    const exchange = this.#exchanges.get(headers.get(EXCHANGE) ?? '');
    headers.delete(EXCHANGE);
    const signal = (this.#resumable ? undefined : exchange?.signal) ?? init?.signal ?? null;
    const response = await this.guarded(input, { ...init, headers, signal, arrived: exchange?.arrived }, (failure) => {
      if (exchange && failure instanceof Error) exchange.failure = failure;
    });
    // Whether there is a stream for notifications is the transport's business.
    if (init?.method !== 'POST') return response;
    if (!response.ok) return this.refused(response, init);
    if (exchange) exchange.isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    return response;
  }
}

class SseWire extends RemoteWire {
  readonly #isStreamError: (error: Error) => boolean;
  #failure: unknown;
  #isOpen = false;

  constructor(
    options: RemoteWireOptions,
    create: (fetch: GuardedFetch) => SdkTransport,
    isStreamError: (error: Error) => boolean,
  ) {
    super(options, create);
    this.#isStreamError = isStreamError;
    this.inner.onerror = (error) => {
      this.onerror?.(error);
      // The stream would be reopened as a client that the server does not know.
      if (this.#isOpen && this.#isStreamError(error)) void this.close();
    };
  }

  override async start(): Promise<void> {
    try {
      await this.inner.start();
      this.#isOpen = true;
    } catch (error) {
      throw this.#failure ?? error;
    }
  }

  async send(message: JsonRpcMessage): Promise<void> {
    try {
      await this.inner.send(message);
    } catch (error) {
      // The answer comes on another stream. It may have arrived already, whatever became of the POST.
      if (message.method === 'tools/call' && !(error instanceof DiscoveryError && error.details.outcome === 'not_sent'))
        await new Promise((resolve) => setTimeout(resolve, LIMITS.time.lateAnswer));
      throw unsendable(error);
    }
  }

  async close(): Promise<void> {
    await this.inner.close();
  }

  protected async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    try {
      const response = await this.guarded(input, init);
      return response.ok ? response : await this.refused(response, init);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}

/** The call was sent, whatever became of the renewal of its token. */
const withUnknownOutcome = (error: unknown): unknown =>
  error instanceof DiscoveryError
    ? new DiscoveryError(error.code, error.message, { ...error.details, outcome: 'unknown' })
    : error;

/** The error of a call that was refused for its token, after there was a new one. */
const renewedTooLate = (server: string, status: number): DiscoveryError =>
  new DiscoveryError(
    'SERVER_CONNECTION_ERROR',
    `${server} refused the token of this call (HTTP ${status}). The token was renewed since; whether the call was executed is unknown.`,
    { server, outcome: 'unknown', cause: new HttpStatusError(status, '') },
  );

/** Tells whether a failed handshake means that the server does not speak Streamable HTTP at all. */
export const isWrongTransport = (error: unknown): boolean =>
  error instanceof HttpStatusError && error.status >= 400 && error.status < 500;

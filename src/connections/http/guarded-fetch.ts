/**
 * Wraps `fetch` for downstream servers: turns statuses into our errors, limits bodies after decompression and counts
 * their values before they are parsed, and follows no redirects.
 * @module
 */

import { setMaxListeners } from 'node:events';
import type { UnderlyingSource } from 'node:stream/web';
import { wallNow } from '../../async/clock.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { DEFAULTS, LIMITS } from '../../core/limits.ts';
import { JsonSurvey, mostValues } from '../../json/json-survey.ts';
import { type Redact, redactUnknown } from '../../secrets/redactor.ts';
import { answerRoom } from '../answer-room.ts';
import { GrowingBytes } from '../growing-bytes.ts';
import { HttpStatusError } from '../http-status-error.ts';
import type { Unreadable } from '../json-rpc.ts';
import { parseLarge } from '../large-json.ts';
import { largeTurns } from '../large-turns.ts';
import { LoopShare, UNASKED } from '../loop-share.ts';
import type { Listener } from '../lost-answer.ts';
import { shortText } from '../short-text.ts';
import { unreadable } from '../unreadable-answer.ts';
import { EventReader, handlingMs } from './event-reader.ts';
import { httpFetch, type PacedInit } from './http-fetch.ts';

export interface GuardedFetchOptions {
  readonly server: string;
  /** Longest JSON body, or longest single event of a stream, in bytes. */
  readonly maxMessageBytes: number;
  /** Most values in one large message. */
  readonly maxMessageValues?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Removes secrets from what an error quotes. */
  readonly redact?: Redact | undefined;
  /** Whether a response with an error status is returned, for a caller that looks for an answer in its body. */
  readonly returnsRefusals?: boolean | undefined;
}

/** `fetch` that also reports why a body broke off. */
export type GuardedFetch = (
  input: string | URL | Request,
  init?: RequestInit & Pick<PacedInit, 'arrived'>,
  onBodyFailure?: (error: unknown) => void,
) => Promise<Response>;

const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Wraps `fetch` so that responses are bounded and errors say what to do. `listener` says which events are needed. */
export function guardedFetch(options: GuardedFetchOptions, listener: Listener = {}): GuardedFetch {
  const { server, redact = redactUnknown, fetch: inner = httpFetch } = options;
  const share = new LoopShare(UNASKED);
  return async (input, init, onBodyFailure) => {
    const signal = init?.signal ?? undefined;
    // The SDK's transport shares one signal between all its requests.
    if (signal) setMaxListeners(0, signal);
    let response: Response;
    try {
      const paced: PacedInit = { ...init, redirect: 'manual', share };
      response = await inner(input, paced);
    } catch (error) {
      throw signal?.aborted ? error : unreachable(server, 'could not be reached', error, redact);
    }
    const refused = options.returnsRefusals ? undefined : statusRefusal(server, response, redact);
    if (refused) {
      await response.body?.cancel();
      throw refused;
    }
    if (!response.body) return response;
    const fail = (error: unknown): unknown => {
      const reason =
        error instanceof DiscoveryError || signal?.aborted
          ? error
          : unreachable(server, 'broke off its answer', error, redact);
      onBodyFailure?.(reason);
      return reason;
    };
    const body = new Body(response.body, options, methodOf(init?.body), fail);
    if (isEventStream(response)) return new Response(body.events(share, listener), response);
    const guarded = new Response(body.capped(), response);
    // The SDK calls `json`, and would parse a body of any size at once.
    return Object.defineProperty(guarded, 'json', { value: () => body.json() });
  };
}

const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;

/** Returns the method of the request that a body answers, where it matters. */
const methodOf = (body: unknown): string | undefined =>
  typeof body === 'string' && /"method":"tools\/list"/.test(body.slice(0, 200)) ? 'tools/list' : undefined;

/** Returns the milliseconds of a Retry-After header; none for garbage and the past, at most a minute. */
export function retryAfter(header: string | null, now: number = wallNow()): number | undefined {
  if (!header) return undefined;
  const text = header.trim();
  // A date starts with the name of its day; `Date.parse` alone would read any number as a year.
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : /^[A-Za-z]{3}/.test(text) ? Date.parse(text) - now : 0;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, LIMITS.time.retryAfter) : undefined;
}

/**
 * Returns the error for a status that says what to do. A status does not tell whether the request took effect, so the
 * outcome is unknown.
 */
export function statusRefusal(
  server: string,
  { status, headers }: Response,
  redact: Redact = redactUnknown,
): DiscoveryError | undefined {
  const details = { server, outcome: 'unknown', cause: new HttpStatusError(status, '') } as const;
  if (status === 401 || (status === 403 && headers.has('www-authenticate'))) {
    return new DiscoveryError(
      'SERVER_AUTH_REQUIRED',
      `${server} wants a login (HTTP ${status}). Put a token into its headers, or set auth: 'env'.`,
      { ...details, retryable: false },
    );
  }
  // 502 and 504 come from a proxy that does not reach the server; like 503 they pass.
  if (status === 429 || (status >= 502 && status <= 504)) {
    const code = status === 429 ? 'RATE_LIMITED' : 'SERVER_CONNECTION_ERROR';
    const retryAfterMs = retryAfter(headers.get('retry-after'));
    return new DiscoveryError(code, `${server} answered HTTP ${status}.`, { ...details, retryAfterMs });
  }
  if (status >= 300 && status < 400 && status !== 304) {
    const target = shortText(headers.get('location') ?? 'nowhere', redact, 200);
    return new DiscoveryError(
      'SERVER_CONNECTION_ERROR',
      `${server} redirects to ${target}, which is not followed. If that is the server you mean, write its address into the configuration.`,
      { ...details, retryable: false },
    );
  }
  return undefined;
}

/** Returns the error of a request that got no answer, or no whole one. */
export function unreachable(server: string, what: string, error: unknown, redact: Redact): DiscoveryError {
  const { code, syscall } = causeOf(error);
  // The same code may come from a connection in use: only a failed connect proves that nothing was sent.
  const wasOpen = syscall === 'read' || syscall === 'write';
  const outcome = code !== undefined && NOT_SENT.has(code) && !wasOpen ? 'not_sent' : 'unknown';
  const why = code ?? (error instanceof Error ? shortText(error.message, redact) : String(error));
  return new DiscoveryError('SERVER_CONNECTION_ERROR', `${server} ${what} (${why}).`, {
    server,
    outcome,
    cause: error,
  });
}

function causeOf(error: unknown): { readonly code?: string; readonly syscall?: unknown } {
  for (let node = error, depth = 0; node && depth < 5; node = (node as { cause?: unknown }).cause, depth++) {
    const { code, syscall, errors } = node as { code?: unknown; syscall?: unknown; errors?: unknown };
    if (typeof code === 'string') return { code, syscall };
    if (Array.isArray(errors) && errors[0]) return causeOf(errors[0]);
  }
  return {};
}

/** Reads a body, counts it, and stops when it exceeds a limit. */
class Body {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #options: GuardedFetchOptions;
  readonly #maxValues: number;
  readonly #method: string | undefined;
  readonly #fail: (error: unknown) => unknown;
  #isGivenUp = false;

  constructor(
    body: ReadableStream<Uint8Array>,
    options: GuardedFetchOptions,
    method: string | undefined,
    fail: (error: unknown) => unknown,
  ) {
    this.#reader = body.getReader();
    this.#options = options;
    this.#maxValues = options.maxMessageValues ?? DEFAULTS.limits.messageValues;
    this.#method = method;
    this.#fail = fail;
  }

  /** Returns the bytes unchanged, up to the limit. */
  capped(): ReadableStream<Uint8Array> {
    let size = 0;
    return this.#stream((bytes) => {
      size += bytes.length;
      if (size > this.#options.maxMessageBytes) throw this.#refusal('too-long');
      return [bytes];
    });
  }

  /** Returns the value of a JSON body. A large one is parsed when it is its turn. */
  async json(): Promise<unknown> {
    const body = new GrowingBytes(this.#options.maxMessageBytes);
    const survey = new JsonSurvey(this.#maxValues);
    try {
      for await (const chunk of this.#read()) {
        if (body.length + chunk.length > this.#options.maxMessageBytes) throw this.#refusal('too-long');
        body.append(chunk);
        if (!survey.push(chunk) && body.length > LIMITS.wire.large) throw this.#refusal(survey.excess ?? 'too-many');
        await this.#room(body.length);
      }
    } catch (error) {
      answerRoom.leave(this);
      void this.#reader.cancel().catch(() => {});
      throw this.#fail(error);
    }
    const { bytes } = body;
    if (bytes.length <= LIMITS.wire.large) return few(JSON.parse(bytes.toString('utf8')));
    answerRoom.finish(this);
    try {
      if (survey.excess || survey.values > mostValues(this.#maxValues, this.#method))
        throw this.#fail(this.#refusal(survey.excess ?? 'too-many'));
      return few(await largeTurns.run(parseLarge(bytes, survey.values), handlingMs(bytes.length, survey.values)));
    } finally {
      answerRoom.leave(this);
    }
  }

  /** Returns an event stream: large events wait for their turn, and a flood is slowed down. */
  events(share: LoopShare, listener: Listener): ReadableStream<Uint8Array> {
    const reader = new EventReader({
      maxBytes: this.#options.maxMessageBytes,
      maxValues: this.#maxValues,
      method: this.#method,
      listener,
      refuse: (why) => this.#refusal(why),
    });
    return this.#stream((bytes) => this.#paced(reader, bytes, share));
  }

  async *#paced(reader: EventReader, chunk: Uint8Array, share: LoopShare): AsyncGenerator<Uint8Array> {
    for (const { bytes, ms, isAwaited } of reader.push(chunk)) {
      answerRoom.finish(this);
      if (bytes && bytes.length > LIMITS.wire.large) await largeTurns.pass(ms);
      if (bytes) yield bytes;
      answerRoom.leave(this);
      const pause = isAwaited ? 0 : share.charge(ms);
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause).unref());
    }
    await this.#room(reader.buffered);
  }

  /** Waits until a message that already holds this many bytes may grow. */
  #room(bytes: number): Promise<void> | undefined {
    return answerRoom.hold(this, bytes, () => {
      this.#isGivenUp = true;
      void this.#reader.cancel().catch(() => {});
    });
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    for (let next = await this.#reader.read(); !next.done; next = await this.#reader.read()) yield next.value;
    if (this.#isGivenUp) throw this.#refusal('stalled');
  }

  #refusal(why: Unreadable): DiscoveryError {
    const { server, maxMessageBytes } = this.#options;
    return unreadable(server, why, { messageBytes: maxMessageBytes, messageValues: this.#maxValues });
  }

  /** Passes on what `look` returns for each chunk. Fails with what it throws. */
  #stream(look: (bytes: Uint8Array) => Iterable<Uint8Array> | AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
    const chunks = this.#chunks(look);
    const source: UnderlyingSource<Uint8Array> = {
      pull: async (controller) => {
        try {
          const { done, value } = await chunks.next();
          if (!done) return controller.enqueue(value);
          answerRoom.leave(this);
          controller.close();
        } catch (error) {
          answerRoom.leave(this);
          controller.error(this.#fail(error));
          await this.#reader.cancel().catch(() => {});
        }
      },
      cancel: (reason) => {
        answerRoom.leave(this);
        return this.#reader.cancel(reason);
      },
    };
    // Nothing is read in advance: `json` reads by itself.
    return new ReadableStream(source, { highWaterMark: 0 });
  }

  async *#chunks(
    look: (bytes: Uint8Array) => Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#read()) yield* look(chunk);
  }
}

function few(value: unknown): unknown {
  if (Array.isArray(value) && value.length > LIMITS.wire.batch)
    throw new SyntaxError(`the answer is a batch of ${value.length} messages`);
  return value;
}

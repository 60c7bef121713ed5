/**
 * `fetch` for downstream servers: statuses become our errors, bodies are capped after decompression, and redirects are
 * not followed.
 * @module
 */

import { setMaxListeners } from 'node:events';
import { wallNow } from '../clock.ts';
import { DiscoveryError } from '../errors.ts';
import { type Redact, redactUnknown } from '../secrets/redactor.ts';
import { httpFetch } from './http-fetch.ts';
import { HttpStatusError } from './http-refusal.ts';
import { shortText } from './short-text.ts';

export interface GuardedFetchOptions {
  readonly server: string;
  /** Longest JSON body, or longest single event of a stream, in bytes. */
  readonly maxMessageBytes: number;
  readonly fetch?: typeof fetch | undefined;
  /** Takes secrets out of what an error quotes. */
  readonly redact?: Redact | undefined;
}

/** `fetch`, which also tells why a body broke off. */
export type GuardedFetch = (
  input: string | URL | Request,
  init?: RequestInit,
  onBodyFailure?: (error: unknown) => void,
) => Promise<Response>;

const MAX_RETRY_AFTER_MS = 60_000;
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

/** Wraps `fetch` so that what comes back is bounded and what goes wrong says what to do. */
export function guardedFetch({
  server,
  maxMessageBytes,
  redact = redactUnknown,
  fetch: inner = httpFetch,
}: GuardedFetchOptions): GuardedFetch {
  return async (input, init, onBodyFailure) => {
    const signal = init?.signal ?? undefined;
    // The SDK's transport shares one signal between all its requests.
    if (signal) setMaxListeners(0, signal);
    let response: Response;
    try {
      response = await inner(input, { ...init, redirect: 'manual' });
    } catch (error) {
      throw signal?.aborted ? error : unreachable(server, 'could not be reached', error, redact);
    }
    const refused = refusal(server, response, redact);
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
    return new Response(capped(response, server, maxMessageBytes, fail), response);
  };
}

/** Milliseconds of a Retry-After header; garbage and the past count as none, the far future as a minute. */
export function retryAfter(header: string | null, now: number = wallNow()): number | undefined {
  if (!header) return undefined;
  const text = header.trim();
  // A date starts with the name of its day; `Date.parse` alone would read years into any number.
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : /^[A-Za-z]{3}/.test(text) ? Date.parse(text) - now : 0;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}

/** A status that says what to do. It does not say whether the request took effect first: no outcome is promised. */
function refusal(server: string, { status, headers }: Response, redact: Redact): DiscoveryError | undefined {
  const details = { server, outcome: 'unknown', cause: new HttpStatusError(status, '') } as const;
  if (status === 401 || (status === 403 && headers.has('www-authenticate'))) {
    return new DiscoveryError(
      'SERVER_AUTH_REQUIRED',
      `${server} wants a login (HTTP ${status}). Put a token into its headers, or set auth: 'env'.`,
      { ...details, retryable: false },
    );
  }
  if (status === 429 || status === 503) {
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

function unreachable(server: string, what: string, error: unknown, redact: Redact): DiscoveryError {
  const { code, syscall } = causeOf(error);
  // The same code may come from a connection that was used for a while: only its beginning proves that nothing was sent.
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

/** Passes a body on and counts: the whole of a JSON body, or each event of a stream. */
function capped(
  response: Response,
  server: string,
  maxBytes: number,
  fail: (error: unknown) => unknown,
): ReadableStream<Uint8Array> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const events = new EventCounter();
  let size = 0;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        size = isStream ? events.push(value) : size + value.length;
        if (size <= maxBytes) return controller.enqueue(value);
        const message = `${server} sent a message of more than ${maxBytes} bytes.`;
        controller.error(fail(new DiscoveryError('RESULT_TOO_LARGE', message, { server, outcome: 'unknown' })));
        await reader.cancel();
      } catch (error) {
        controller.error(fail(error));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const LF = 0x0a;
const CR = 0x0d;

/** Lengths of events, which end with a blank line, wherever the chunks were cut. */
class EventCounter {
  /** Bytes of the event, and of its line, that came in earlier chunks. */
  #event = 0;
  #line = 0;
  #afterCr = false;

  /** The length of the longest event in this chunk, counted from its beginning in an earlier one. */
  push(chunk: Uint8Array): number {
    let longest = 0;
    let eventStart = -this.#event;
    let lineStart = -this.#line;
    let afterCr = this.#afterCr;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte !== LF && byte !== CR) continue;
      const isEmpty = at === lineStart;
      lineStart = at + 1;
      if (isEmpty && afterCr && byte === LF) {
        afterCr = false;
        continue;
      }
      afterCr = byte === CR;
      if (!isEmpty) continue;
      longest = Math.max(longest, lineStart - eventStart);
      eventStart = lineStart;
    }
    this.#event = chunk.length - eventStart;
    this.#line = chunk.length - lineStart;
    this.#afterCr = afterCr;
    return Math.max(longest, this.#event);
  }
}

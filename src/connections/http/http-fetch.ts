/**
 * Implements `fetch` over `node:http` for requests to servers. A gateway must not follow redirects or send referrers,
 * and the objects that the built-in `fetch` creates per request cost time on every call: `npm run bench:gateway` shows
 * the difference.
 * @module
 */

import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline } from 'node:stream';
import type { UnderlyingSource } from 'node:stream/web';
import { urlToHttpOptions } from 'node:url';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { CallSignal } from '../../async/cancellation.ts';
import { LIMITS } from '../../core/limits.ts';
import type { LoopShare } from '../loop-share.ts';

const OPTIONS = { keepAlive: true, timeout: LIMITS.time.socket, scheduling: 'lifo' } as const;
const agents = { 'http:': new HttpAgent(OPTIONS), 'https:': new HttpsAgent(OPTIONS) };
const NO_BODY = new Set([101, 103, 204, 205, 304]);
/** The cost of one chunk of a body. */
const CHUNK_MS = 0.002;

/** A request whose answer is slowed down when its chunks use up the share. */
export interface PacedInit extends RequestInit {
  readonly share?: LoopShare | undefined;
  /** The answer, if the request was sent already. */
  readonly arrived?: Arrived | undefined;
}

/** The answer to a request that was sent without `fetch`. */
export interface Arrived {
  readonly message: IncomingMessage;
  /** The body, if it was read. */
  readonly body?: Buffer | undefined;
  /** The Authorization header of the request. */
  readonly authorization?: string | undefined;
}

/** An address of a host, of IPv4 or IPv6. */
export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** A request that goes to these addresses, whatever the name of its host leads to. */
export interface PinnedInit extends RequestInit {
  readonly addresses?: readonly HostAddress[] | undefined;
}

/** Where a request goes. */
export type Target = Pick<RequestOptions, 'protocol' | 'hostname' | 'port' | 'path' | 'auth'>;

/** The parts of an address that a request needs. Copied for each request, so it is small. */
export function targetOf(url: URL): Target {
  const { protocol, hostname, port, path, auth } = urlToHttpOptions(url);
  return { protocol, hostname, port, path, ...(auth && { auth }) };
}

export const OWN_HEADERS = { 'accept-encoding': 'gzip, deflate', 'user-agent': 'anygpt' } as const;

/** A request without the objects of `fetch`. */
export interface OutgoingRequest {
  readonly method: string;
  /** Those that are missing are added. */
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | undefined;
  readonly signal?: CallSignal | undefined;
  readonly addresses?: readonly HostAddress[] | undefined;
}

/**
 * Sends one request without following redirects, and resolves with what `receive` makes of the answer, whose body has
 * to be read or destroyed. Rejects like `fetch`: with the signal's reason, or the error of the socket.
 */
export function sendRequest<T>(
  target: Target,
  outgoing: OutgoingRequest,
  receive: (message: IncomingMessage) => T | Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const { method, headers, body, signal, addresses } = outgoing;
    if (signal?.aborted) return reject(signal.reason);
    const secure = target.protocol === 'https:';
    headers['accept-encoding'] ??= OWN_HEADERS['accept-encoding'];
    headers['user-agent'] ??= OWN_HEADERS['user-agent'];
    // A text goes out in one packet with its head; bytes would go out in another.
    if (body !== undefined) headers['content-length'] = Buffer.byteLength(body);
    const request = (secure ? httpsRequest : httpRequest)({
      ...target,
      method,
      agent: secure ? agents['https:'] : agents['http:'],
      headers,
      ...(addresses && { lookup: leadsTo(addresses) }),
    });
    // An unread answer must be ended separately: its request no longer owns the socket.
    let answer: IncomingMessage | undefined;
    const onAbort = () => (answer ?? request).destroy(reasonOf(signal));
    signal?.addEventListener('abort', onAbort);
    request.on('close', () => {
      signal?.removeEventListener('abort', onAbort);
      // An error takes time to make, and this is called for every request.
      if (!answer) reject(new Error('the connection was closed without an answer'));
    });
    request.on('upgrade', (_message, socket) => {
      socket.destroy();
      reject(new Error('it wants to speak another protocol (HTTP 101)'));
    });
    request.on('error', (error) => reject(signal?.aborted ? signal.reason : error));
    request.on('response', (message) => {
      answer = message;
      // The error is thrown where the body is read.
      message.on('error', () => {});
      try {
        resolve(receive(message));
      } catch (error) {
        reject(error);
      }
    });
    request.end(body);
  });
}

const reasonOf = (signal: CallSignal | undefined): Error =>
  signal?.reason instanceof Error ? signal.reason : new Error('aborted');

/** Sends one request like `sendRequest`, and takes and gives what `fetch` does. */
export const httpFetch = (async (input: string | URL | Request, init: PacedInit & PinnedInit = {}) => {
  const { share, arrived } = init;
  const signal = init.signal ?? undefined;
  if (arrived) {
    destroyOnAbort(arrived.message, signal);
    return toResponse(arrived.message, share, arrived.body);
  }
  const outgoing = {
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    body: typeof init.body === 'string' ? init.body : undefined,
    signal,
    addresses: init.addresses,
  };
  const target = targetOf(new URL(input instanceof Request ? input.url : input));
  return sendRequest(target, outgoing, (message) => toResponse(message, share));
}) as typeof fetch;

/** Ends an answer to a request that was sent with another signal, or none. */
function destroyOnAbort(message: IncomingMessage, signal: AbortSignal | undefined): void {
  const onAbort = () => message.destroy(reasonOf(signal));
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  message.once('close', () => signal?.removeEventListener('abort', onAbort));
}

const leadsTo =
  (addresses: readonly HostAddress[]): LookupFunction =>
  (_host, { all }, done) => {
    const [first] = addresses;
    if (all || !first) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };

function toResponse(message: IncomingMessage, share: LoopShare | undefined, body?: Buffer): Response {
  const { statusCode: status = 502, statusMessage: statusText = '' } = message;
  // `Response` throws for a status outside the range of HTTP.
  if (status < 200 || status > 599) message.destroy();
  const headers = new Headers();
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  if (NO_BODY.has(status)) {
    message.resume();
    return new Response(null, { status, statusText, headers });
  }
  if (body) return new Response(body, { status, statusText, headers });
  const chunks = decoded(message, joined(message, share))[Symbol.asyncIterator]();
  const source: UnderlyingSource<Uint8Array> = {
    pull: async (controller) => {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => {
      message.destroy();
      // A decoder has its own memory. Its end is not awaited: the body may be at rest.
      chunks.return?.().catch(() => {});
    },
  };
  // A short body is read even if nothing asks for it, so that its socket can be reused.
  const stream = new ReadableStream(
    source,
    new ByteLengthQueuingStrategy({ highWaterMark: message.readableHighWaterMark }),
  );
  return new Response(stream, { status, statusText, headers });
}

function decoded({ headers }: IncomingMessage, body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const decoder = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }[
    headers['content-encoding']?.toLowerCase() ?? ''
  ];
  // The reader of the result sees its errors.
  return decoder ? pipeline(body, decoder(), () => {}) : body;
}

/**
 * Joins what has arrived into one chunk, and pauses after many small ones: each costs as much as a thousand bytes.
 */
async function* joined(message: IncomingMessage, share: LoopShare | undefined): AsyncGenerator<Buffer> {
  // Only the code that adds chunks knows their number.
  let count = 0;
  const push = message.push.bind(message);
  message.push = (chunk, encoding) => {
    count++;
    return push(chunk, encoding);
  };
  for await (const chunk of message) {
    yield chunk;
    const pause = share?.charge(count * CHUNK_MS) ?? 0;
    count = 0;
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause).unref());
  }
}

/**
 * Implements `fetch` over `node:http` for requests to servers. A gateway must not follow redirects or send referrers,
 * and the objects that the built-in `fetch` creates per request cost time on every call: `npm run bench:gateway` shows
 * the difference.
 * @module
 */

import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline } from 'node:stream';
import type { UnderlyingSource } from 'node:stream/web';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
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

/**
 * Sends one request without following redirects. Rejects like `fetch`: with the signal's reason, or the error of the
 * socket.
 */
export const httpFetch = ((input: string | URL | Request, init: PacedInit & PinnedInit = {}) =>
  new Promise<Response>((resolve, reject) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { signal } = init;
    if (signal?.aborted) return reject(signal.reason);
    const secure = url.protocol === 'https:';
    const headers = Object.fromEntries(new Headers(init.headers));
    // A text goes out in one packet with its head; bytes would go out in another.
    const body = typeof init.body === 'string' ? init.body : undefined;
    if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));
    const request = (secure ? httpsRequest : httpRequest)(url, {
      method: init.method ?? 'GET',
      agent: secure ? agents['https:'] : agents['http:'],
      headers: { 'accept-encoding': 'gzip, deflate', 'user-agent': 'anygpt', ...headers },
      ...(init.addresses && { lookup: leadsTo(init.addresses) }),
    });
    // An unread answer must be ended separately: its request no longer owns the socket.
    let answer: IncomingMessage | undefined;
    const onAbort = () =>
      (answer ?? request).destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal?.addEventListener('abort', onAbort, { once: true });
    request.once('close', () => {
      signal?.removeEventListener('abort', onAbort);
      // After an answer this has no effect.
      reject(new Error('the connection was closed without an answer'));
    });
    request.once('upgrade', (_message, socket) => {
      socket.destroy();
      reject(new Error('it wants to speak another protocol (HTTP 101)'));
    });
    request.on('error', (error) => reject(signal?.aborted ? signal.reason : error));
    request.once('response', (message) => {
      answer = message;
      // The error is thrown where the body is read.
      message.on('error', () => {});
      try {
        resolve(toResponse(message, init.share));
      } catch (error) {
        // A status outside the range of HTTP.
        message.destroy();
        reject(error);
      }
    });
    request.end(body);
  })) as typeof fetch;

const leadsTo =
  (addresses: readonly HostAddress[]): LookupFunction =>
  (_host, { all }, done) => {
    const [first] = addresses;
    if (all || !first) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };

function toResponse(message: IncomingMessage, share: LoopShare | undefined): Response {
  const { statusCode: status = 502, statusMessage: statusText = '' } = message;
  const headers = new Headers();
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  if (NO_BODY.has(status)) {
    message.resume();
    return new Response(null, { status, statusText, headers });
  }
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
  const body = new ReadableStream(
    source,
    new ByteLengthQueuingStrategy({ highWaterMark: message.readableHighWaterMark }),
  );
  return new Response(body, { status, statusText, headers });
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

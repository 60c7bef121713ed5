/**
 * Implements `fetch` over `node:http` for requests to servers. A gateway must not follow redirects or send referrers,
 * and the objects that the built-in `fetch` creates per request cost time on every call: `npm run bench:gateway` shows
 * the difference.
 * @module
 */

import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { LIMITS } from '../../core/limits.ts';

const OPTIONS = { keepAlive: true, timeout: LIMITS.time.socket, scheduling: 'lifo' } as const;
const agents = { 'http:': new HttpAgent(OPTIONS), 'https:': new HttpsAgent(OPTIONS) };
const NO_BODY = new Set([101, 103, 204, 205, 304]);

/**
 * Sends one request without following redirects. Rejects like `fetch`: with the signal's reason, or the error of the
 * socket.
 */
export const httpFetch = ((input: string | URL | Request, init: RequestInit = {}) =>
  new Promise<Response>((resolve, reject) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { signal } = init;
    if (signal?.aborted) return reject(signal.reason);
    const secure = url.protocol === 'https:';
    const headers = Object.fromEntries(new Headers(init.headers));
    const body = typeof init.body === 'string' ? Buffer.from(init.body) : undefined;
    if (body) headers['content-length'] = String(body.length);
    const request = (secure ? httpsRequest : httpRequest)(url, {
      method: init.method ?? 'GET',
      agent: secure ? agents['https:'] : agents['http:'],
      headers: { 'accept-encoding': 'gzip, deflate', 'user-agent': 'anygpt', ...headers },
    });
    const onAbort = () => request.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
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
      try {
        resolve(toResponse(message));
      } catch (error) {
        // A status outside the range of HTTP.
        message.destroy();
        reject(error);
      }
    });
    request.end(body);
  })) as typeof fetch;

function toResponse(message: IncomingMessage): Response {
  const { statusCode: status = 502, statusMessage: statusText = '' } = message;
  const headers = new Headers();
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  if (NO_BODY.has(status)) {
    message.resume();
    return new Response(null, { status, statusText, headers });
  }
  const body = Readable.toWeb(decoded(message)) as ReadableStream<Uint8Array>;
  return new Response(body, { status, statusText, headers });
}

function decoded(message: IncomingMessage): Readable {
  const decoder = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }[
    message.headers['content-encoding']?.toLowerCase() ?? ''
  ];
  if (!decoder) return message;
  const plain = decoder();
  message.once('error', (error) => plain.destroy(error));
  plain.once('close', () => message.destroy());
  return message.pipe(plain);
}

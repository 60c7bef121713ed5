/**
 * Lets pages of allowed origins use the gateway (CORS). Other pages get no such header, so browsers show them nothing.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '../core/limits.ts';

const HEADERS = ['accept', 'authorization', 'content-type', 'last-event-id', 'traceparent', 'tracestate', 'baggage'];
/** `Mcp-Session-Id`, `Mcp-Method`, `Mcp-Param-…`. */
const OWN_HEADER = /^mcp-[\w-]{1,100}$/;
const EXPOSED = 'Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After';

/** Allows the page that sent a request to read the answer. */
export function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', EXPOSED);
  response.setHeader('vary', 'Origin');
}

/** Answers a CORS preflight. */
export function answerPreflight(request: IncomingMessage, response: ServerResponse, methods: readonly string[]): void {
  const wanted = String(request.headers['access-control-request-headers'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => HEADERS.includes(name) || OWN_HEADER.test(name));
  response.setHeader('access-control-allow-methods', methods.join(', '));
  if (wanted.length > 0) response.setHeader('access-control-allow-headers', wanted.join(', '));
  response.setHeader('access-control-max-age', String(LIMITS.age.preflight / 1000));
  response.writeHead(204).end();
}

/** Tells whether a request is a CORS preflight. */
export const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/**
 * Writes one JSON line for each HTTP request. Only what is listed here is written: no headers, no queries, no bodies,
 * and of paths only which route they belong to, because strangers write what they like into all of these.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { elapsedNow, wallNow } from '../async/clock.ts';
import type { Identity } from '../auth/identity.ts';

/** What is known of a request when it is answered. */
export interface Access {
  /** The route, such as `/mcp`; undefined for a path that does not exist. */
  path?: string | undefined;
  client?: string | undefined;
  identity?: Identity | undefined;
  profile?: string | undefined;
}

/** Takes a line. */
export type WriteLine = (line: string) => void;

/** Calls `write` once the answer has left, or its client has. Fill in the returned object until then. */
export function logAccess(
  request: IncomingMessage,
  response: ServerResponse,
  write: WriteLine,
  now: () => number = wallNow,
): Access {
  const access: Access = {};
  const began = elapsedNow();
  const { socket } = request;
  const before = socket.bytesWritten;
  response.once('close', () => {
    const { path = null, client, identity, profile } = access;
    write(
      JSON.stringify({
        time: new Date(now()).toISOString(),
        client,
        method: /^[A-Z-]{1,20}$/.test(request.method ?? '') ? request.method : null,
        path,
        status: response.headersSent ? response.statusCode : null,
        // Without this, the client left before the end of the answer.
        ...(response.writableFinished && { complete: true }),
        ms: Math.round(elapsedNow() - began),
        bytes: socket.bytesWritten - before,
        ...(identity && { principal: identity.principal }),
        ...(profile !== undefined && { profile }),
      }),
    );
  });
  return access;
}

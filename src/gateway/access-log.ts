/**
 * Writes one JSON line for each HTTP request. Headers, queries and bodies are never written, and of a path only its
 * route: strangers could put anything into the log otherwise.
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

/** Calls `write` when the answer was sent or the client has disconnected. Fill in the returned object before that. */
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
        // Absent if the client disconnected before the end of the answer.
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

/**
 * Creates the errors for connections that the pool does not give.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import type { Backoff } from './backoff.ts';

/** The error when no caller needs the connection any more. */
export const givenUp = (server: string): DiscoveryError =>
  new DiscoveryError('SHUTTING_DOWN', `The connection to ${server} is being closed.`, { server, outcome: 'not_sent' });

/** The error while the pool backs off from a server. A failure that only a person can fix is repeated as it was. */
export function unavailable(server: string, health: Backoff): Error {
  const { error, waitMs } = health;
  if (error instanceof DiscoveryError && error.code === 'SERVER_AUTH_REQUIRED') return error;
  const message = `${server} keeps failing; the next attempt is in ${Math.ceil(waitMs / 1000)} s. Last: ${error?.message ?? 'unknown'}`;
  return new DiscoveryError('SERVER_UNAVAILABLE', message, {
    server,
    outcome: 'not_sent',
    retryAfterMs: Math.ceil(waitMs),
    // A lasting failure does not become retryable by waiting.
    ...(error instanceof DiscoveryError && error.details.retryable === false && { retryable: false }),
    cause: error,
  });
}

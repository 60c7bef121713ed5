/**
 * Says why the pool gives no connection.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import type { Backoff } from './backoff.ts';

/** Nobody wants the connection any more. */
export const givenUp = (server: string): DiscoveryError =>
  new DiscoveryError('SHUTTING_DOWN', `The connection to ${server} is being closed.`, { server, outcome: 'not_sent' });

/** The server is left alone for a while. What only a person can mend is told as it was. */
export function unavailable(server: string, health: Backoff): Error {
  const { error, waitMs } = health;
  if (error instanceof DiscoveryError && error.code === 'SERVER_AUTH_REQUIRED') return error;
  const message = `${server} keeps failing; the next attempt is in ${Math.ceil(waitMs / 1000)} s. Last: ${error?.message ?? 'unknown'}`;
  return new DiscoveryError('SERVER_UNAVAILABLE', message, {
    server,
    outcome: 'not_sent',
    retryAfterMs: Math.ceil(waitMs),
    // What cannot work does not work later either.
    ...(error instanceof DiscoveryError && error.details.retryable === false && { retryable: false }),
    cause: error,
  });
}

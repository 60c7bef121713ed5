/**
 * Opens a connection to a server: picks the transport of its definition, which starts or reaches the server and greets
 * it. The caller keeps the verdict and passes it to the next attempt as `prior`.
 * @module
 */

import { withTimeLimit } from '../async/time-limit.ts';
import { ConfigurationError, DiscoveryError, ServerConnectionError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { TransportType } from '../core/transport-parts.ts';
import type { RemoteConnection, ServerDefinition, StdioConnection } from '../core/types.ts';
import { connectMs } from './connect-time.ts';
import type { OpenedConnection, Opener, OpenOptions } from './open-options.ts';
import { sentence, shortText } from './short-text.ts';

export type { OpenedConnection, OpenOptions, Verdict } from './open-options.ts';

const openHttp = async (): Promise<Opener<RemoteConnection>> => (await import('./http/open-http.ts')).openHttp;
const openStdio = async (): Promise<Opener<StdioConnection>> => (await import('./stdio/open-stdio.ts')).openStdio;

/** The transports, each loaded on first use. */
const OPENERS = { stdio: openStdio, http: openHttp, sse: openHttp } satisfies Record<TransportType, unknown>;

/** Loads transports that will be needed. */
export async function loadTransports(types: Iterable<TransportType>): Promise<void> {
  for (const type of new Set(types)) await OPENERS[type]();
}

/** Opens a connection within its timeout, or throws a `DiscoveryError` with the reason. Leaves nothing running then. */
export async function openConnection(definition: ServerDefinition, options: OpenOptions): Promise<OpenedConnection> {
  const { connection, name, refusal } = definition;
  if (refusal !== undefined) throw new ConfigurationError(refusal, [], { server: name, outcome: 'not_sent' });
  const timeoutMs = connectMs(definition);
  const overdue = () => Object.assign(new Error(`no answer within ${timeoutMs / 1000} s`), { code: 'ETIMEDOUT' });
  try {
    return await withTimeLimit(timeoutMs, options.signal, overdue, async (signal) => {
      const open = (await OPENERS[connection.type]()) as Opener;
      signal.throwIfAborted();
      return open(definition, connection, options, signal);
    });
  } catch (error) {
    if (options.signal?.aborted) {
      const details = { server: name, outcome: 'not_sent', cause: error } as const;
      throw new DiscoveryError('CANCELLED', `Connecting to ${name} was cancelled.`, details);
    }
    if (error instanceof DiscoveryError) throw asNotSent(error);
    const why = shortText(
      error instanceof Error ? error.message : String(error),
      options.secrets.redactWords,
      LIMITS.text.detail,
    );
    throw new ServerConnectionError(name, sentence(`Cannot connect to ${name}: ${why}`), {
      cause: error,
    });
  }
}

/** Whatever became of the greeting, the request that needs the connection has not been sent. */
const asNotSent = (error: DiscoveryError): DiscoveryError =>
  error.details.outcome === 'not_sent'
    ? error
    : new DiscoveryError(error.code, error.message, { ...error.details, outcome: 'not_sent' });

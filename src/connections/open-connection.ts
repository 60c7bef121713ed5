/**
 * From a server's definition to a live connection: start or reach it, find out which protocol it speaks, say hello.
 * What was found is remembered by the caller and handed back as `prior`.
 * @module
 */

import { withTimeLimit } from '../async/time-limit.ts';
import { ConfigurationError, DiscoveryError, ServerConnectionError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { ServerDefinition, StdioConnection } from '../core/types.ts';
import { connectMs } from './connect-time.ts';
import type { OpenedConnection, OpenOptions } from './open-options.ts';
import { openRemote } from './open-remote.ts';
import { openStdio } from './open-stdio.ts';
import { sentence, shortText } from './short-text.ts';

export type { OpenedConnection, OpenOptions, Verdict } from './open-options.ts';

/** Opens a connection within its time, or throws a `DiscoveryError` that says why not. Leaves nothing running then. */
export async function openConnection(definition: ServerDefinition, options: OpenOptions): Promise<OpenedConnection> {
  const { connection, name, refusal } = definition;
  if (refusal !== undefined) throw new ConfigurationError(refusal, [], { server: name, outcome: 'not_sent' });
  const timeoutMs = connectMs(definition);
  const overdue = () => new Error(`no answer within ${timeoutMs / 1000} s`);
  try {
    return await withTimeLimit(timeoutMs, options.signal, overdue, (signal) =>
      connection.type === 'stdio'
        ? openLocal(definition, connection, options, signal)
        : openRemote(definition, connection, options, signal, timeoutMs),
    );
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
    throw new ServerConnectionError(name, sentence(`${name} could not be started or reached: ${why}`), {
      cause: error,
    });
  }
}

/** Starts a local server. One that used to be modern and dies of being asked so is started once more and asked as of old. */
async function openLocal(
  definition: ServerDefinition,
  connection: StdioConnection,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<OpenedConnection> {
  try {
    return await openStdio(definition, connection, options, signal);
  } catch (error) {
    if (options.prior?.era !== 'modern' || !(error instanceof ServerConnectionError) || signal.aborted) throw error;
    return openStdio(definition, connection, { ...options, prior: undefined }, signal);
  }
}

/** Whatever became of the greeting, the request that the connection was wanted for has not left. */
const asNotSent = (error: DiscoveryError): DiscoveryError =>
  error.details.outcome === 'not_sent'
    ? error
    : new DiscoveryError(error.code, error.message, { ...error.details, outcome: 'not_sent' });

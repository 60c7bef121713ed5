/**
 * Logs the five events of a registry, each with its trace id. Events hold names and counts, never arguments, results or
 * personal data.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import type { Logger } from '../../core/types.ts';
import { oneLine } from '../../text/plain-text.ts';

/** Receives the events: pino, or any logger with these three methods. */
export type RegistryLogger = Pick<Logger, 'info' | 'warn' | 'error'>;

/** The events, and the fields of each beside `traceId`. */
interface RegistryEvents {
  'tools.discovery.started': { readonly serverCount: number };
  'tools.discovery.server.success': {
    readonly serverName: string;
    readonly toolCount: number;
    /** The limit at which the list was cut, if it was. */
    readonly incomplete?: string;
  };
  'tools.discovery.server.failed': { readonly serverName: string; readonly errorMessage: string };
  'tools.registry.updated': {
    readonly staticCount: number;
    readonly mcpCount: number;
    /** Tools that are left out because of their name or schema, and why. */
    readonly excluded?: readonly string[];
    /** Missing variables because of which servers were left out. */
    readonly unset?: readonly string[];
  };
  'tools.registry.server.removed': { readonly serverName: string; readonly removedCount: number };
}

const WORRYING = ['errorMessage', 'incomplete', 'excluded', 'unset'];

/** Writes one event. Errors of the logger are ignored. */
export type Tell = <Event extends keyof RegistryEvents>(
  event: Event,
  fields: RegistryEvents[Event],
  traceId: string | undefined,
) => void;

/** Writes nothing. */
export const UNHEARD: Tell = () => {};

/** Writes events to a logger: failures and left-out tools as warnings, the rest as information. */
export function createTell(logger: RegistryLogger | undefined): Tell {
  if (logger === undefined) return UNHEARD;
  return (event, fields, traceId) => {
    const said: Record<string, unknown> = { event, ...(traceId !== undefined && { traceId }), ...fields };
    if (typeof said.errorMessage === 'string') said.errorMessage = oneLine(said.errorMessage, LIMITS.text.reason);
    const level = WORRYING.some((key) => key in said) ? 'warn' : 'info';
    try {
      logger[level](said, event);
    } catch {
      // A call or a discovery must not fail because of a log.
    }
  };
}

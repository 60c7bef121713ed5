/**
 * Who may use a connection: a server of the old protocol asks its questions (elicitation, sampling, roots) over the
 * connection without saying which call they belong to, and notifications never say it.
 * @module
 */
import type { Caller } from '../types.ts';

/** Who a connection is for, and what is declared to the server on their behalf. */
export interface Audience {
  /** Everybody who cannot be asked, one client session, or one caller for the time of a call. */
  readonly kind: 'shared' | 'session' | 'call';
  readonly session: string | undefined;
  /** Nobody else may use the connection, whatever protocol it turns out to speak. */
  readonly exclusive: boolean;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Equal for audiences that may use the same connection. */
  readonly key: string;
}

const INTERACTIVE = ['elicitation', 'sampling', 'roots'] as const;

/** Callers that cannot be asked share one connection, and on it the server is told so. */
export const SHARED: Audience = audience('shared', undefined, false, {});

/** The audience a caller belongs to. A server of protocol 2026-07-28 asks inside its answers and can be shared by all. */
export function audienceOf(caller: Caller | undefined, isModern: boolean): Audience {
  const exclusive = caller?.exclusive ?? false;
  if (!exclusive && (isModern || !caller?.ask)) return SHARED;
  const capabilities: Record<string, unknown> = {};
  if (caller?.ask)
    for (const name of INTERACTIVE) if (caller.capabilities?.[name]) capabilities[name] = caller.capabilities[name];
  if (!exclusive && Object.keys(capabilities).length === 0) return SHARED;
  return audience(caller?.session === undefined ? 'call' : 'session', caller?.session, exclusive, capabilities);
}

function audience(
  kind: Audience['kind'],
  session: string | undefined,
  exclusive: boolean,
  capabilities: Readonly<Record<string, unknown>>,
): Audience {
  const key = JSON.stringify([kind, session, exclusive, capabilities]);
  return { kind, session, exclusive, capabilities, key };
}

/**
 * Who may use a connection: a server of the old protocol asks its questions (elicitation, sampling, roots) over the
 * connection without saying which call they belong to, and notifications never say it.
 * @module
 */
import type { Caller } from '../core/types.ts';

/** Who a connection is for, and what is declared to the server on their behalf. */
export interface Audience {
  /** Everybody who cannot be asked, one client session, or one caller for the time of a call. */
  readonly kind: 'shared' | 'session' | 'call';
  readonly session: string | undefined;
  /**
   * Nobody can tell whether two of these callers are the same. What one of them has answered must not serve another, so
   * a connection over which one was asked is not handed on.
   */
  readonly anonymous: boolean;
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
  // A client of the new protocol is asked in the answer to one call, so the server works on one call of it at a time.
  const kind = caller?.session === undefined || caller.acceptsInputRequired ? 'call' : 'session';
  return audience(kind, caller, exclusive, capabilities);
}

function audience(
  kind: Audience['kind'],
  caller: Caller | undefined,
  exclusive: boolean,
  capabilities: Readonly<Record<string, unknown>>,
): Audience {
  const { session, principal } = caller ?? {};
  const key = JSON.stringify([kind, session, principal, exclusive, capabilities]);
  const anonymous = kind === 'call' && session === undefined && principal === undefined;
  return { kind, session, anonymous, exclusive, capabilities, key };
}

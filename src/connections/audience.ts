/**
 * Decides which callers may use a connection. A server of the old protocol asks its questions (elicitation, sampling,
 * roots) over the connection without saying which call they belong to, and its notifications never say it.
 * @module
 */
import type { Caller } from '../core/types.ts';

/** The callers a connection is for, and what the server is told about them. */
export interface Audience {
  /** All callers that cannot be asked, one client session, or one caller during one call. */
  readonly kind: 'shared' | 'session' | 'call';
  readonly session: string | undefined;
  /**
   * The callers of this audience cannot be told apart. An answer of one must not serve another, so a connection over
   * which a caller was asked is not reused.
   */
  readonly anonymous: boolean;
  /** No other caller may use the connection, whichever protocol it turns out to speak. */
  readonly exclusive: boolean;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Equal for audiences that may use the same connection. */
  readonly key: string;
}

const INTERACTIVE = ['elicitation', 'sampling', 'roots'] as const;

/** Callers that cannot be asked share one connection, and its server is told that it cannot ask. */
const SHARED: Audience = audience('shared', undefined, false, {});

/**
 * Returns the audience of a caller. A server of protocol 2026-07-28 asks inside its answers, so all callers share it.
 */
export function audienceOf(caller: Caller | undefined, isModern: boolean): Audience {
  const exclusive = caller?.exclusive ?? false;
  if (!exclusive && (isModern || !caller?.ask)) return SHARED;
  const capabilities: Record<string, unknown> = {};
  if (caller?.ask)
    for (const name of INTERACTIVE) if (caller.capabilities?.[name]) capabilities[name] = caller.capabilities[name];
  if (!exclusive && Object.keys(capabilities).length === 0) return SHARED;
  // A client of the new protocol is asked in the answer to one call, so each call has the connection to itself. The only
  // client of an exposed server may get a question in the answer to any of its calls: it has one connection.
  const isPerCall = caller?.session === undefined || (caller.acceptsInputRequired && !exclusive);
  const kind = isPerCall ? 'call' : 'session';
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

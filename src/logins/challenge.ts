/**
 * Reads the challenges of a 401 or 403 answer.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

/** What a server says about the login that it wants. */
export interface Challenge {
  readonly resourceMetadata?: string | undefined;
  readonly scope?: string | undefined;
  readonly error?: string | undefined;
}

// A scheme is a token that no `=` follows; a parameter is a token, `=` and a token or a quoted string.
const PART = /([!#$%&'*+.^_`|~\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/g;

/**
 * Returns the Bearer challenge of a `WWW-Authenticate` header, which may hold several. Falls back to a DPoP challenge,
 * which names the same metadata.
 */
export function challengeIn(header: string | null): Challenge {
  const challenges = new Map<string, Record<string, string>>();
  let current: Record<string, string> | undefined;
  for (const [, name = '', quoted, token] of (header ?? '').slice(0, LIMITS.login.challenge).matchAll(PART)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? token;
    if (value !== undefined) {
      if (current) current[name.toLowerCase()] ??= value;
      continue;
    }
    current = {};
    if (!challenges.has(name.toLowerCase())) challenges.set(name.toLowerCase(), current);
  }
  const found = challenges.get('bearer') ?? challenges.get('dpop') ?? {};
  return { resourceMetadata: found.resource_metadata, scope: found.scope, error: found.error };
}

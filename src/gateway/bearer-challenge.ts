/**
 * Writes the answers to requests without a sufficient credential (RFC 6750), and the metadata that lead a client to the
 * identity provider (RFC 9728).
 * @module
 */
import type { AuthSettings } from '../auth/auth-settings.ts';
import type { AuthRefusal } from '../auth/identity.ts';
import { LIMITS } from '../core/limits.ts';

/** An answer without a body of its own. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The answer to a refused credential.
 * @param metadataUrl where the metadata are; undefined without an identity provider
 */
export function challengeOf(refusal: AuthRefusal, settings: AuthSettings | undefined, metadataUrl: string): Refusal {
  const { refused, reason } = refusal;
  if (refused === 'unavailable') return { status: 503, message: reason, headers: { 'retry-after': RETRY_AFTER } };
  const scopes = refused === 'forbidden' ? refusal.scopes : (settings?.scopes ?? []);
  const isMissing = refused === 'unauthorized' && refusal.isMissing === true;
  const error = refused === 'forbidden' ? 'insufficient_scope' : 'invalid_token';
  const parts = {
    // A request without any credential did nothing wrong (RFC 6750, section 3.1).
    ...(!isMissing && { error, error_description: reason }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(settings && { resource_metadata: metadataUrl }),
  };
  const written = Object.entries(parts).map(([name, value]) => `${name}="${quotable(value)}"`);
  const challenge = written.length > 0 ? `Bearer ${written.join(', ')}` : 'Bearer realm="anygpt"';
  return {
    status: refused === 'forbidden' ? 403 : 401,
    message: reason,
    headers: { 'www-authenticate': challenge },
  };
}

const RETRY_AFTER = String(Math.ceil(LIMITS.pace.busy / 1000));

const quotable = (text: string): string => text.replace(/[^\x20-\x7e]|["\\]/g, "'");

/** The metadata of the gateway as a protected resource. */
export const resourceMetadata = (resource: string, { issuer, scopes }: AuthSettings) => ({
  resource,
  authorization_servers: [issuer],
  bearer_methods_supported: ['header'],
  ...(scopes && { scopes_supported: scopes }),
  resource_name: 'AnyGPT discovery gateway',
});

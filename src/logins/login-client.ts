/**
 * Chooses the client that asks for a login: a registered one, a metadata document, or one that is registered now.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { LoginSettings } from '../core/types.ts';
import { oneLine } from '../text/plain-text.ts';
import { messageOf } from '../text/thrown-message.ts';
import type { LoginPlace } from './discover-login.ts';
import type { LoginClient } from './saved-login.ts';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * Returns the client for one login, by a redirect or, without an address for it, by a device code. It registers a new
 * client for each login: some authorization servers forget clients, and the redirect address may have changed.
 */
export async function loginClient(
  server: string,
  { issuer, metadata, scope }: LoginPlace,
  settings: LoginSettings,
  redirectUri: string | undefined,
  send: typeof fetch,
): Promise<LoginClient> {
  if (settings.clientId) return { client_id: settings.clientId, client_secret: settings.clientSecret };
  if (settings.clientMetadataUrl && metadata.client_id_metadata_document_supported)
    return { client_id: settings.clientMetadataUrl };
  const refuse = (why: string): never => {
    throw new DiscoveryError(
      'SERVER_AUTH_REQUIRED',
      `Cannot log in to ${server}: ${why} Register a client at ${oneLine(issuer, LIMITS.names.shown)}${redirectUri === undefined ? '' : ` with the redirect address ${redirectUri}`}, and set connection.oauth.clientId.`,
      { server, retryable: false },
    );
  };
  if (!metadata.registration_endpoint) return refuse('its authorization server lets no client register itself.');
  const { registerClient } = await import('@modelcontextprotocol/client');
  const full = await registerClient(issuer, {
    metadata,
    clientMetadata: {
      client_name: 'anygpt',
      redirect_uris: redirectUri === undefined ? [] : [redirectUri],
      grant_types: [redirectUri === undefined ? DEVICE_GRANT : 'authorization_code', 'refresh_token'],
      response_types: redirectUri === undefined ? [] : ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      ...(scope !== undefined && { scope }),
    },
    fetchFn: send,
  }).catch((error: unknown) =>
    refuse(`the registration was refused (${oneLine(messageOf(error), LIMITS.text.detail)}).`),
  );
  const { client_id, client_secret, token_endpoint_auth_method } = full;
  return { client_id, client_secret, token_endpoint_auth_method };
}

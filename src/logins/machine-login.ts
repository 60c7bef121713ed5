/**
 * Logs in as a program: with client credentials, by a secret or a private key.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import type { LoginSettings } from '../core/types.ts';
import type { LoginPlace } from './discover-login.ts';
import type { SavedLogin } from './saved-login.ts';
import { requestToken } from './token-request.ts';

/** Asks for a token. Throws the reason if there is none. */
export async function logInAsProgram(
  server: string,
  { issuer, metadata, resource, scope }: LoginPlace,
  settings: LoginSettings,
  send: typeof fetch,
): Promise<SavedLogin> {
  const { clientId = '', clientSecret, privateKey } = settings;
  const place = {
    issuer,
    tokenEndpoint: metadata.token_endpoint,
    authMethods: metadata.token_endpoint_auth_methods_supported,
    client: { client_id: clientId, client_secret: privateKey === undefined ? clientSecret : undefined },
    resource,
  };
  const parameters = new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }) });
  if (privateKey !== undefined) {
    const { createPrivateKeyJwtAuth } = await import('@modelcontextprotocol/client');
    const sign = createPrivateKeyJwtAuth({
      issuer: clientId,
      subject: clientId,
      privateKey,
      alg: settings.keyAlgorithm ?? 'RS256',
      audience: issuer,
    });
    await sign(new Headers(), parameters, metadata.token_endpoint, undefined);
  }
  const answer = await requestToken(place, Object.fromEntries(parameters), send);
  if ('tokens' in answer) return { ...place, ...answer.tokens };
  throw new DiscoveryError(
    answer.isTransient ? 'SERVER_CONNECTION_ERROR' : 'SERVER_AUTH_REQUIRED',
    `Cannot log in to ${server}: ${answer.reason}. ${answer.isTransient ? 'Try again later.' : 'Check connection.oauth.'}`,
    { server, outcome: 'not_sent', retryable: answer.isTransient },
  );
}

/**
 * Revokes the tokens of a login (RFC 7009).
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';
import { messageOf } from '../text/thrown-message.ts';
import type { SavedLogin } from './saved-login.ts';
import { identify } from './token-request.ts';

/** Revokes the refresh token, else the access token. Resolves with the reason if the server did not confirm it. */
export async function revoke(login: SavedLogin, send: typeof fetch): Promise<string | undefined> {
  const { revocationEndpoint, refreshToken, accessToken, client, authMethods } = login;
  if (revocationEndpoint === undefined) return 'the authorization server cannot revoke tokens';
  const body = new URLSearchParams({
    token: refreshToken ?? accessToken,
    token_type_hint: refreshToken === undefined ? 'access_token' : 'refresh_token',
  });
  const headers = new Headers({ accept: 'application/json' });
  identify(client, authMethods, body, headers);
  try {
    const { ok, status } = await send(revocationEndpoint, { method: 'POST', headers, body });
    return ok ? undefined : `the authorization server answered HTTP ${status} to the revocation`;
  } catch (error) {
    return `the authorization server could not be reached (${oneLine(messageOf(error), LIMITS.text.detail)})`;
  }
}

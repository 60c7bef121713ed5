/**
 * Refreshes tokens, once however many calls and processes ask.
 *
 * The authorization server may give a new refresh token and refuse the old one. So the login is read again under its
 * lock: what another process has saved meanwhile is used, and a good token is never overwritten or removed.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import type { LoginStore } from './login-store.ts';
import type { LoginOwner, SavedLogin } from './saved-login.ts';
import { requestToken, type TokenAnswer } from './token-request.ts';

interface RefreshOptions {
  readonly server: string;
  readonly store: LoginStore;
  readonly owner: LoginOwner;
  readonly fetch: typeof fetch;
}

/**
 * Returns a login whose access token differs from `stale`; undefined if a person has to log in. A token endpoint that
 * cannot be reached is an error that passes: the login stays.
 */
export async function refreshLogin(options: RefreshOptions, stale: SavedLogin): Promise<SavedLogin | undefined> {
  const { store, owner } = options;
  const isNewer = (login: SavedLogin | undefined) => login && login.accessToken !== stale.accessToken;
  return store.locked(owner, async () => {
    const current = await store.read(owner);
    if (isNewer(current)) return current;
    const { refreshToken } = current ?? {};
    if (!current || refreshToken === undefined) return undefined;
    const answer = await requestToken(
      current,
      { grant_type: 'refresh_token', refresh_token: refreshToken },
      options.fetch,
    );
    if ('tokens' in answer) {
      const login = { ...current, ...answer.tokens, refreshToken: answer.tokens.refreshToken ?? refreshToken };
      await store.renew(owner, login);
      return login;
    }
    if (answer.isTransient) throw unavailable(options.server, answer);
    // Another program may share the refresh token; what it saved wins.
    const after = await store.read(owner);
    return isNewer(after) ? after : undefined;
  });
}

const unavailable = (server: string, { reason }: Extract<TokenAnswer, { isTransient: boolean }>): DiscoveryError =>
  new DiscoveryError(
    'SERVER_CONNECTION_ERROR',
    `The login of ${server} could not be renewed: ${reason}. It is kept, and tried again with the next call.`,
    { server, outcome: 'not_sent', retryable: true },
  );

/**
 * Asks a token endpoint for tokens.
 * @module
 */
import { wallNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { oneLine } from '../text/plain-text.ts';
import { LoginAddressError } from './oauth-fetch.ts';
import type { LoginClient, SavedLogin } from './saved-login.ts';

/** The token endpoint, and the client that asks. */
type TokenPlace = Pick<SavedLogin, 'tokenEndpoint' | 'authMethods' | 'client' | 'resource'>;

export type TokenAnswer =
  | { readonly tokens: Pick<SavedLogin, 'accessToken' | 'refreshToken' | 'scope' | 'expiresAt'> }
  /** `isTransient`: the endpoint did not judge the request, so it may be made again. */
  | { readonly isTransient: boolean; readonly code?: string | undefined; readonly reason: string };

/** Codes by which an authorization server says that it cannot answer now. */
const PASSING = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);

/** Asks for tokens. Never throws because of what the endpoint answers. */
export async function requestToken(
  place: TokenPlace,
  parameters: Readonly<Record<string, string>>,
  send: typeof fetch,
): Promise<TokenAnswer> {
  const body = new URLSearchParams(parameters);
  if (place.resource !== undefined) body.set('resource', place.resource);
  const headers = new Headers({ accept: 'application/json' });
  identify(place.client, place.authMethods, body, headers);
  let response: Response;
  let value: unknown;
  try {
    response = await send(place.tokenEndpoint, { method: 'POST', headers, body });
    const text = await response.text();
    value = parsed(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { isTransient: !(error instanceof LoginAddressError), reason: oneLine(reason, LIMITS.text.detail) };
  }
  const answer = isObject(value) ? value : {};
  const unusable = response.ok ? whyUnusable(answer) : undefined;
  if (response.ok && unusable === undefined) return { tokens: tokensIn(answer) };
  const code = typeof answer.error === 'string' ? oneLine(answer.error, LIMITS.names.shown) : undefined;
  const what = code === undefined ? '' : ` ${code}`;
  const reason = `the token endpoint answered ${unusable ?? `HTTP ${response.status}${what}`}`;
  // Only an OAuth error of a 4xx is a judgement; a proxy answers 4xx with pages of its own.
  const isJudged = response.status >= 400 && response.status < 500 && code !== undefined && !PASSING.has(code);
  return { isTransient: !isJudged || response.status === 429, code, reason };
}

/** What a token may hold (RFC 6749, appendix A.12): anything else could not be sent, or be sent as something else. */
const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);

/** Why an answer has no token that can be sent, or undefined. */
function whyUnusable({ access_token, token_type }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isToken(access_token)) return 'without a token that can be sent';
  // Many leave the type out. A token of another type than this is not to be sent as one.
  const isBearer = token_type === undefined || /^bearer$/i.test(String(token_type));
  return isBearer ? undefined : `with a token of the type ${oneLine(String(token_type), LIMITS.names.shown)}`;
}

function tokensIn(
  answer: Readonly<Record<string, unknown>>,
): Pick<SavedLogin, 'accessToken' | 'refreshToken' | 'scope' | 'expiresAt'> {
  const { access_token, refresh_token, scope, expires_in } = answer;
  const seconds = Number(expires_in);
  return {
    accessToken: String(access_token),
    ...(isToken(refresh_token) && { refreshToken: refresh_token }),
    ...(typeof scope === 'string' && { scope }),
    expiresAt: Number.isFinite(seconds) && seconds > 0 ? wallNow() + seconds * 1000 : undefined,
  };
}

/** Adds what identifies the client, by the first way that both know. */
export function identify(
  { client_id, client_secret, token_endpoint_auth_method: registered }: LoginClient,
  supported: readonly string[] = [],
  body: URLSearchParams,
  headers: Headers,
): void {
  const basic = client_secret !== undefined && registered !== 'client_secret_post';
  const usesBasic =
    basic &&
    (registered === 'client_secret_basic' || supported.length === 0 || supported.includes('client_secret_basic'));
  if (client_secret !== undefined && usesBasic) {
    const pair = [client_id, client_secret].map(encodeURIComponent).join(':');
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
    return;
  }
  body.set('client_id', client_id);
  if (client_secret !== undefined) body.set('client_secret', client_secret);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads the settings of logins from a client's entry: the registered client and where its answers arrive. Tokens are
 * never read. A setting that cannot be used here is left out: the server may do without it.
 * @module
 */
import type { LoginSettings } from '../../core/types.ts';
import { isObject } from '../../json/plain-object.ts';
import type { Dialect } from './dialect.ts';

type Raw = Readonly<Record<string, unknown>>;

/** Returns the settings; undefined if there are none. `convert` translates the client's references. */
export function loginFields(
  raw: Raw,
  { redirectUri }: Dialect,
  convert: (text: string) => string,
): LoginSettings | undefined {
  // Cursor has `auth` with names in capitals, the others `oauth` or fields beside it.
  const own = isObject(raw.oauth) ? raw.oauth : isObject(raw.auth) ? raw.auth : {};
  const text = (...values: readonly unknown[]): string | undefined => {
    const found = values.find((value) => typeof value === 'string' && value !== '');
    return found === undefined ? undefined : convert(String(found));
  };
  const clientId = text(own.clientId, own.client_id, own.CLIENT_ID, raw.oauthClientId, raw.oauth_client_id);
  const clientSecret = text(own.clientSecret, own.client_secret, own.CLIENT_SECRET);
  const scopes = [own.scopes, own.scope, raw.oauthScopes, raw.oauth_scopes, isObject(raw.oauth) && raw.scopes].map(
    words,
  );
  const resource = text(raw.oauth_resource);
  const settings: LoginSettings = {
    clientId,
    // A registered client is known by its redirect address; one that registers itself takes any.
    ...(clientId !== undefined && {
      clientSecret,
      redirectUri: [text(own.redirectUri, own.redirect_uri), byPort(own), redirectUri].find(isLoopback),
    }),
    scopes: scopes.find((found) => found.length > 0),
    resource,
  };
  const known = Object.entries(settings).filter(([, value]) => value !== undefined);
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

const words = (value: unknown): string[] =>
  (Array.isArray(value) ? value : typeof value === 'string' ? value.split(/[\s,]+/) : []).filter(
    (word): word is string => typeof word === 'string' && word !== '',
  );

function byPort({ callbackPort, callback_port }: Raw): string | undefined {
  const port = Number(callbackPort ?? callback_port);
  return Number.isInteger(port) && port > 0 && port < 65_536 ? `http://localhost:${port}/callback` : undefined;
}

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined &&
  URL.canParse(address) &&
  /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:\/|$)/.test(address);

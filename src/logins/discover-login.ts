/**
 * Finds out where to log in for a server: its own metadata, then that of its authorization server.
 * @module
 */
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { LoginSettings } from '../core/types.ts';
import { oneLine } from '../text/plain-text.ts';
import { messageOf } from '../text/thrown-message.ts';
import type { Challenge } from './challenge.ts';
import { LoginAddressError } from './oauth-fetch.ts';

/** The metadata of an authorization server, with fields that the SDK does not name. */
type IssuerMetadata = AuthorizationServerMetadata & {
  readonly device_authorization_endpoint?: unknown;
  readonly revocation_endpoint?: unknown;
  readonly client_id_metadata_document_supported?: unknown;
};

/** Where to log in for one server. */
export interface LoginPlace {
  readonly issuer: string;
  readonly metadata: IssuerMetadata;
  /** The `resource` of all requests; undefined where the settings leave it out. */
  readonly resource: string | undefined;
  /** The scopes to ask for: those of the challenge, else those that the server supports. */
  readonly scope: string | undefined;
}

/** Finds the place. Throws SERVER_AUTH_REQUIRED with the reason where a login is not possible. */
export async function discoverLogin(
  server: string,
  url: URL,
  challenge: Challenge,
  settings: LoginSettings,
  send: typeof fetch,
): Promise<LoginPlace> {
  const sdk = await import('@modelcontextprotocol/client');
  const refuse = (why: string): never => {
    throw new DiscoveryError('SERVER_AUTH_REQUIRED', `Cannot log in to ${server}: ${why}`, {
      server,
      retryable: false,
    });
  };
  const told = (error: unknown) => oneLine(messageOf(error), LIMITS.text.detail);

  const resourceMetadata = await sdk
    .discoverOAuthProtectedResourceMetadata(
      url,
      challenge.resourceMetadata === undefined ? {} : { resourceMetadataUrl: challenge.resourceMetadata },
      onlyJson(send),
    )
    .catch((error: unknown) => {
      // A network that does not answer says nothing about the server.
      if (error instanceof TypeError) return refuse(`its metadata could not be read (${told(error)}). Try again.`);
      if (error instanceof LoginAddressError) return refuse(told(error));
      return undefined;
    });
  if (resourceMetadata && !covers(resourceMetadata.resource, url))
    refuse(
      `its metadata is for ${oneLine(resourceMetadata.resource, LIMITS.names.shown)}, not for ${url.origin}${url.pathname}.`,
    );
  const issuers = settings.authorizationServer
    ? [settings.authorizationServer]
    : (resourceMetadata?.authorization_servers ?? []);
  if (issuers.length === 0)
    refuse(`it names no authorization server. Set connection.oauth.authorizationServer to the address of one.`);

  const failures: string[] = [];
  for (const issuer of issuers.slice(0, LIMITS.login.issuers)) {
    try {
      const metadata = await sdk.discoverAuthorizationServerMetadata(issuer, {
        fetchFn: onlyJson(send),
        // Compared below: the SDK accepts a slash that is too much on one side only.
        skipIssuerValidation: true,
      });
      if (!metadata) throw new Error('it has no metadata');
      if (!settings.allowIssuerMismatch && withoutSlash(metadata.issuer) !== withoutSlash(issuer))
        throw new Error(
          `its metadata is for the issuer ${metadata.issuer}; if that is right, set connection.oauth.allowIssuerMismatch`,
        );
      checkPkce(metadata, settings);
      return {
        issuer: metadata.issuer,
        metadata,
        resource: resourceOf(settings, resourceMetadata?.resource, url),
        scope: scopeOf(settings, challenge, resourceMetadata?.scopes_supported, metadata.scopes_supported),
      };
    } catch (error) {
      failures.push(`${oneLine(issuer, LIMITS.names.shown)}: ${told(error)}`);
    }
  }
  return refuse(`${failures.join('; ')}.`);
}

/** Answers of a website's own pages count as not found, so that the next address is tried. */
const onlyJson =
  (send: typeof fetch): typeof fetch =>
  async (input, init) => {
    const response = await send(input, init);
    if (!response.ok) return response;
    const text = await response.text();
    try {
      JSON.parse(text);
      return new Response(text, response);
    } catch {
      return new Response(null, { status: 404 });
    }
  };

const withoutSlash = (issuer: string): string => issuer.replace(/\/$/, '');

/** Tells whether a resource covers an address: same origin, and the address lies below its path. */
function covers(resource: string, url: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname } = new URL(resource);
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`;
  return origin === url.origin && `${url.pathname}/`.startsWith(folder);
}

function checkPkce(
  { code_challenge_methods_supported: methods }: AuthorizationServerMetadata,
  settings: LoginSettings,
): void {
  if (methods?.includes('S256') || (methods === undefined && settings.allowMissingPkce)) return;
  throw new Error(
    methods
      ? 'it does not support PKCE with S256'
      : 'it does not say that it supports PKCE; if it does, set connection.oauth.allowMissingPkce',
  );
}

function resourceOf(settings: LoginSettings, named: string | undefined, url: URL): string | undefined {
  if (settings.resource === false) return undefined;
  return settings.resource ?? named ?? withoutFragment(url);
}

function withoutFragment(url: URL): string {
  const { origin, pathname, search } = url;
  return `${origin}${pathname === '/' ? '' : pathname}${search}`;
}

function scopeOf(
  settings: LoginSettings,
  challenge: Challenge,
  ofResource: readonly string[] | undefined,
  ofIssuer: readonly string[] | undefined,
): string | undefined {
  const chosen = settings.scopes ?? challenge.scope?.split(' ').filter(Boolean) ?? ofResource ?? [];
  // Where this scope exists, only clients that ask for it get a refresh token.
  const all = ofIssuer?.includes('offline_access') ? [...chosen, 'offline_access'] : chosen;
  return all.length === 0 ? undefined : [...new Set(all)].join(' ');
}

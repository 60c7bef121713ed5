/**
 * Defines what is saved of a login: its tokens, and what a refresh or a logout needs.
 * @module
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { wallNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';
import type { LoginSettings } from '../core/types.ts';

/** The client that the authorization server knows. */
export interface LoginClient {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
}

/** One login at one authorization server. */
export interface SavedLogin {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint?: string | undefined;
  /** How clients may identify themselves at the token endpoint. */
  readonly authMethods?: readonly string[] | undefined;
  readonly client: LoginClient;
  /** The `resource` of token requests; none where the server wants none. */
  readonly resource?: string | undefined;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly scope?: string | undefined;
  /** Milliseconds since 1970; undefined if the authorization server did not say. */
  readonly expiresAt?: number | undefined;
}

/** Whose login at which server. */
export interface LoginOwner {
  /** The server's address as configured. */
  readonly url: string;
  /** The settings that make another login of it: another client, authorization server or resource. */
  readonly settings?: Pick<LoginSettings, 'clientId' | 'authorizationServer' | 'resource'> | undefined;
  /** The authenticated user of a gateway; empty for the local user. */
  readonly principal?: string | undefined;
}

/** Returns the name under which a login is saved. It reveals nothing about the login. */
export function loginName({
  url,
  settings: { clientId, authorizationServer, resource } = {},
  principal,
}: LoginOwner): string {
  const parts = [url, clientId, authorizationServer, resource, principal].map((part) => part ?? null);
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Returns the file of a login. */
export const loginFile = (folder: string, owner: LoginOwner): string => fileOfLogin(folder, loginName(owner));

/** The same, by the name of the login. */
export const fileOfLogin = (folder: string, name: string): string => join(folder, `${name}.login`);

/** Tells whether a token should be refreshed before it is used. */
export const isExpiring = ({ expiresAt }: SavedLogin, now: number = wallNow()): boolean =>
  expiresAt !== undefined && expiresAt - now < LIMITS.time.tokenMargin;

/** Returns the Authorization header of a login. */
export const bearerOf = (login: SavedLogin | undefined): string | undefined => login && `Bearer ${login.accessToken}`;

/** The secrets of a login, for the redactor. */
export const secretsOf = ({ accessToken, refreshToken, client }: SavedLogin): readonly string[] =>
  [accessToken, refreshToken, client.client_secret].filter((value) => value !== undefined);

/**
 * Defines who is asking: what a request's credential proves, before anything else of the request is read.
 * @module
 */
import type { IncomingMessage } from 'node:http';

/** Who is asking, as a credential proves it. Holds no part of the credential. */
export interface Identity {
  /** The same for all credentials of one user: issuer and subject of an OAuth token, the id of a static token. */
  readonly principal: string;
  /** The profile that the credential selects; undefined if it selects none. */
  readonly profile?: string | undefined;
  /** True if a path may select the profile, because the credential leaves it open. */
  readonly choosesProfile: boolean;
  readonly scopes: readonly string[];
  /** When the credential ends, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Why a request is not let in. */
export type AuthRefusal =
  /** No credential, or one that proves nothing. */
  | { readonly refused: 'unauthorized'; readonly reason: string; readonly isMissing?: boolean }
  /** A valid credential that may not do this. */
  | { readonly refused: 'forbidden'; readonly reason: string; readonly scopes: readonly string[] }
  /** The credential cannot be checked now. It may be valid. */
  | { readonly refused: 'unavailable'; readonly reason: string };

/** What authentication reads of a request. */
export type RequestHead = Pick<IncomingMessage, 'rawHeaders'>;

/** Checks one bearer token. */
export interface TokenChecker {
  check(token: string): Promise<Identity | AuthRefusal>;
}

/** Tells whether a request was let in. */
export const isIdentity = (answer: Identity | AuthRefusal): answer is Identity => !('refused' in answer);

/** A refusal of a credential that proves nothing. */
export const unauthorized = (reason: string): AuthRefusal => ({ refused: 'unauthorized', reason });

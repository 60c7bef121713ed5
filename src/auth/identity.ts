/**
 * Defines who is asking: what the front door learns from a request's credential before anything else reads the request.
 * @module
 */
import type { IncomingMessage } from 'node:http';

/** Who is asking, as a credential proves it. Holds no part of the credential. */
export interface Identity {
  /** The same for every credential of one user: issuer and subject of a JWT, the id of a static token. */
  readonly principal: string;
  /** The profile that the credential selects; undefined if it selects none. */
  readonly profile?: string | undefined;
  readonly scopes: readonly string[];
  /** When the credential ends, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Why a request is not let in. */
export type AuthRefusal =
  /** No credential, or one that proves nothing. */
  | { readonly kind: 'unauthorized'; readonly reason: string }
  /** A valid credential that may not do this. */
  | { readonly kind: 'forbidden'; readonly reason: string; readonly missingScopes: readonly string[] }
  /** The credential cannot be checked now. It may be valid. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** What authentication reads of a request. */
export type RequestHead = Pick<IncomingMessage, 'rawHeaders'>;

/** Checks the credential of a request. Never throws because of what a request holds. */
export type Authenticate = (request: RequestHead) => Promise<Identity | AuthRefusal>;

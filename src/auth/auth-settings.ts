/**
 * Defines the settings of an OAuth resource server, as the configuration has them.
 * @module
 */

/** How a token of an identity provider is checked. */
export interface AuthSettings {
  /** The identity provider, exactly as tokens name it. */
  readonly issuer: string;
  /** The audience that tokens must have. */
  readonly audience: string | readonly string[];
  /** The URL of the issuer's keys. Default: the one in its metadata. */
  readonly jwksUri?: string | undefined;
  readonly algorithms?: readonly string[] | undefined;
  /** Asks the identity provider about each token instead of checking a signature. */
  readonly introspection?:
    | { readonly url?: string | undefined; readonly clientId: string; readonly clientSecret: string }
    | undefined;
  /** Scopes that a token needs. */
  readonly scopes?: readonly string[] | undefined;
  /** The claim that names the user. Default `sub`. */
  readonly principalClaim?: string | undefined;
  /** The claim that names the profile. */
  readonly profileClaim?: string | undefined;
  /** The public address of the gateway. Default: the address that a request was sent to. */
  readonly resource?: string | undefined;
}

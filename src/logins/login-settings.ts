/**
 * Defines the settings of one server's login, `connection.oauth`.
 * @module
 */

/** How to log in to a server, where its own metadata do not say or are wrong. */
export interface LoginSettings {
  /** A client that is registered at the authorization server. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** The address of a client metadata document, used as the client id where the authorization server reads such. */
  readonly clientMetadataUrl?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** The port of the redirect address on this machine. A registered client needs the registered one. */
  readonly callbackPort?: number | undefined;
  /** The whole redirect address; it must be on this machine. */
  readonly redirectUri?: string | undefined;
  /** The issuer to use in place of the one that the server names. */
  readonly authorizationServer?: string | undefined;
  /** The `resource` of the token, or false for servers that refuse the parameter (Entra ID). */
  readonly resource?: string | false | undefined;
  /** For authorization servers that support PKCE and do not say so (Entra ID, Cognito). */
  readonly allowMissingPkce?: boolean | undefined;
  /** For authorization servers whose metadata name another issuer. It weakens the protection against mix-ups. */
  readonly allowIssuerMismatch?: boolean | undefined;
  /** Further parameters of the authorization request, such as `access_type: 'offline'` for Google. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  /** `client_credentials` logs in as a program, without a person. Default: as a person. */
  readonly grant?: 'client_credentials' | undefined;
  /** A private key in PEM, in place of a client secret. */
  readonly privateKey?: string | undefined;
  /** The algorithm of the private key. Default `RS256`. */
  readonly keyAlgorithm?: string | undefined;
}

/**
 * Checks tokens by asking the identity provider about them (RFC 7662), so that a revoked one ends soon.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import type { AuthSettings } from './auth-settings.ts';
import { identityIn } from './claims.ts';
import { type AuthRefusal, type Identity, type TokenChecker, unauthorized } from './identity.ts';
import { askIssuer, endpointOf, IssuerUnavailable } from './issuer-metadata.ts';

type Settings = AuthSettings & { readonly introspection: NonNullable<AuthSettings['introspection']> };

export class Introspection implements TokenChecker {
  readonly #settings: Settings;
  readonly #send: typeof fetch;
  #url: Promise<string> | undefined;
  #asking = 0;

  constructor(settings: Settings, send: typeof fetch = fetch) {
    this.#settings = settings;
    this.#send = send;
  }

  async check(token: string): Promise<Identity | AuthRefusal> {
    // Invented tokens must not make the gateway flood its identity provider.
    if (this.#asking >= LIMITS.auth.asking)
      return { refused: 'unavailable', reason: 'Too many tokens are being checked' };
    this.#asking += 1;
    try {
      return this.#identityOf(await this.#ask(token));
    } catch (error) {
      if (error instanceof IssuerUnavailable) return { refused: 'unavailable', reason: error.message };
      throw error;
    } finally {
      this.#asking -= 1;
    }
  }

  #identityOf(answer: unknown): Identity | AuthRefusal {
    const { issuer, audience } = this.#settings;
    if (!isObject(answer) || answer.active !== true) return unauthorized('The token is not active');
    if (answer.iss !== undefined && answer.iss !== issuer)
      return unauthorized('The token’s claim "iss" is not accepted');
    const meant = [answer.aud].flat();
    if (![audience].flat().some((wanted) => meant.includes(wanted)))
      return unauthorized('The token’s claim "aud" is not accepted');
    return identityIn(answer, this.#settings);
  }

  async #ask(token: string): Promise<unknown> {
    const { clientId, clientSecret } = this.#settings.introspection;
    const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
    const response = await askIssuer(
      await this.#endpoint(),
      {
        method: 'POST',
        headers: {
          authorization: `Basic ${basic}`,
          'content-type': 'application/x-www-form-urlencoded',
          accept: 'application/json',
        },
        body: String(new URLSearchParams({ token, token_type_hint: 'access_token' })),
      },
      this.#send,
    );
    return response.json().catch((cause: unknown) => {
      throw new IssuerUnavailable('The identity provider’s answer is not JSON', { cause });
    });
  }

  #endpoint(): Promise<string> {
    const { issuer, introspection } = this.#settings;
    if (introspection.url !== undefined) return Promise.resolve(introspection.url);
    this.#url ??= endpointOf(issuer, 'introspection_endpoint', this.#send).catch((error: unknown) => {
      this.#url = undefined;
      throw error;
    });
    return this.#url;
  }
}

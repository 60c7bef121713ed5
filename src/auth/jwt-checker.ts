/**
 * Checks tokens that are JWTs: signature by the issuer's keys, issuer, audience, expiry.
 * @module
 */
import { wallNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';
import { ALGORITHMS } from '../core/signature-algorithms.ts';
import type { AuthSettings } from './auth-settings.ts';
import { identityIn } from './claims.ts';
import { type AuthRefusal, type Identity, type TokenChecker, unauthorized } from './identity.ts';
import { askIssuer, endpointOf, IssuerUnavailable } from './issuer-metadata.ts';

type Jose = typeof import('jose');
type Keys = ReturnType<Jose['createRemoteJWKSet']>;

export class JwtChecker implements TokenChecker {
  readonly #settings: AuthSettings;
  readonly #send: typeof fetch;
  readonly #now: () => number;
  #keys: Promise<Keys> | undefined;

  constructor(settings: AuthSettings, send: typeof fetch = fetch, now: () => number = wallNow) {
    this.#settings = settings;
    this.#send = send;
    this.#now = now;
  }

  async check(token: string): Promise<Identity | AuthRefusal> {
    const jose = await import('jose');
    const { issuer, audience, algorithms = ALGORITHMS } = this.#settings;
    try {
      const { payload } = await jose.jwtVerify(token, this.#keyFor(jose), {
        issuer,
        audience: [audience].flat(),
        algorithms: [...algorithms],
        requiredClaims: ['exp', 'sub'],
        clockTolerance: LIMITS.auth.clockSkew,
        currentDate: new Date(this.#now()),
      });
      return identityIn(payload, this.#settings);
    } catch (error) {
      if (error instanceof IssuerUnavailable) return { refused: 'unavailable', reason: error.message };
      if (error instanceof jose.errors.JOSEError) return unauthorized(whyNot(error, jose));
      throw error;
    }
  }

  /** Finds the key of a token. An issuer that cannot be reached is another error than a token without a key. */
  #keyFor(jose: Jose): Keys {
    const find = async (...given: Parameters<Keys>) => {
      try {
        return await (await this.#openKeys(jose))(...given);
      } catch (error) {
        const { JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JOSENotSupported } = jose.errors;
        const isOfToken = [JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JOSENotSupported].some(
          (kind) => error instanceof kind,
        );
        if (isOfToken || error instanceof IssuerUnavailable) throw error;
        throw new IssuerUnavailable('The keys of the identity provider cannot be read', { cause: error });
      }
    };
    return find as Keys;
  }

  #openKeys(jose: Jose): Promise<Keys> {
    this.#keys ??= this.#find(jose).catch((error: unknown) => {
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }

  async #find(jose: Jose): Promise<Keys> {
    const { issuer, jwksUri } = this.#settings;
    const url = jwksUri ?? (await endpointOf(issuer, 'jwks_uri', this.#send));
    return jose.createRemoteJWKSet(new URL(url), {
      [jose.customFetch]: (address, { headers }) => askIssuer(address, { headers }, this.#send),
    });
  }
}

function whyNot(error: Error, { errors }: Jose): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return `The token’s claim "${error.claim}" is not accepted`;
  return 'The token is not valid';
}

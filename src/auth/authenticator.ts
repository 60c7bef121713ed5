/**
 * Tells who is asking: checks the bearer token of a request against the static tokens and the identity provider.
 * @module
 */
import { createHash } from 'node:crypto';
import { wallNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';
import type { AuthSettings } from './auth-settings.ts';
import {
  type AuthRefusal,
  type Identity,
  isIdentity,
  type RequestHead,
  type TokenChecker,
  unauthorized,
} from './identity.ts';
import { Introspection } from './introspection.ts';
import { JwtChecker } from './jwt-checker.ts';
import type { StaticTokens } from './static-tokens.ts';

interface AuthenticatorOptions {
  readonly tokens: Pick<StaticTokens, 'exist' | 'owns' | 'check' | 'has'>;
  /** Called with each opaque token that was found valid, so that no output repeats it. */
  readonly learn?: ((token: string) => void) | undefined;
  /** Requires a token even if nothing is configured. Every request is refused then. */
  readonly isRequired?: boolean | undefined;
  readonly send?: typeof fetch | undefined;
  readonly now?: (() => number) | undefined;
}

/** Identities of tokens that the identity provider vouched for, by the hash of the token. */
type Known = Map<string, { readonly identity: Identity; readonly until: number }>;

/** A token that its provider may revoke, and the time until which the provider's last answer is used. */
interface Asked {
  readonly token: string;
  until: number;
  isRevoked?: boolean;
}

/** Equals no settings as JSON, so any new settings replace it. */
const SUSPENDED = 'suspended';

/** Tokens of this form are masked in every text, known or not. */
const IS_MASKED = /^eyJ/;

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #now: () => number;
  #settings: AuthSettings | undefined;
  /** The settings as JSON; undefined if there are none. */
  #applied: string | undefined;
  #issuer: TokenChecker | undefined;
  #wasOn = false;
  /** The tokens behind identities that the identity provider was asked about. */
  readonly #asked = new WeakMap<Identity, Asked>();
  #known: Known = new Map();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#now = options.now ?? wallNow;
  }

  /** Applies the settings of the configuration in force. */
  configure(settings: AuthSettings | undefined): void {
    const applied = JSON.stringify(settings);
    if (applied === this.#applied) return;
    this.#applied = applied;
    this.#settings = settings;
    this.#known = new Map();
    this.#issuer = settings && this.#checkerFor(settings);
  }

  /** Refuses every token of the identity provider, because its settings cannot be applied. */
  suspend(): void {
    this.#applied = SUSPENDED;
    this.#settings = undefined;
    this.#known = new Map();
    const reason = 'The settings of the identity provider cannot be applied';
    this.#issuer = { check: async () => ({ refused: 'unavailable', reason }) };
  }

  /** Whether requests need a credential. Once on, it stays on: a lost file opens no door. */
  get isOn(): boolean {
    this.#wasOn ||= this.#options.isRequired === true || this.#issuer !== undefined || this.#options.tokens.exist;
    return this.#wasOn;
  }

  get settings(): AuthSettings | undefined {
    return this.#settings;
  }

  /** Checks the credential of a request. */
  async authenticate(request: RequestHead): Promise<Identity | AuthRefusal> {
    const given = bearerTokenOf(request);
    if (!('token' in given)) return given;
    const { token } = given;
    if (this.#options.tokens.owns(token)) return this.#options.tokens.check(token);
    if (!this.#issuer) return unauthorized('The token is not known, or was revoked');
    const key = createHash('sha256').update(token).digest('base64');
    // A reload replaces this map. What the old settings accept must not enter the new one.
    const known = this.#known;
    const before = known.get(key);
    if (before && before.until > this.#now()) return before.identity;
    const answer = await this.#issuer.check(token);
    if (isIdentity(answer)) this.#remember(known, key, token, answer);
    if (isIdentity(answer) && this.#settings?.introspection)
      this.#asked.set(answer, { token, until: this.#nextAsking() });
    return answer;
  }

  /** Tells whether an identity from an earlier request would still be let in. Asks the identity provider in the background. */
  isStillValid(identity: Identity | undefined): boolean {
    // Admitted without a credential, before authentication was switched on.
    if (identity === undefined) return !this.isOn;
    const { principal, expiresAt } = identity;
    if (expiresAt <= this.#now()) return false;
    const asked = this.#asked.get(identity);
    if (asked?.isRevoked) return false;
    if (asked && asked.until <= this.#now()) void this.#askAgain(asked);
    const end = principal.indexOf('\0');
    return end < 0 ? this.#options.tokens.has(principal) : principal.slice(0, end) === this.#settings?.issuer;
  }

  /** Asks the identity provider again about a token whose stream is still open. */
  async #askAgain(asked: Asked): Promise<void> {
    asked.until = this.#nextAsking();
    try {
      const answer = await this.#issuer?.check(asked.token);
      asked.isRevoked = answer !== undefined && 'refused' in answer && answer.refused !== 'unavailable';
    } catch {
      // The client opens its stream again and is told what is wrong.
      asked.isRevoked = true;
    }
  }

  #nextAsking(): number {
    return this.#now() + LIMITS.age.credential;
  }

  #remember(known: Known, key: string, token: string, identity: Identity): void {
    const until = Math.min(identity.expiresAt, this.#now() + LIMITS.age.credential);
    if (!known.has(key) && !IS_MASKED.test(token)) this.#options.learn?.(token);
    known.delete(key);
    known.set(key, { identity, until });
    for (const [oldest] of known) {
      if (known.size <= LIMITS.auth.known) break;
      known.delete(oldest);
    }
  }

  #checkerFor(settings: AuthSettings): TokenChecker {
    const { introspection } = settings;
    return introspection
      ? new Introspection({ ...settings, introspection }, this.#options.send)
      : new JwtChecker(settings, this.#options.send, this.#now);
  }
}

const BEARER = /^bearer +([\w.~+/-]+=*)$/i;

/** Returns the one bearer token, or why there is none. A token in a query or a body is never read. */
function bearerTokenOf({ rawHeaders }: RequestHead): { readonly token: string } | AuthRefusal {
  const given = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'authorization');
  const [value] = given;
  if (value === undefined) return { refused: 'unauthorized', reason: 'A bearer token is missing', isMissing: true };
  if (given.length > 1) return unauthorized('There is more than one Authorization header');
  if (value.length > LIMITS.auth.header) return unauthorized('The token is too long');
  const token = BEARER.exec(value.trim())?.[1];
  return token === undefined ? unauthorized('Authorization must be "Bearer" and a token') : { token };
}

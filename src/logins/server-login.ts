/**
 * Keeps the login of one user to one server: returns the token for each request, renews it, and tells when a person has to
 * log in.
 *
 * Nothing is read before the first request, and nothing of the storage is loaded for a server without a login.
 * @module
 */
import { elapsedNow, wallNow } from '../async/clock.ts';
import { type Credentials, loginNeeded, type RefusedRequest } from '../connections/credentials.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { writtenPrincipal } from '../core/principal-name.ts';
import { shellWord } from '../text/shell-word.ts';
import { type Challenge, challengeIn } from './challenge.ts';
import type { LoginStore } from './login-store.ts';
import { bearerOf, isExpiring, type LoginOwner, type SavedLogin } from './saved-login.ts';

interface ServerLoginOptions {
  readonly server: string;
  readonly owner: LoginOwner;
  /** Changes with the saved login; undefined without one. Rejects if that cannot be known now. */
  readonly signature: () => Promise<string | undefined>;
  readonly store: () => Promise<LoginStore>;
  /** Sends the requests of the login. */
  readonly fetch: () => Promise<typeof fetch>;
  /** Logs in as a program, in place of a login that no longer serves; undefined where a person logs in. */
  readonly logInAlone?: ((stale: SavedLogin | undefined, challenge: Challenge) => Promise<SavedLogin>) | undefined;
}

/** A refusal that lasts until the saved login changes, or for some minutes. */
interface Parked {
  readonly error: DiscoveryError;
  readonly signature: string | undefined;
  readonly until: number;
}

export class ServerLogin implements Credentials {
  readonly #options: ServerLoginOptions;
  #login: SavedLogin | undefined;
  #isRead = false;
  /** The signature of what was read, and when it was last compared. */
  #readSignature: string | undefined;
  #comparedAt = 0;
  /** The access token that cannot be renewed, or whose successor was refused as well. */
  #dead: string | undefined;
  #parked: Parked | undefined;
  #renewing: Promise<SavedLogin | undefined> | undefined;

  constructor(options: ServerLoginOptions) {
    this.#options = options;
  }

  authorization(): string | undefined | Promise<string | undefined> {
    const isReady = this.#isRead && !this.#parked && !(this.#login && this.#isDoubtful(this.#login));
    return isReady ? bearerOf(this.#login) : this.#ready();
  }

  async refused({ sent, response, isCall, isRepeated }: RefusedRequest): Promise<'renewed' | DiscoveryError> {
    const { status } = response;
    const challenge = challengeIn(response.headers.get('www-authenticate'));
    const login = await this.#read();
    // The token was replaced meanwhile: by another request, another process or a new login.
    if (login && bearerOf(login) !== sent && !isRepeated) return 'renewed';
    if (status === 403) return this.#needsMore(login, challenge);
    if (isRepeated) this.#dead = login?.accessToken;
    else if ((await this.#renew(login, challenge)) !== undefined) return 'renewed';
    const { server } = this.#options;
    const why = login ? 'a new login' : 'a login';
    const error = loginNeeded(server, status, why, this.#command);
    // A refused call does not mean that other tools are refused.
    if (!isCall)
      this.#parked = {
        error: new DiscoveryError(error.code, error.message, { ...error.details, outcome: 'not_sent' }),
        signature: await this.#signature(),
        until: elapsedNow() + LIMITS.pace.connectRetryMost,
      };
    return error;
  }

  needsProof(accepted: string | undefined, age: number): boolean {
    const login = this.#login;
    if (!login || !this.#isRenewable(login)) return false;
    const proven = login.expiresAt === undefined ? LIMITS.age.provenLasting : LIMITS.age.proven;
    return age >= proven || bearerOf(login) !== accepted;
  }

  /** Forgets what was read; the next request reads it again. Resolves with whether the login is gone. */
  async reread(): Promise<boolean> {
    const hadLogin = this.#login !== undefined;
    this.#isRead = false;
    this.#parked = undefined;
    return hadLogin && (await this.#signature()) === undefined;
  }

  async #ready(): Promise<string | undefined> {
    const { error, signature, until } = this.#parked ?? {};
    if (error && elapsedNow() < (until ?? 0) && (await this.#signature()) === signature) throw error;
    this.#parked = undefined;
    const login = await this.#read().catch((error) => {
      // Where logins are kept cannot be asked now. Most servers need none; one that does will say so.
      if (this.#login && isExpiring(this.#login)) throw error;
      return this.#login;
    });
    if (!login || !this.#isDue(login)) return bearerOf(login);
    try {
      return bearerOf((await this.#renew(login)) ?? login);
    } catch (error) {
      // The token may still be good for a few seconds.
      if ((login.expiresAt ?? 0) > wallNow()) return bearerOf(login);
      throw error;
    }
  }

  /** Tells whether a token has to be renewed, or another program may have replaced it. */
  #isDoubtful(login: SavedLogin): boolean {
    return this.#isDue(login) || elapsedNow() - this.#comparedAt >= LIMITS.pace.login;
  }

  /** Tells whether a token has to be renewed before it is sent, and can be renewed. */
  #isDue(login: SavedLogin): boolean {
    return this.#isRenewable(login) && isExpiring(login);
  }

  #isRenewable({ accessToken, refreshToken }: SavedLogin): boolean {
    const canBe = refreshToken !== undefined || this.#options.logInAlone !== undefined;
    return canBe && accessToken !== this.#dead;
  }

  /** Renews a token, once for all requests that wait for it. Undefined: a person has to log in. */
  #renew(stale: SavedLogin | undefined, challenge: Challenge = {}): Promise<SavedLogin | undefined> {
    this.#renewing ??= this.#renewed(stale, challenge).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewed(stale: SavedLogin | undefined, challenge: Challenge): Promise<SavedLogin | undefined> {
    if (stale !== undefined && stale.accessToken === this.#dead) return undefined;
    const { server, owner, store, fetch, logInAlone } = this.#options;
    let login: SavedLogin | undefined;
    if (stale?.refreshToken !== undefined) {
      const { refreshLogin } = await import('./refresh-login.ts');
      login = await refreshLogin({ server, owner, store: await store(), fetch: await fetch() }, stale);
    }
    login ??= await logInAlone?.(stale, challenge);
    if (login) this.#login = login;
    else this.#dead = stale?.accessToken;
    return login;
  }

  async #needsMore(login: SavedLogin | undefined, { scope = '' }: Challenge): Promise<DiscoveryError> {
    const { server } = this.#options;
    const scopes = new Set([...(login?.scope?.split(' ') ?? []), ...scope.split(' ')].filter(Boolean));
    const option = scope === '' ? '' : ` --scope ${shellWord([...scopes].join(' '))}`;
    const why = login ? 'a login with more rights' : 'a login';
    return loginNeeded(server, 403, why, this.#command + option);
  }

  /** What a person types to log in. */
  get #command(): string {
    const { server, owner } = this.#options;
    const as = owner.principal === undefined ? '' : ` --as ${shellWord(writtenPrincipal(owner.principal))}`;
    return `anygpt mcp login ${shellWord(server)}${as}`;
  }

  async #read(): Promise<SavedLogin | undefined> {
    const { store, owner } = this.#options;
    this.#comparedAt = elapsedNow();
    const signature = await this.#signature();
    if (this.#isRead && signature === this.#readSignature) return this.#login;
    this.#login = signature === undefined ? undefined : await (await store()).read(owner);
    this.#readSignature = signature;
    this.#isRead = true;
    return this.#login;
  }

  #signature(): Promise<string | undefined> {
    return this.#options.signature();
  }
}

/**
 * Keeps the logins to remote servers: gives connections their tokens, logs in and out.
 * @module
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credentials } from '../connections/credentials.ts';
import type { LoginSettings } from '../core/types.ts';
import type { Challenge } from './challenge.ts';
import type { LoginScreen } from './login-flow.ts';
import type { KeyPlace } from './login-key.ts';
import type { LoginPlace, LoginStore } from './login-store.ts';
import { type LoginOwner, loginFile, loginName, type SavedLogin } from './saved-login.ts';
import { ServerLogin } from './server-login.ts';

interface ServerLoginsOptions {
  /** The state folder. */
  readonly home: () => string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with the secrets of each login that is read or written. */
  readonly learn: (secrets: readonly string[]) => void;
  readonly fetch?: typeof fetch | undefined;
  /** What replicas share in place of files. */
  readonly shared?: (() => SharedLogins | undefined) | undefined;
}

/** Where replicas keep their logins. */
export interface SharedLogins extends LoginPlace {
  /** Changes with the login of a name; undefined without one. */
  signature(name: string): Promise<string | undefined>;
}

/** A server whose references are expanded. */
export interface LoginTarget {
  readonly server: string;
  readonly url: string;
  readonly settings: LoginSettings;
  /** Headers of the configuration. */
  readonly headers: Headers;
  /** The HTTP method of the first request. */
  readonly opensWith: 'GET' | 'POST';
  readonly principal?: string | undefined;
}

export class ServerLogins {
  readonly #options: ServerLoginsOptions;
  readonly #logins = new Map<string, { readonly server: string; readonly login: ServerLogin }>();
  #store: Promise<LoginStore> | undefined;

  constructor(options: ServerLoginsOptions) {
    this.#options = options;
  }

  /** Returns the login that connections to a server use. */
  credentials(target: LoginTarget): Credentials {
    const { server } = target;
    const owner = ownerOf(target);
    const key = `${server}\0${loginName(owner)}`;
    const known = this.#logins.get(key);
    if (known) return known.login;
    const folder = this.#folder;
    const login = new ServerLogin({
      server,
      owner,
      signature: () => this.#options.shared?.()?.signature(loginName(owner)) ?? signatureOf(loginFile(folder, owner)),
      store: () => this.store(),
      fetch: () => this.#fetch(target),
      logInAlone: target.settings.grant && ((stale, challenge) => this.#logInAlone(target, stale, challenge)),
    });
    this.#logins.set(key, { server, login });
    return login;
  }

  /** Reads logins again with their next use: one, or all. Resolves with the servers that a user has logged out of. */
  async reread(name?: string): Promise<readonly string[]> {
    const known = [...this.#logins].flatMap(([key, one]) =>
      name === undefined || key.endsWith(`\0${name}`) ? one : [],
    );
    const gone = await Promise.all(known.map(({ login }) => login.reread().catch(() => false)));
    return known.flatMap(({ server }, at) => (gone[at] ? [server] : []));
  }

  /** Logs in, with a person at the screen unless the settings say otherwise. Resolves with where the key is kept. */
  async logIn(target: LoginTarget, screen: LoginScreen): Promise<KeyPlace> {
    const store = await this.store();
    const owner = ownerOf(target);
    const { logIn, challengeOf } = await import('./login-flow.ts');
    const send = await this.#fetch(target);
    if (target.settings.grant) await this.#logInAlone(target, await store.read(owner), await challengeOf(target, send));
    else await logIn(target, owner, store, screen, send);
    await this.reread(loginName(owner));
    return store.where();
  }

  /** Ends a login: tells the authorization server, then removes the tokens. */
  async logOut(target: LoginTarget): Promise<LogOut> {
    const store = await this.store();
    const owner = ownerOf(target);
    return store.locked(owner, async () => {
      const login = await store.read(owner);
      const { revoke } = await import('./revoke-login.ts');
      const revoked = login && (await revoke(login, await this.#fetch(target)));
      await store.remove(owner);
      return login ? { wasLoggedIn: true, ...(revoked !== undefined && { problem: revoked }) } : { wasLoggedIn: false };
    });
  }

  /** The storage, loaded with the first login. */
  store(): Promise<LoginStore> {
    this.#store ??= this.#openStore();
    return this.#store;
  }

  async #openStore(): Promise<LoginStore> {
    const { LoginStore } = await import('./login-store.ts');
    const { env, learn, shared } = this.#options;
    return new LoginStore(shared?.() ?? (await this.#files(env)), learn);
  }

  async #files(env: ServerLoginsOptions['env']): Promise<LoginPlace> {
    const [{ LoginFiles }, { loginKey, systemKeychain }] = await Promise.all([
      import('./login-files.ts'),
      import('./login-key.ts'),
    ]);
    const folder = this.#folder;
    const keychain = async () => (env.ANYGPT_KEYCHAIN === 'off' ? undefined : systemKeychain(folder));
    return new LoginFiles(folder, () => loginKey(folder, keychain));
  }

  get #folder(): string {
    return join(this.#options.home(), 'logins');
  }

  async #fetch({ url }: LoginTarget): Promise<typeof fetch> {
    const { oauthFetch } = await import('./oauth-fetch.ts');
    return oauthFetch(url, this.#options.fetch);
  }

  async #logInAlone(target: LoginTarget, stale: SavedLogin | undefined, challenge: Challenge): Promise<SavedLogin> {
    const store = await this.store();
    const owner = ownerOf(target);
    const { server, url, settings } = target;
    return store.locked(owner, async () => {
      const current = await store.read(owner);
      if (current && current.accessToken !== stale?.accessToken) return current;
      const [{ discoverLogin }, { logInAsProgram }] = await Promise.all([
        import('./discover-login.ts'),
        import('./machine-login.ts'),
      ]);
      const send = await this.#fetch(target);
      const place = await discoverLogin(server, new URL(url), challenge, settings, send);
      const login = await logInAsProgram(server, place, settings, send);
      await store.renew(owner, login);
      return login;
    });
  }
}

/** What became of a logout. */
export interface LogOut {
  readonly wasLoggedIn: boolean;
  /** Why the authorization server may still accept the tokens. */
  readonly problem?: string;
}

/** Changes with a file; undefined without one. */
const signatureOf = (file: string): Promise<string | undefined> =>
  stat(file, { bigint: true }).then(
    ({ ino, mtimeNs, size }) => `${ino} ${mtimeNs} ${size}`,
    () => undefined,
  );

const ownerOf = ({ url, settings, principal }: LoginTarget): LoginOwner => ({ url, settings, principal });

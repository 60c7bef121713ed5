/**
 * Logs in to remote servers and out of them, and gives connections their credentials.
 * @module
 */
import type { Credentials } from '../connections/credentials.ts';
import { DiscoveryError } from '../core/errors.ts';
import { connectionOf, hasOwnToken, isLocal, mapTexts, transportParts } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';
import type { LoginScreen } from '../logins/login-flow.ts';
import type { KeyPlace } from '../logins/login-key.ts';
import type { LoginTarget, LogOut, ServerLogins, SharedLogins } from '../logins/server-logins.ts';
import type { EngineSecrets } from './engine-secrets.ts';
import type { EngineWorld } from './engine-world.ts';

export interface LoginWish {
  /** The scopes to ask for, in place of the server's own. */
  readonly scopes?: readonly string[] | undefined;
  /** The user of the gateway whose login it is; undefined: the gateway's own. */
  readonly principal?: string | undefined;
}

export class EngineLogins {
  readonly #world: EngineWorld;
  readonly #secrets: EngineSecrets;
  readonly #home: () => string;
  readonly #shared: () => SharedLogins | undefined;
  #logins: Promise<ServerLogins> | undefined;

  /** `home` is the state folder of the configuration in force; `shared` has the logins of replicas. */
  constructor(world: EngineWorld, secrets: EngineSecrets, home: () => string, shared: () => SharedLogins | undefined) {
    this.#shared = shared;
    this.#world = world;
    this.#secrets = secrets;
    this.#home = home;
  }

  /** Logs in to a server, with a person at the screen. Resolves with where the key of the tokens is kept. */
  async logIn(definition: ServerDefinition, screen: LoginScreen, wish: LoginWish = {}): Promise<KeyPlace> {
    const { scopes, principal } = wish;
    const target = this.#target(definition, principal);
    const settings = scopes ? { ...target.settings, scopes: [...scopes] } : target.settings;
    return (await this.#load()).logIn({ ...target, settings }, screen);
  }

  /** Ends the login to a server. */
  async logOut(definition: ServerDefinition, principal?: string): Promise<LogOut> {
    return (await this.#load()).logOut(this.#target(definition, principal));
  }

  /** Returns the login of a user to a remote server. An engine that keeps nothing on disk has none. */
  async credentials(definition: ServerDefinition, principal: string | undefined): Promise<Credentials | undefined> {
    const { connection } = definition;
    const isKept = this.#world.state !== 'memory' || this.#shared() !== undefined;
    if (!isKept || isLocal(connection) || hasOwnToken(connection)) return undefined;
    let target: LoginTarget;
    try {
      target = this.#target(definition, principal);
    } catch {
      // What is wrong with the entry is reported when the connection opens.
      return undefined;
    }
    return (await this.#load()).credentials(target);
  }

  /** Reads the logins again: a person may have logged in or out. Resolves with the servers whose login changed. */
  async reread(name?: string): Promise<readonly string[]> {
    return (await (await this.#logins)?.reread(name)) ?? [];
  }

  #load(): Promise<ServerLogins> {
    this.#logins ??= import('../logins/server-logins.ts').then(
      ({ ServerLogins }) =>
        new ServerLogins({
          home: this.#home,
          env: this.#world.env,
          learn: (secrets) => this.#secrets.known.learn(secrets),
          fetch: this.#world.fetch,
          shared: this.#shared,
        }),
    );
    return this.#logins;
  }

  /** Returns what a login needs to know of a server, with references expanded. */
  #target({ name, connection: written, credentials }: ServerDefinition, principal: string | undefined): LoginTarget {
    const connection = connectionOf(written, principal);
    const { opensWith } = transportParts(connection.type);
    if (isLocal(connection) || opensWith === undefined)
      throw new DiscoveryError(
        'VALIDATION_ERROR',
        `${name} is a program on this computer; there is nothing to log in to.`,
        { server: name },
      );
    if (principal !== undefined && credentials !== 'user')
      throw new DiscoveryError(
        'VALIDATION_ERROR',
        `All users share one login to ${name}. For logins of their own, set "credentials": "user" in its entry.`,
        { server: name },
      );
    if (hasOwnToken(connection))
      throw new DiscoveryError(
        'VALIDATION_ERROR',
        `The entry of ${name} says which token to send. Remove auth and the Authorization header to log in.`,
        { server: name },
      );
    const expand = (text: string): string => this.#secrets.expand(text, `server "${name}"`);
    const { url, oauth = {}, headers } = mapTexts(connection, expand);
    return {
      server: name,
      url: new URL(url).href,
      settings: oauth,
      headers: new Headers(headers),
      opensWith,
      principal,
    };
  }
}

/**
 * Reads and writes logins, one per server and user, in the place where they are kept.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import type { KeyPlace } from './login-key.ts';
import { type LoginOwner, loginName, type SavedLogin, secretsOf } from './saved-login.ts';

/** Where logins are kept, by name: encrypted files, or what replicas share. */
export interface LoginPlace {
  /** Undefined if there is none, or if it cannot be decrypted. */
  read(name: string): Promise<Uint8Array | undefined>;
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Like `write`, for tokens that replace others, which may serve no longer. Loses them only with the process. */
  replace?(name: string, bytes: Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
  /** Runs work that no other process does for this login at the same time. */
  locked<T>(name: string, waitMs: number, work: () => Promise<T>): Promise<T>;
  where(): Promise<KeyPlace>;
}

export class LoginStore {
  readonly #place: LoginPlace;
  readonly #learn: (secrets: readonly string[]) => void;

  /** @param learn called with the secrets of each login that is read or written */
  constructor(place: LoginPlace, learn: (secrets: readonly string[]) => void) {
    this.#place = place;
    this.#learn = learn;
  }

  /** Returns a login; undefined if there is none. One that cannot be decrypted counts as none. */
  async read(owner: LoginOwner): Promise<SavedLogin | undefined> {
    const login = parsed(await this.#place.read(loginName(owner)));
    if (login) this.#learn(secretsOf(login));
    return login;
  }

  async write(owner: LoginOwner, login: SavedLogin): Promise<void> {
    await this.#place.write(loginName(owner), this.#bytesOf(login));
  }

  /** Writes renewed tokens. */
  async renew(owner: LoginOwner, login: SavedLogin): Promise<void> {
    const place = this.#place;
    await (place.replace ?? place.write).call(place, loginName(owner), this.#bytesOf(login));
  }

  async remove(owner: LoginOwner): Promise<void> {
    await this.#place.remove(loginName(owner));
  }

  /** Runs work that no other process does for this login at the same time. */
  locked<T>(owner: LoginOwner, work: () => Promise<T>): Promise<T> {
    return this.#place.locked(loginName(owner), LIMITS.time.refreshTurn, work);
  }

  /** Runs an interactive login that no other process has on its screen at the same time. */
  alone<T>(owner: LoginOwner, work: () => Promise<T>): Promise<T> {
    return this.#place.locked(screenOf(loginName(owner)), LIMITS.time.login, work);
  }

  /** Where the key of the logins is kept. */
  where(): Promise<KeyPlace> {
    return this.#place.where();
  }

  #bytesOf(login: SavedLogin): Buffer {
    this.#learn(secretsOf(login));
    return Buffer.from(JSON.stringify(login));
  }
}

const screenOf = (name: string): string => `${name}.screen`;

/** Only this program writes what opens, so its shape is checked no further. */
function parsed(bytes: Uint8Array | undefined): SavedLogin | undefined {
  const value: unknown = bytes && JSON.parse(Buffer.from(bytes).toString('utf8'));
  return isObject(value) && typeof value.accessToken === 'string' ? (value as unknown as SavedLogin) : undefined;
}

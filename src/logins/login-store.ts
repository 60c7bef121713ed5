/**
 * Keeps logins in encrypted files, one per server and user, so that processes share them.
 * @module
 */
import { readFile, rm } from 'node:fs/promises';
import { LIMITS } from '../core/limits.ts';
import { withLock } from '../disk/file-lock.ts';
import { seal, unseal } from '../disk/sealed-bytes.ts';
import { writeAtomically } from '../disk/write-atomically.ts';
import { isObject } from '../json/plain-object.ts';
import type { LoginKey } from './login-key.ts';
import { type LoginOwner, loginFile, loginName, type SavedLogin, secretsOf } from './saved-login.ts';

interface LoginStoreOptions {
  readonly folder: string;
  readonly key: () => Promise<LoginKey>;
  /** Called with the secrets of each login that is read or written. */
  readonly learn: (secrets: readonly string[]) => void;
}

export class LoginStore {
  readonly #options: LoginStoreOptions;
  #key: Promise<LoginKey> | undefined;

  constructor(options: LoginStoreOptions) {
    this.#options = options;
  }

  /** Returns a login; undefined if there is none. One that cannot be decrypted counts as none. */
  async read(owner: LoginOwner): Promise<SavedLogin | undefined> {
    const sealed = await readFile(this.#file(owner)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    const bytes = sealed && Buffer.from(sealed.toString('utf8'), 'base64');
    const login = bytes && parsed(unseal(bytes, (await this.key()).key, loginName(owner)));
    if (login) this.#options.learn(secretsOf(login));
    return login;
  }

  async write(owner: LoginOwner, login: SavedLogin): Promise<void> {
    this.#options.learn(secretsOf(login));
    const sealed = seal(Buffer.from(JSON.stringify(login)), (await this.key()).key, loginName(owner));
    await writeAtomically(this.#file(owner), `${sealed.toString('base64')}\n`);
  }

  async remove(owner: LoginOwner): Promise<void> {
    await rm(this.#file(owner), { force: true });
  }

  /** Runs work that no other process does for this login at the same time. */
  locked<T>(owner: LoginOwner, work: () => Promise<T>): Promise<T> {
    return withLock(this.#file(owner), work, { waitMs: LIMITS.time.refreshTurn });
  }

  /** Runs an interactive login that no other process has on its screen at the same time. */
  alone<T>(owner: LoginOwner, work: () => Promise<T>): Promise<T> {
    return withLock(`${this.#file(owner)}.screen`, work, { waitMs: LIMITS.time.login });
  }

  /** The key and where it is kept. */
  key(): Promise<LoginKey> {
    this.#key ??= this.#options.key().catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }

  #file(owner: LoginOwner): string {
    return loginFile(this.#options.folder, owner);
  }
}

/** Only this program writes what opens, so its shape is checked no further. */
function parsed(bytes: Buffer | undefined): SavedLogin | undefined {
  const value: unknown = bytes && JSON.parse(bytes.toString('utf8'));
  return isObject(value) && typeof value.accessToken === 'string' ? (value as unknown as SavedLogin) : undefined;
}

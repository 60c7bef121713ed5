/**
 * Keeps logins in encrypted files, one per server and user, so that processes share them.
 * @module
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { LIMITS } from '../core/limits.ts';
import { withLock } from '../disk/file-lock.ts';
import { writeAtomically } from '../disk/write-atomically.ts';
import { isObject } from '../json/plain-object.ts';
import type { LoginKey } from './login-key.ts';
import { type LoginOwner, loginFile, loginName, type SavedLogin, secretsOf } from './saved-login.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface LoginStoreOptions {
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
    const login = sealed && parsed(open(sealed.toString('utf8'), (await this.key()).key, loginName(owner)));
    if (login) this.#options.learn(secretsOf(login));
    return login;
  }

  async write(owner: LoginOwner, login: SavedLogin): Promise<void> {
    this.#options.learn(secretsOf(login));
    const sealed = seal(JSON.stringify(login), (await this.key()).key, loginName(owner));
    await writeAtomically(this.#file(owner), `${sealed}\n`);
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

/** The name is authenticated with the text: a file that was moved to another name does not open. */
function seal(text: string, key: Buffer, name: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(name));
  const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), bytes]).toString('base64');
}

function open(text: string, key: Buffer, name: string): string | undefined {
  const sealed = Buffer.from(text, 'base64');
  if (sealed.length < IV_BYTES + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(name))
      .setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}

/** Only this program writes what opens, so its shape is checked no further. */
function parsed(text: string | undefined): SavedLogin | undefined {
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  return isObject(value) && typeof value.accessToken === 'string' ? (value as unknown as SavedLogin) : undefined;
}

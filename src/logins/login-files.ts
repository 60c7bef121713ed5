/**
 * Keeps logins in encrypted files, one per server and user, so that processes of one computer share them.
 * @module
 */

import { readFile, rm } from 'node:fs/promises';
import { unlessMissing } from '../disk/file-error.ts';
import { withLock } from '../disk/file-lock.ts';
import { seal, unseal } from '../disk/sealed-bytes.ts';
import { writeAtomically } from '../disk/write-atomically.ts';
import type { LoginKey } from './login-key.ts';
import type { LoginPlace } from './login-store.ts';
import { fileOfLogin } from './saved-login.ts';

export class LoginFiles implements LoginPlace {
  readonly #folder: string;
  readonly #newKey: () => Promise<LoginKey>;
  #key: Promise<LoginKey> | undefined;

  constructor(folder: string, key: () => Promise<LoginKey>) {
    this.#folder = folder;
    this.#newKey = key;
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    const sealed = await readFile(this.#file(name)).catch(unlessMissing);
    return sealed && unseal(Buffer.from(sealed.toString('utf8'), 'base64'), (await this.#loginKey()).key, name);
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const sealed = seal(Buffer.from(bytes), (await this.#loginKey()).key, name);
    await writeAtomically(this.#file(name), `${sealed.toString('base64')}\n`);
  }

  async remove(name: string): Promise<void> {
    await rm(this.#file(name), { force: true });
  }

  locked<T>(name: string, waitMs: number, work: () => Promise<T>): Promise<T> {
    return withLock(this.#file(name), work, { waitMs });
  }

  async where(): Promise<LoginKey['place']> {
    return (await this.#loginKey()).place;
  }

  #loginKey(): Promise<LoginKey> {
    this.#key ??= this.#newKey().catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }

  #file(name: string): string {
    return fileOfLogin(this.#folder, name);
  }
}

/**
 * Keeps the key that encrypts logins: in the keychain of the operating system where there is one, else in a file.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from '../disk/file-lock.ts';
import { writeAtomically } from '../disk/write-atomically.ts';

/** Where the key is. */
export type KeyPlace = 'keychain' | 'file';

export interface LoginKey {
  readonly key: Buffer;
  readonly place: KeyPlace;
}

/** The one entry of the keychain that is used. */
export interface Keychain {
  get(): Promise<string | undefined>;
  set(value: string): Promise<void>;
}

const SERVICE = 'anygpt';
const BYTES = 32;

/** Returns the key, and makes one on the first use. A key file wins: logins were encrypted with it. */
export async function loginKey(folder: string, keychain: Keychain | undefined): Promise<LoginKey> {
  const file = join(folder, 'key');
  return withLock(file, async () => {
    const inFile = await readKey(file);
    if (inFile) return { key: inFile, place: 'file' };
    const inKeychain = await fromKeychain(keychain);
    if (inKeychain) return { key: inKeychain, place: 'keychain' };
    const key = randomBytes(BYTES);
    await writeAtomically(file, `${key.toString('base64')}\n`);
    return { key, place: 'file' };
  });
}

async function readKey(file: string): Promise<Buffer | undefined> {
  try {
    return keyOf(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A keychain that cannot be asked, locked or absent, is as good as none. */
async function fromKeychain(keychain: Keychain | undefined): Promise<Buffer | undefined> {
  try {
    const known = keyOf((await keychain?.get()) ?? '');
    if (known || !keychain) return known;
    const key = randomBytes(BYTES);
    await keychain.set(key.toString('base64'));
    // Some keychains accept everything and keep nothing.
    return keyOf((await keychain.get()) ?? '')?.equals(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

function keyOf(text: string): Buffer | undefined {
  const key = Buffer.from(text.trim(), 'base64');
  return key.length === BYTES ? key : undefined;
}

/** Returns the keychain of the operating system, if the module for it is installed. */
export async function systemKeychain(folder: string): Promise<Keychain | undefined> {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    // Without a Secret Service, Linux would keep the key in memory until the next restart.
    const entry = new AsyncEntry(SERVICE, folder, { linux: { store: 'secret-service' } });
    return {
      get: async () => (await entry.getPassword()) ?? undefined,
      set: (value) => entry.setPassword(value),
    };
  } catch {
    return undefined;
  }
}

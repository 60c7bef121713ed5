/**
 * Keeps the key that encrypts logins: in the keychain of the operating system where there is one, else in a file.
 * @module
 */

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { limitTime } from '../async/time-limit.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { unlessMissing } from '../disk/file-error.ts';
import { withLock } from '../disk/file-lock.ts';
import { writeAtomically } from '../disk/write-atomically.ts';

/** Where the key is; `cluster`: replicas share it. */
export type KeyPlace = 'keychain' | 'file' | 'cluster';

export interface LoginKey {
  readonly key: Buffer;
  readonly place: Exclude<KeyPlace, 'cluster'>;
}

/** The one keychain entry that is used. */
export interface Keychain {
  get(): Promise<string | undefined>;
  set(value: string): Promise<void>;
}

const SERVICE = 'anygpt';
const BYTES = 32;

/** Content of the key file if the key is in the keychain. Without it, a failing keychain would look like a missing key. */
const IN_KEYCHAIN = 'keychain';

/** Returns the key. On the first use, creates it in the keychain or, if that does not work, in the file. */
export async function loginKey(folder: string, keychain: () => Promise<Keychain | undefined>): Promise<LoginKey> {
  const file = join(folder, 'key');
  const known = await readKey(file, keychain);
  if (known) return known;
  return withLock(file, async () => {
    // Another process may have made it.
    const others = await readKey(file, keychain);
    if (others) return others;
    const key = randomBytes(BYTES);
    const place = (await isKept(await keychain(), key)) ? 'keychain' : 'file';
    await writeAtomically(file, `${place === 'keychain' ? IN_KEYCHAIN : key.toString('base64')}\n`);
    return { key, place };
  });
}

async function readKey(file: string, keychain: () => Promise<Keychain | undefined>): Promise<LoginKey | undefined> {
  const text = await readFile(file, 'utf8').catch(unlessMissing);
  if (text === undefined) return undefined;
  if (text.trim() !== IN_KEYCHAIN) {
    const key = keyOf(text);
    if (key) return { key, place: 'file' };
    throw unreadable(`${file} has no key. Remove it and log in again.`);
  }
  const kept = await inTime((await keychain())?.get()).catch(() => undefined);
  const key = keyOf(kept ?? '');
  if (key) return { key, place: 'keychain' };
  throw unreadable(
    `the keychain of this computer does not give the key. Unlock it, or remove ${file} and log in again.`,
  );
}

const unreadable = (why: string): DiscoveryError =>
  new DiscoveryError('STORAGE_ERROR', `Saved logins cannot be read: ${why}`, { outcome: 'not_sent' });

/** Gives the key to the keychain. Some keychains accept everything and keep nothing. */
async function isKept(keychain: Keychain | undefined, key: Buffer): Promise<boolean> {
  if (keychain === undefined) return false;
  try {
    await inTime(keychain.set(key.toString('base64')));
    return keyOf((await inTime(keychain.get())) ?? '')?.equals(key) ?? false;
  } catch {
    return false;
  }
}

const inTime = <T>(work: Promise<T> | undefined): Promise<T | undefined> =>
  limitTime({ ms: LIMITS.time.keychain, overdue: () => new Error('no answer') }, () => work);

function keyOf(text: string): Buffer | undefined {
  const key = Buffer.from(text.trim(), 'base64');
  return key.length === BYTES ? key : undefined;
}

/** Returns the keychain of the operating system, if the module for it is installed. */
export async function systemKeychain(folder: string): Promise<Keychain | undefined> {
  try {
    // A bundler must not look for it: it is a native module, and optional.
    const name = ['@napi-rs', 'keyring'].join('/');
    const { AsyncEntry } = (await import(name)) as typeof import('@napi-rs/keyring');
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

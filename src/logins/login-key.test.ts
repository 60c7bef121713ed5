import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type Keychain, loginKey } from './login-key.ts';

const root = mkdtempSync(join(tmpdir(), 'anygpt-key-'));
afterAll(() => rmSync(root, { recursive: true }));
const newFolder = () => mkdtempSync(join(root, 'folder-'));

/** A keychain in memory; `isLocked` makes it fail, `forgets` makes it keep nothing. */
class MemoryKeychain implements Keychain {
  isLocked = false;
  forgets = false;
  #value: string | undefined;

  async get() {
    if (this.isLocked) throw new Error('locked');
    return this.#value;
  }

  async set(value: string) {
    if (!this.forgets) this.#value = value;
  }
}

it('keeps the key in the keychain, and a locked keychain costs no login', async () => {
  const folder = newFolder();
  const keychain = new MemoryKeychain();
  const { key, place } = await loginKey(folder, async () => keychain);
  expect(place).toBe('keychain');
  expect(readFileSync(join(folder, 'key'), 'utf8')).toBe('keychain\n');
  keychain.isLocked = true;
  for (const locked of [keychain, undefined])
    await expect(loginKey(folder, async () => locked)).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
  keychain.isLocked = false;
  expect((await loginKey(folder, async () => keychain)).key.equals(key)).toBe(true);
});

it('keeps the key in a file where there is no keychain, or one that keeps nothing', async () => {
  const forgetful = new MemoryKeychain();
  forgetful.forgets = true;
  for (const keychain of [undefined, forgetful]) {
    const folder = newFolder();
    const keys = await Promise.all([1, 2, 3].map(() => loginKey(folder, async () => keychain)));
    expect(new Set(keys.map(({ key, place }) => `${place} ${key.toString('hex')}`)).size).toBe(1);
    expect(keys[0]?.place).toBe('file');
    expect(readFileSync(join(folder, 'key'), 'utf8').trim()).toBe(keys[0]?.key.toString('base64'));
  }
});

import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { AUDIENCE, startIssuer } from '../../test/fixtures/gateway/issuer.ts';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { Authenticator } from './authenticator.ts';
import { isIdentity } from './identity.ts';
import { StaticTokens } from './static-tokens.ts';

const HOUR = 3_600_000;
const bearer = (token: string) => ({ rawHeaders: ['Authorization', `Bearer ${token}`] });

it('ends with its token: an identity is no longer valid once that has expired or was revoked', async () => {
  using folder = tempFolder();
  let now = Date.now();
  const tokens = new StaticTokens(folder.path, () => now);
  const authenticator = new Authenticator({ tokens, now: () => now });
  expect(authenticator.isOn).toBe(false);
  const [short, long] = [
    await tokens.create({ expiresAt: now + HOUR }),
    await tokens.create({ expiresAt: now + 9 * HOUR }),
  ];
  expect(authenticator.isOn).toBe(true);
  const [one, two] = [
    await authenticator.authenticate(bearer(short.text)),
    await authenticator.authenticate(bearer(long.text)),
  ];
  if (!isIdentity(one) || !isIdentity(two)) throw new Error('not let in');
  expect([one, two].map((identity) => authenticator.isStillValid(identity))).toEqual([true, true]);
  now += 2 * HOUR;
  expect([one, two].map((identity) => authenticator.isStillValid(identity))).toEqual([false, true]);
  expect(await authenticator.authenticate(bearer(short.text))).toMatchObject({ refused: 'unauthorized' });
  await tokens.revoke(long.token.id);
  expect(authenticator.isStillValid(two)).toBe(false);
});

it('keeps the door shut when the file of the tokens is lost', async () => {
  using folder = tempFolder();
  const tokens = new StaticTokens(folder.path);
  const authenticator = new Authenticator({ tokens });
  const { text } = await tokens.create({ expiresAt: Date.now() + HOUR });
  expect(authenticator.isOn).toBe(true);
  const { rmSync } = await import('node:fs');
  rmSync(`${folder.path}/tokens.json`);
  expect(authenticator.isOn).toBe(true);
  expect(await authenticator.authenticate(bearer(text))).toMatchObject({ refused: 'unauthorized' });
});

it('lets nothing in by settings that were replaced while a token was checked', async () => {
  using folder = tempFolder();
  await using provider = await startIssuer();
  const token = await provider.token('ann');
  let goOn = () => {};
  const isReplaced = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const authenticator = new Authenticator({
    tokens: new StaticTokens(folder.path),
    send: async (...asked) => {
      await isReplaced;
      return fetch(...asked);
    },
  });
  authenticator.configure({ issuer: provider.issuer, audience: AUDIENCE });
  const first = authenticator.authenticate(bearer(token));
  authenticator.configure({ issuer: provider.issuer, audience: 'https://other.example' });
  goOn();
  const identity = await first;
  expect(isIdentity(identity)).toBe(true);
  expect(await authenticator.authenticate(bearer(token))).toMatchObject({ refused: 'unauthorized' });
  authenticator.configure({ issuer: 'https://other.example', audience: AUDIENCE });
  expect(isIdentity(identity) && authenticator.isStillValid(identity)).toBe(false);
});

it('finds the new keys of its identity provider, and forgets those that are gone', async () => {
  using folder = tempFolder();
  await using provider = await startIssuer();
  const authenticator = new Authenticator({ tokens: new StaticTokens(folder.path) });
  authenticator.configure({ issuer: provider.issuer, audience: AUDIENCE });
  const isLetIn = async (token: string) => isIdentity(await authenticator.authenticate(bearer(token)));
  const old = await provider.sign();
  expect(await isLetIn(old)).toBe(true);
  provider.rotate();
  const asked = () => provider.paths.filter((path) => path === '/jwks').length;
  const before = asked();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
  try {
    expect(await isLetIn(await provider.sign())).toBe(true);
    expect(asked()).toBe(before + 1);
    // Invented key ids do not make the gateway ask again and again.
    for (let at = 0; at < 20; at++)
      expect(await isLetIn(await provider.sign({}, { kid: `made-up-${at}` }))).toBe(false);
    expect(asked()).toBe(before + 1);
    vi.setSystemTime(Date.now() + 31_000);
    expect(await isLetIn(old)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

it('reads a file of tokens again that could not be read, even if it looks the same', async () => {
  using folder = tempFolder();
  const { text } = await new StaticTokens(folder.path).create({ expiresAt: Date.now() + HOUR });
  const file = join(folder.path, 'tokens.json');
  const good = readFileSync(file, 'utf8');
  const write = (content: string) => {
    writeFileSync(file, content);
    utimesSync(file, 1_000, 1_000);
  };
  write('x'.repeat(good.length));
  const authenticator = new Authenticator({ tokens: new StaticTokens(folder.path) });
  expect(authenticator.isOn).toBe(true);
  expect(await authenticator.authenticate(bearer(text))).toMatchObject({ refused: 'unauthorized' });
  write(good);
  expect(isIdentity(await authenticator.authenticate(bearer(text)))).toBe(true);
});

it('ends for an open stream within a minute after the identity provider revoked an opaque token', async () => {
  using folder = tempFolder();
  await using issuer = await startIssuer();
  let now = Date.now();
  const authenticator = new Authenticator({ tokens: new StaticTokens(folder.path), now: () => now });
  const introspection = { clientId: 'gateway', clientSecret: 'secret of gateway' };
  authenticator.configure({ issuer: issuer.issuer, audience: AUDIENCE, introspection });
  const [revoked, kept] = [
    await issuer.token('ann', { format: 'opaque' }),
    await issuer.token('bob', { format: 'opaque' }),
  ];
  const [ann, bob] = [
    await authenticator.authenticate(bearer(revoked)),
    await authenticator.authenticate(bearer(kept)),
  ];
  if (!isIdentity(ann) || !isIdentity(bob)) throw new Error('not let in');
  await issuer.revoke('ann', revoked);
  expect([ann, bob].map((identity) => authenticator.isStillValid(identity))).toEqual([true, true]);
  now += 61_000;
  await expect.poll(() => authenticator.isStillValid(ann)).toBe(false);
  expect(authenticator.isStillValid(bob)).toBe(true);
  // A provider that cannot be asked ends nothing.
  issuer.status = 503;
  now += 61_000;
  expect(authenticator.isStillValid(bob)).toBe(true);
});

import { expect, it } from 'vitest';
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

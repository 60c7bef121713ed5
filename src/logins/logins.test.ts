import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Identity, startIdentity } from '../../test/fixtures/identity.ts';
import { EngineCore } from '../engine/engine-core.ts';
import type { LoginScreen } from './login-flow.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'anygpt-logins-'));

const browser = (identity: Identity): LoginScreen => ({
  prefersCode: false,
  signal: new AbortController().signal,
  show: (address) => void identity.visit(address.href).catch(() => {}),
  pasted: async () => undefined,
});

const engineOf = (identity: Identity, home = folder()) =>
  new EngineCore(
    { servers: [{ name: 'secret', connection: { type: 'http', url: identity.url } }], state: home },
    { env: { ANYGPT_KEYCHAIN: 'off' } },
  );

it('logs in, calls a tool with the token, and keeps it for the next process', async () => {
  await using identity = await startIdentity();
  const home = folder();
  await using engine = engineOf(identity, home);
  const before = await engine.call({ server: 'secret', tool: 'whisper', arguments: { text: 'a' } });
  expect(before).toMatchObject({ success: false, error: { code: 'SERVER_AUTH_REQUIRED' } });
  expect(await engine.logIn('secret', browser(identity))).toBe('file');
  const after = await engine.call({ server: 'secret', tool: 'whisper', arguments: { text: 'b' } });
  expect(after).toMatchObject({ success: true });
  await using next = engineOf(identity, home);
  expect(await next.call({ server: 'secret', tool: 'whisper', arguments: { text: 'c' } })).toMatchObject({
    success: true,
  });
});

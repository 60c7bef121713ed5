import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { StaticTokens } from '../../auth/static-tokens.ts';
import { main } from '../main.ts';

it('--as takes the id of a token and not its name, and says if there is no such id', async () => {
  using folder = tempFolder();
  const { token } = await new StaticTokens(folder.path).create({ name: 'ci', expiresAt: Date.now() + 3_600_000 });
  const file = join(folder.path, 'config.json');
  // Nothing listens there: a login that begins fails.
  const connection = { type: 'http', url: 'http://127.0.0.1:9/mcp' };
  writeFileSync(file, JSON.stringify({ servers: [{ name: 'away', connection, credentials: 'user' }] }));
  const logIn = async (as: string) => {
    const io = fakeIo({ env: { ANYGPT_HOME: folder.path, ANYGPT_KEYCHAIN: 'off' }, cwd: folder.path });
    const code = await main(['mcp', 'login', 'away', '--as', as, '--config', file], io);
    return { code, said: io.err().replace(/\s+/g, ' ') };
  };
  expect(await logIn('ci')).toMatchObject({ code: 1, said: expect.stringContaining(`--as ${token.id}`) });
  expect(await logIn('nobody')).toMatchObject({
    code: 3,
    said: expect.stringContaining('No token has the id "nobody"'),
  });
  for (const user of [token.id, 'https://idp.example ann'])
    expect(await logIn(user)).toMatchObject({ code: 3, said: expect.not.stringContaining('token') });
});

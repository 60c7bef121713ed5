/**
 * Calls to servers that refuse their token, before or after they have executed the call.
 */
import { expect, it } from 'vitest';
import { ServerLogins } from '../../src/logins/server-logins.ts';
import { type ExecutingServer, executingServer, type Kind, succeed } from '../fixtures/connections/executing-server.ts';
import { serve } from '../fixtures/connections/harness.ts';
import { engineIn, type Folder, folder } from '../fixtures/engine.ts';
import { passMinute } from '../fixtures/logins.ts';

const KINDS: readonly Kind[] = ['legacy', 'modern', 'sse'];
const env = { ANYGPT_KEYCHAIN: 'off' };

/** An engine that is logged in to a server: with token 0, then with the next number after each renewal. */
async function loggedIn(home: Folder, server: ExecutingServer, hour: object = { expires_in: 3600 }) {
  let tokens = 0;
  const issuer = await serve((_request, response) => {
    tokens++;
    const answer = { access_token: `token-${tokens}`, token_type: 'Bearer', refresh_token: 'more', ...hour };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  const logins = new ServerLogins({ home: () => home.path, env, learn: () => {} });
  const store = await logins.store();
  const login = {
    issuer: issuer.origin,
    tokenEndpoint: `${issuer.origin}/token`,
    client: { client_id: 'x' },
    accessToken: 'token-0',
    refreshToken: 'more',
    ...('expires_in' in hour && { expiresAt: Date.now() + 3_600_000 }),
  };
  await store.write({ url: server.url, settings: {} }, login);
  const engine = engineIn(
    home,
    {
      servers: [
        {
          name: 'bank',
          connection: { type: server.kind === 'sse' ? 'sse' : 'http', url: server.url },
          timeouts: { connect: 30_000 },
          idempotent: ['get_*'],
        },
      ],
      retry: { attempts: 3, initial: 1, max: 2 },
    },
    { env },
  );
  return {
    call: (key: string, tool = 'transfer') => engine.call({ server: 'bank', tool, arguments: { key } }),
    renewals: () => tokens,
    [Symbol.asyncDispose]: async () => {
      await engine[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

const refused = (server: ExecutingServer, challenge = 'Bearer error="invalid_token"') => {
  server.act = ({ response }) => response.writeHead(401, { 'www-authenticate': challenge }).end();
};

it.each(KINDS)('a server that executes a call and then refuses its token gets it once (%s)', async (kind) => {
  for (const challenge of ['Bearer', 'Bearer error="invalid_token"', 'DPoP algs="ES256", Bearer realm="x"']) {
    using home = folder();
    await using server = await executingServer(kind);
    await using bank = await loggedIn(home, server);
    expect(await bank.call('first')).toMatchObject({ success: true });
    refused(server, challenge);
    const error = { code: 'SERVER_CONNECTION_ERROR', outcome: 'unknown', retryable: false };
    expect(await bank.call('k')).toMatchObject({ success: false, error });
    expect(server.executions.get('k')).toBe(1);
    server.act = succeed;
    expect(await bank.call('next')).toMatchObject({ success: true });
    expect(server.executions.get('next')).toBe(1);
    expect(bank.renewals()).toBe(1);
  }
});

it.each(KINDS)('also when the token is refused for everything from then on (%s)', async (kind) => {
  using home = folder();
  await using server = await executingServer(kind);
  await using bank = await loggedIn(home, server);
  expect(await bank.call('first')).toMatchObject({ success: true });
  server.act = ({ response }) => {
    server.takes = (authorization) => authorization !== 'Bearer token-0';
    response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
  };
  expect(await bank.call('k')).toMatchObject({ success: false, error: { outcome: 'unknown' } });
  expect(server.executions.get('k')).toBe(1);
  server.act = succeed;
  expect(await bank.call('next')).toMatchObject({ success: true });
});

it.each(
  KINDS.flatMap((kind) => [
    { kind, hour: { expires_in: 3600 } },
    { kind, hour: {} },
  ]),
)(
  'a token that ended since the last call is renewed, and its call made once ($kind, $hour)',
  async ({ kind, hour }) => {
    using home = folder();
    await using server = await executingServer(kind);
    await using bank = await loggedIn(home, server, hour);
    expect(await bank.call('first')).toMatchObject({ success: true });
    server.takes = (authorization) => authorization === 'Bearer token-1';
    passMinute();
    const keys = ['a', 'b', 'c', 'd'];
    for (const result of await Promise.all(keys.map((key) => bank.call(key))))
      expect(result).toMatchObject({ success: true });
    for (const key of keys) expect(server.executions.get(key)).toBe(1);
    expect(bank.renewals()).toBe(1);
  },
);

it.each(KINDS)('a tool that may be repeated is called again with the new token (%s)', async (kind) => {
  using home = folder();
  await using server = await executingServer(kind);
  await using bank = await loggedIn(home, server);
  expect(await bank.call('first', 'get_account')).toMatchObject({ success: true });
  server.takes = (authorization) => authorization !== 'Bearer token-0';
  expect(await bank.call('k', 'get_account')).toMatchObject({ success: true });
});

it('a server that refuses every call, but nothing else, is not asked for new tokens again and again', async () => {
  using home = folder();
  await using server = await executingServer('modern');
  await using bank = await loggedIn(home, server);
  refused(server);
  expect(await bank.call('1')).toMatchObject({ error: { code: 'SERVER_CONNECTION_ERROR', outcome: 'unknown' } });
  for (const key of ['2', '3', '4'])
    expect(await bank.call(key)).toMatchObject({ error: { code: 'SERVER_AUTH_REQUIRED', outcome: 'unknown' } });
  expect(bank.renewals()).toBe(1);
  for (const key of ['1', '2', '3', '4']) expect(server.executions.get(key)).toBe(1);
});

it('a server that never answers the harmless request is waited for once', { timeout: 30_000 }, async () => {
  using home = folder();
  await using server = await executingServer('legacy');
  await using bank = await loggedIn(home, server);
  expect(await bank.call('first')).toMatchObject({ success: true });
  server.hangs = (method) => method === 'ping';
  for (const key of ['a', 'b', 'c']) {
    passMinute();
    expect(await bank.call(key)).toMatchObject({ success: true });
  }
  expect(server.hung).toBe(1);
});

it('a login that has ended since the last call says that the call was not sent', async () => {
  using home = folder();
  await using server = await executingServer('modern');
  await using bank = await loggedIn(home, server);
  expect(await bank.call('first')).toMatchObject({ success: true });
  server.takes = () => false;
  passMinute();
  expect(await bank.call('k')).toMatchObject({ error: { code: 'SERVER_AUTH_REQUIRED', outcome: 'not_sent' } });
  expect(server.executions.get('k')).toBeUndefined();
});

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sseServer } from '../../test/fixtures/connections/harness.ts';
import { type Asking, ask } from '../../test/fixtures/gateway/http-request.ts';
import { type Identity, startIdentity } from '../../test/fixtures/identity.ts';
import { engineOf, grants, newHome, passMinute, person, whisper } from '../../test/fixtures/logins.ts';
import type { LoginSettings } from '../core/types.ts';
import { EngineCore } from '../engine/engine-core.ts';
import { loginFile } from './saved-login.ts';

const sseEngine = ({ url }: { url: string }) =>
  new EngineCore(
    { servers: [{ name: 'secret', connection: { type: 'sse', url } }], state: newHome() },
    { env: { ANYGPT_KEYCHAIN: 'off' } },
  );

describe('a login', () => {
  it('gives calls a token, and the next process, too', async () => {
    await using identity = await startIdentity();
    const home = newHome();
    await using engine = engineOf(identity, home);
    expect(await whisper(engine, 'before')).toMatchObject({
      success: false,
      error: {
        code: 'SERVER_AUTH_REQUIRED',
        message: 'secret wants a login (HTTP 401). Run: anygpt mcp login secret',
        outcome: 'not_sent',
        retryable: false,
      },
    });
    expect(await engine.connections.logIn('secret', person(identity))).toBe('file');
    expect(await whisper(engine, 'after')).toMatchObject({ success: true });
    await using next = engineOf(identity, home);
    expect(await whisper(next, 'next')).toMatchObject({ success: true });
    expect(identity.calls).toEqual(['after', 'next']);
    expect(identity.tokenRequests[0]).toMatchObject({ grant_type: 'authorization_code', resource: identity.url });
  });

  it('keeps its tokens encrypted, in files of the user alone, and hides them in every text', async () => {
    await using identity = await startIdentity();
    const home = newHome();
    await using engine = engineOf(identity, home);
    await engine.connections.logIn('secret', person(identity));
    await whisper(engine, 'x');
    const token = identity.authorizations.at(-1)?.replace('Bearer ', '') ?? '';
    expect(token).toMatch(/^[\w-]{20,}$/);
    const folder = join(home, 'logins');
    for (const name of readdirSync(folder)) {
      expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
      expect(readFileSync(join(folder, name), 'utf8')).not.toContain(token);
    }
    expect(engine.redact(`it said ${token}`)).not.toContain(token);
  });

  it('counts as none if its file was swapped, cut or changed, and the next login mends that', async () => {
    await using one = await startIdentity();
    await using two = await startIdentity();
    const home = newHome();
    const folder = join(home, 'logins');
    const fileOf = ({ url }: Identity) => loginFile(folder, { url, settings: {} });
    await using first = engineOf(one, home);
    await first.connections.logIn('secret', person(one));
    await using second = engineOf(two, home);
    await second.connections.logIn('secret', person(two));
    const good = readFileSync(fileOf(one), 'utf8');
    for (const spoilt of [
      readFileSync(fileOf(two), 'utf8'),
      good.slice(0, good.length / 2),
      good.slice(0, 8),
      '',
      `${good.slice(0, 40)}${good[40] === 'A' ? 'B' : 'A'}${good.slice(41)}`,
      'not ours',
    ]) {
      writeFileSync(fileOf(one), spoilt);
      await using engine = engineOf(one, home);
      const sent = one.authorizations.length;
      expect(await whisper(engine, 'spoilt')).toMatchObject({ error: { code: 'SERVER_AUTH_REQUIRED' } });
      expect(one.authorizations.slice(sent)).toEqual([undefined]);
    }
    await using engine = engineOf(one, home);
    await engine.connections.logIn('secret', person(one));
    expect(await whisper(engine, 'mended')).toMatchObject({ success: true });
    expect(one.calls).toEqual(['mended']);
  });

  it('of one user of the gateway is no other user’s, where each has its own', async () => {
    await using identity = await startIdentity();
    const home = newHome();
    const servers = [
      { name: 'secret', connection: { type: 'http' as const, url: identity.url }, credentials: 'user' as const },
    ];
    await using engine = new EngineCore({ servers, state: home }, { env: { ANYGPT_KEYCHAIN: 'off' } });
    const ann = 'https://idp.example\0ann';
    const say = (text: string, principal?: string) =>
      engine.call({ server: 'secret', tool: 'whisper', arguments: { text }, caller: { principal } });
    const needed = (as: string) => ({
      success: false,
      error: { code: 'SERVER_AUTH_REQUIRED', message: expect.stringContaining(`Run: anygpt mcp login secret${as}`) },
    });
    expect(await say('before', ann)).toMatchObject(needed(" --as 'https://idp.example ann'"));
    await engine.connections.logIn('secret', person(identity), { principal: ann });
    expect(await say('as ann', ann)).toMatchObject({ success: true });
    expect(await say('as bob', 'bob')).toMatchObject(needed(' --as bob'));
    expect(await say('as nobody')).toMatchObject(needed(''));
    const found = await engine.find('whisper', { caller: { principal: 'bob' } });
    expect(found).toMatchObject({
      data: { results: [], notes: ['secret not searched: login needed: anygpt mcp login secret --as bob'] },
    });
    expect(identity.calls).toEqual(['as ann']);
    expect(await engine.connections.logOut('secret', 'bob')).toEqual({ wasLoggedIn: false });
    expect(await say('still ann', ann)).toMatchObject({ success: true });
    expect(await engine.connections.logOut('secret', ann)).toEqual({ wasLoggedIn: true });
  });

  it('is ended by a logout, which revokes the tokens', async () => {
    await using identity = await startIdentity();
    const home = newHome();
    await using engine = engineOf(identity, home);
    await engine.connections.logIn('secret', person(identity));
    expect(await whisper(engine, 'in')).toMatchObject({ success: true });
    await using other = engineOf(identity, home);
    expect(await other.connections.logOut('secret')).toEqual({ wasLoggedIn: true });
    expect(identity.paths).toContain('/token/revocation');
    // The stamp of the command makes a running gateway reload.
    await engine.reload();
    expect(await whisper(engine, 'out')).toMatchObject({ success: false, error: { code: 'SERVER_AUTH_REQUIRED' } });
    expect(await other.connections.logOut('secret')).toEqual({ wasLoggedIn: false });
    expect(identity.calls).toEqual(['in']);
  });

  it('is taken from a pasted address where the browser is on another computer', async () => {
    await using identity = await startIdentity();
    await using engine = engineOf(identity);
    const addresses: URL[] = [];
    const asked: boolean[] = [];
    const pasted = async (_signal: AbortSignal, isAgain: boolean) => {
      asked.push(isAgain);
      const [address] = addresses;
      if (!address || !isAgain) return 'https://example.com/callback?code=x&state=of-another-login';
      const redirect = String(address.searchParams.get('redirect_uri'));
      return (await identity.visit(address.href, redirect)).url;
    };
    await engine.connections.logIn(
      'secret',
      person(identity, { show: (address) => void addresses.push(address), pasted }),
    );
    expect(asked).toEqual([false, true]);
    expect(await whisper(engine, 'pasted')).toMatchObject({ success: true });
  });

  it('says "You may close this page" in the browser', async () => {
    await using identity = await startIdentity();
    await using engine = engineOf(identity);
    let seen: Promise<{ text: string }> | undefined;
    const show = (address: URL) => {
      seen = identity.visit(address.href);
    };
    await engine.connections.logIn('secret', person(identity, { show }));
    expect((await seen)?.text).toContain('You may close this page');
  });

  it('of a program needs no person: client credentials, again after they expired', async () => {
    const client = { client_id: 'robot', client_secret: 'a-secret-of-a-robot', grant_types: ['client_credentials'] };
    await using identity = await startIdentity({
      ttl: 2,
      configuration: { clients: [{ ...client, redirect_uris: [], response_types: [] }] },
    });
    await using engine = engineOf(identity, newHome(), {
      grant: 'client_credentials',
      clientId: 'robot',
      clientSecret: 'a-secret-of-a-robot',
      authorizationServer: identity.issuer,
    });
    expect(await whisper(engine, 'beep')).toMatchObject({ success: true });
    identity.revokeAll();
    expect(await whisper(engine, 'boop')).toMatchObject({ success: true });
    expect(new Set(grants(identity))).toEqual(new Set(['client_credentials']));
    expect(identity.visits).toEqual([]);
  });

  it('of a program may sign with a private key', async () => {
    const { generateKeyPairSync } = await import('node:crypto');
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwk = { ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' };
    await using identity = await startIdentity({
      configuration: {
        clientAuthMethods: ['private_key_jwt', 'none'],
        clients: [
          {
            client_id: 'robot',
            grant_types: ['client_credentials'],
            redirect_uris: [],
            response_types: [],
            token_endpoint_auth_method: 'private_key_jwt',
            jwks: { keys: [jwk as never] },
          },
        ],
      },
    });
    await using engine = engineOf(identity, newHome(), {
      grant: 'client_credentials',
      clientId: 'robot',
      privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
      authorizationServer: identity.issuer,
    });
    expect(await whisper(engine, 'beep')).toMatchObject({ success: true });
  });

  it('with too few scopes says what to type, with the old scopes and the new one', async () => {
    await using identity = await startIdentity({ scope: 'write' });
    await using engine = engineOf(identity);
    await engine.connections.logIn('secret', person(identity));
    expect(await whisper(engine, 'x')).toMatchObject({
      success: false,
      error: {
        code: 'SERVER_AUTH_REQUIRED',
        message: expect.stringMatching(/anygpt mcp login secret --scope '.*read.* write'$/),
      },
    });
    expect(grants(identity)).toEqual(['authorization_code']);
    await engine.connections.logIn('secret', person(identity), { scopes: ['read', 'write'] });
    expect(await whisper(engine, 'y')).toMatchObject({ success: true });
    expect(identity.calls).toEqual(['y']);
  });
});

describe.concurrent('a login with a code', () => {
  const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
  const soon = (answer: Record<string, unknown>) => ({ ...answer, interval: 1 });
  const typing = (identity: Identity, type: (address: URL, code: string) => unknown) => {
    const codes: (string | undefined)[] = [];
    const show = (address: URL, code?: string) => {
      codes.push(code);
      if (code !== undefined) type(address, code);
      else void identity.visit(address.href);
    };
    return { codes, screen: person(identity, { prefersCode: true, show }) };
  };
  const agree = (identity: Identity) => typing(identity, ({ href }, code) => void identity.typeCode(href, code));
  const failureOf = (engine: EngineCore, { screen }: ReturnType<typeof typing>) =>
    engine.connections.logIn('secret', screen).then(
      () => 'logged in',
      (error: unknown) => {
        expect(error).toMatchObject({ code: 'SERVER_AUTH_REQUIRED' });
        return (error as Error).message;
      },
    );

  it('asks again while nobody has typed it, more slowly when told to, and is renewed like every other', async () => {
    await using identity = await startIdentity({ deviceAnswer: soon });
    await using engine = engineOf(identity);
    identity.tokenErrors.push('authorization_pending', 'slow_down');
    const { codes, screen } = agree(identity);
    await engine.connections.logIn('secret', screen);
    expect(codes).toEqual([expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/)]);
    const [pending = 0, slower = 0, last = 0] = identity.tokenTimes;
    expect(slower - pending).toBeGreaterThan(900);
    expect(last - slower).toBeGreaterThan(5_900);
    expect(await whisper(engine, 'x')).toMatchObject({ success: true });
    identity.revokeAll();
    passMinute();
    expect(await whisper(engine, 'y')).toMatchObject({ success: true });
    expect(grants(identity)).toEqual([GRANT, 'refresh_token']);
    expect(identity.tokenRequests[0]).toMatchObject({ resource: identity.url });
    expect(identity.visits).toEqual([]);
  }, 30_000);

  it('goes on while the token endpoint is broken', async () => {
    await using identity = await startIdentity({ deviceAnswer: soon });
    await using engine = engineOf(identity);
    identity.tokenErrors.push('temporarily_unavailable');
    await engine.connections.logIn('secret', agree(identity).screen);
    expect(await whisper(engine, 'x')).toMatchObject({ success: true });
  }, 30_000);

  it('ends when the person says no', async () => {
    await using identity = await startIdentity({ deviceAnswer: soon });
    await using engine = engineOf(identity);
    const no = typing(identity, ({ href }, code) => void identity.typeCode(href, code, false));
    expect(await failureOf(engine, no)).toContain('answered access_denied');
    expect(await whisper(engine, 'x')).toMatchObject({ success: false, error: { code: 'SERVER_AUTH_REQUIRED' } });
  }, 30_000);

  it('ends when the code has expired, whatever the provider calls that', async () => {
    for (const [expires_in, error] of [
      [600, 'expired_token'],
      [0.5, 'authorization_pending'],
      [0.5, 'invalid_grant'],
    ] as const) {
      await using identity = await startIdentity({ deviceAnswer: (answer) => ({ ...soon(answer), expires_in }) });
      await using engine = engineOf(identity);
      identity.tokenErrors.push(error);
      expect(
        await failureOf(
          engine,
          typing(identity, () => {}),
        ),
      ).toContain('the code expired before the login was done');
      expect(identity.tokenTimes).toHaveLength(1);
    }
  }, 30_000);

  it('asks no faster than a provider with absurd intervals would make a timer fire', async () => {
    await using identity = await startIdentity({ deviceAnswer: (answer) => ({ ...answer, interval: 1e9 }) });
    await using engine = engineOf(identity);
    const ended = new AbortController();
    const { screen } = typing(identity, () => setTimeout(() => ended.abort(), 300));
    await engine.connections.logIn('secret', { ...screen, signal: ended.signal }).catch(() => {});
    expect(identity.tokenTimes).toEqual([]);
  }, 30_000);

  it('identifies a client that has a secret', async () => {
    const client = { client_id: 'desk', client_secret: 'a-secret-of-a-desk' };
    await using identity = await startIdentity({
      deviceAnswer: soon,
      configuration: {
        clients: [{ ...client, grant_types: [GRANT, 'refresh_token'], redirect_uris: [], response_types: [] }],
      },
    });
    await using engine = engineOf(identity, newHome(), { clientId: 'desk', clientSecret: client.client_secret });
    await engine.connections.logIn('secret', agree(identity).screen);
    expect(await whisper(engine, 'x')).toMatchObject({ success: true });
  }, 30_000);

  it('is one with a redirect where the provider gives this client no code, or offers none', async () => {
    const client = { client_id: 'web', token_endpoint_auth_method: 'none' as const };
    const redirectUri = 'http://127.0.0.1/callback';
    await using identity = await startIdentity({
      deviceAnswer: soon,
      configuration: { clients: [{ ...client, application_type: 'native', redirect_uris: [redirectUri] }] },
    });
    await using engine = engineOf(identity, newHome(), { clientId: 'web' });
    const { codes, screen } = agree(identity);
    await engine.connections.logIn('secret', screen);
    expect(codes).toEqual([undefined]);
    expect(identity.paths).toContain('/device/auth');
    expect(await whisper(engine, 'x')).toMatchObject({ success: true });
    await using without = await startIdentity();
    await using another = engineOf(without);
    const none = agree(without);
    await another.connections.logIn('secret', none.screen);
    expect(none.codes).toEqual([undefined]);
  }, 30_000);
});

describe('a login to a server of legacy SSE', () => {
  it('is sent with the stream and with every POST, and a refresh leaves a long stream open', async () => {
    await using identity = await startIdentity({ isSse: true });
    await using engine = sseEngine(identity);
    expect(await whisper(engine, 'before')).toMatchObject({
      success: false,
      error: { code: 'SERVER_AUTH_REQUIRED', message: expect.stringContaining('Run: anygpt mcp login secret') },
    });
    await engine.connections.logIn('secret', person(identity));
    const from = identity.authorizations.length;
    const streams = identity.streams.length;
    expect(await whisper(engine, 'a')).toMatchObject({ success: true });
    const first = identity.authorizations.slice(from);
    expect(new Set(first)).toEqual(new Set([expect.stringMatching(/^Bearer \S{20,}$/)]));
    expect(new Set(first).size).toBe(1);
    identity.revokeAll();
    passMinute();
    const texts = ['b', 'c', 'd'];
    for (const result of await Promise.all(texts.map((text) => whisper(engine, text))))
      expect(result).toMatchObject({ success: true });
    expect(identity.streams).toHaveLength(streams + 1);
    expect(identity.authorizations.at(-1)).not.toBe(first[0]);
    expect([...identity.calls].sort()).toEqual(['a', ...texts]);
    expect(grants(identity)).toEqual(['authorization_code', 'refresh_token']);
  });

  it('opens a stream that broke off after its token had ended with a new one', async () => {
    await using identity = await startIdentity({ isSse: true });
    await using engine = sseEngine(identity);
    await engine.connections.logIn('secret', person(identity));
    expect(await whisper(engine, 'a')).toMatchObject({ success: true });
    const old = identity.streams.at(-1);
    identity.revokeAll();
    identity.cutStreams();
    await expect.poll(() => whisper(engine, 'b'), { timeout: 10_000 }).toMatchObject({ success: true });
    expect(identity.streams.at(-1)).toMatch(/^Bearer /);
    expect(identity.streams.at(-1)).not.toBe(old);
    expect(identity.visits).toHaveLength(1);
  });

  it('that was never made, or is over, says what to type and opens no stream again and again', async () => {
    await using identity = await startIdentity({ isSse: true });
    await using engine = sseEngine(identity);
    await engine.connections.logIn('secret', person(identity));
    await whisper(engine, 'a');
    identity.revokeAll();
    identity.tokenStatus = 400;
    for (const text of ['b', 'c', 'd'])
      expect(await whisper(engine, text)).toMatchObject({
        success: false,
        error: { code: 'SERVER_AUTH_REQUIRED', message: expect.stringContaining('wants a new login') },
      });
    // The code of the login, and one attempt to renew.
    expect(identity.tokenTimes).toHaveLength(2);
    expect(identity.streams.length).toBeLessThanOrEqual(3);
    expect(identity.calls).toEqual(['a']);
    identity.tokenStatus = undefined;
    await engine.connections.logIn('secret', person(identity));
    expect(await whisper(engine, 'e')).toMatchObject({ success: true });
    expect(await engine.connections.logOut('secret')).toEqual({ wasLoggedIn: true });
    expect(identity.paths).toContain('/token/revocation');
  });
});

it('a login to a server of legacy SSE that opens its stream for everybody does not wait for its end', async () => {
  await using server = await sseServer();
  await using engine = sseEngine(server);
  const login = engine.connections.logIn('secret', {
    prefersCode: true,
    signal: new AbortController().signal,
    show: () => {},
    pasted: async () => undefined,
  });
  await expect(login).rejects.toThrow('it names no authorization server');
}, 10_000);

describe('a token', () => {
  it('that expires soon is renewed before it is sent', async () => {
    await using identity = await startIdentity({ ttl: 20 });
    await using engine = engineOf(identity);
    await engine.connections.logIn('secret', person(identity));
    expect(await whisper(engine, 'x')).toMatchObject({ success: true });
    expect(grants(identity).filter((grant) => grant === 'refresh_token').length).toBeGreaterThan(0);
    expect(identity.visits).toHaveLength(1);
  });

  it('that was revoked is renewed once, for all calls at the same time, and no call is made twice', async () => {
    await using identity = await startIdentity();
    await using engine = engineOf(identity);
    await engine.connections.logIn('secret', person(identity));
    await whisper(engine, 'first');
    identity.revokeAll();
    passMinute();
    const texts = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const result of await Promise.all(texts.map((text) => whisper(engine, text))))
      expect(result).toMatchObject({ success: true });
    expect([...identity.calls].sort()).toEqual([...texts, 'first']);
    expect(grants(identity)).toEqual(['authorization_code', 'refresh_token']);
  });

  it('is kept while the token endpoint is broken, and no login is asked for', async () => {
    await using identity = await startIdentity();
    await using engine = engineOf(identity);
    await engine.connections.logIn('secret', person(identity));
    await whisper(engine, 'first');
    identity.revokeAll();
    passMinute();
    identity.tokenStatus = 503;
    expect(await whisper(engine, 'broken')).toMatchObject({
      success: false,
      error: { code: 'SERVER_CONNECTION_ERROR' },
    });
    identity.tokenStatus = undefined;
    expect(await whisper(engine, 'mended')).toMatchObject({ success: true });
    expect(identity.visits).toHaveLength(1);
  });

  it('that cannot be renewed is not tried again and again, and is kept', async () => {
    await using identity = await startIdentity();
    const home = newHome();
    await using engine = engineOf(identity, home);
    await engine.connections.logIn('secret', person(identity));
    await whisper(engine, 'first');
    identity.revokeAll();
    identity.tokenStatus = 400;
    for (const text of ['a', 'b', 'c'])
      expect(await whisper(engine, text)).toMatchObject({
        success: false,
        error: { code: 'SERVER_AUTH_REQUIRED', message: expect.stringContaining('wants a new login') },
      });
    expect(identity.paths.filter((path) => path === '/token')).toHaveLength(2);
    // The refresh token was not removed: the provider may have been wrong.
    identity.tokenStatus = undefined;
    await using next = engineOf(identity, home);
    expect(await whisper(next, 'again')).toMatchObject({ success: true });
    expect(identity.visits).toHaveLength(1);
  });
});

describe('a login is refused', () => {
  const refusalOf = async (options: Parameters<typeof startIdentity>[0], oauth?: LoginSettings) => {
    await using identity = await startIdentity(options);
    await using engine = engineOf(identity, newHome(), oauth);
    const shown: URL[] = [];
    const error = await engine.connections
      .logIn('secret', person(identity, { show: (address) => void shown.push(address) }))
      .catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'SERVER_AUTH_REQUIRED' });
    expect(shown).toEqual([]);
    expect(identity.tokenRequests).toEqual([]);
    return { message: (error as Error).message, paths: identity.paths };
  };

  it('where the metadata name another issuer than the one asked for', async () => {
    const { message } = await refusalOf({
      issuerMetadata: (metadata) => ({ ...metadata, issuer: 'https://evil.example' }),
    });
    expect(message).toMatch(/issuer/i);
  });

  it('where the metadata of the server are for another server', async () => {
    const resource = 'https://other.example/mcp';
    const { message } = await refusalOf({ resourceMetadata: (metadata) => ({ ...metadata, resource }) });
    expect(message).toContain('its metadata is for https://other.example/mcp');
  });

  it.each([
    'https://169.254.169.254',
    'http://169.254.169.254',
    'https://10.0.0.1',
    'http://192.0.2.1',
    'https://[fe80::1]',
    'https://[::ffff:169.254.169.254]',
  ])('where the authorization server is at %s', async (issuer) => {
    const { message } = await refusalOf({
      resourceMetadata: (metadata) => ({ ...metadata, authorization_servers: [issuer] }),
    });
    expect(message).toMatch(/private network|not https/);
  });

  it('where the authorization server does not say that it supports PKCE, unless the settings allow it', async () => {
    const issuerMetadata = ({ code_challenge_methods_supported: _, ...metadata }: Record<string, unknown>) => metadata;
    const { message } = await refusalOf({ issuerMetadata });
    expect(message).toContain('allowMissingPkce');
    await using identity = await startIdentity({ issuerMetadata });
    await using engine = engineOf(identity, newHome(), { allowMissingPkce: true });
    await engine.connections.logIn('secret', person(identity));
    expect(await whisper(engine, 'x')).toMatchObject({ success: true });
  });

  it('where it names no authorization server', async () => {
    const { message, paths } = await refusalOf({
      resourceMetadata: ({ authorization_servers: _, ...metadata }) => metadata,
    });
    expect(message).toContain('Set connection.oauth.authorizationServer');
    expect(paths).not.toContain('/register');
  });

  it('4. without registration and without metadata documents: it says how to configure an id, and opens nothing', async () => {
    const { message } = await refusalOf({
      issuerMetadata: ({ registration_endpoint: _, ...metadata }) => metadata,
    });
    expect(message).toMatch(
      /lets no client register itself.*with the redirect address http:\/\/127\.0\.0\.1:\d+\/callback, and set connection\.oauth\.clientId/,
    );
  });
});

describe('an answer to a login', () => {
  const answered = async (change: (answer: URL) => void) => {
    await using identity = await startIdentity();
    await using engine = engineOf(identity);
    const show = async (address: URL) => {
      const redirect = String(address.searchParams.get('redirect_uri'));
      const answer = new URL((await identity.visit(address.href, redirect)).url);
      const changed = new URL(answer);
      change(changed);
      await fetch(changed).catch(() => {});
      if (changed.searchParams.get('state') !== answer.searchParams.get('state')) await fetch(answer).catch(() => {});
    };
    const done = engine.connections.logIn('secret', person(identity, { show: (address) => void show(address) }));
    return await done.then(
      () => 'logged in',
      (error: unknown) => (error as Error).message,
    );
  };

  it('with the state of another login is left alone', async () => {
    expect(await answered((answer) => answer.searchParams.set('state', 'another'))).toBe('logged in');
  });

  it('is not what other programs and web pages send to this machine, however much', async () => {
    await using identity = await startIdentity();
    await using engine = engineOf(identity);
    const statuses: (number | undefined)[] = [];
    const show = async (address: URL) => {
      const redirect = new URL(String(address.searchParams.get('redirect_uri')));
      const send = async (target: string, headers: Asking['headers'] = []) =>
        statuses.push((await ask(new URL(target, redirect), { headers })).status);
      const right = `?code=forged&state=${address.searchParams.get('state')}`;
      await send(`${redirect.origin}//`);
      await send(`/callback${right}`, [['Host', 'evil.example']]);
      await send(`/callback${right}`, [['Host', `evil.example:${redirect.port}`]]);
      await send(`/other${right}`);
      for (let at = 0; at < 50; at++) await send(`/callback?code=${at}&state=another`);
      await identity.visit(address.href);
    };
    await engine.connections.logIn('secret', person(identity, { show: (address) => void show(address) }));
    expect(statuses).toEqual([404, 404, 404, 404, ...Array(50).fill(400)]);
    expect(await whisper(engine, 'in')).toMatchObject({ success: true });
  });

  it('of another issuer, or of none, is refused, and what it says is not shown', async () => {
    const wrong = await answered((answer) => {
      answer.searchParams.set('iss', 'https://evil.example');
      answer.searchParams.set('error_description', 'call 555-1234');
    });
    expect(wrong).toMatch(/did not come from http/);
    expect(wrong).not.toContain('555');
    expect(await answered((answer) => answer.searchParams.delete('iss'))).toMatch(/did not come from http/);
  });

  it('that is an error is shown', async () => {
    const denied = await answered((answer) => {
      answer.searchParams.delete('code');
      answer.searchParams.set('error', 'access_denied');
    });
    expect(denied).toContain('access_denied');
  });
});

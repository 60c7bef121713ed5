/** Who gets in over HTTP. The cases are generated from the table of routes, so that a new route cannot be forgotten. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Asking, ask, INITIALIZE, JSON_HEADERS } from '../../test/fixtures/gateway/http-request.ts';
import { AUDIENCE, type Issuer, startIssuer } from '../../test/fixtures/gateway/issuer.ts';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { StaticTokens } from '../auth/static-tokens.ts';
import { EngineCore } from '../engine/engine-core.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { discoverySurface } from './discovery-surface.ts';
import { ROUTES } from './http-routes.ts';
import { type ServedHttp, type ServeHttpOptions, serveGatewayOnHttp } from './serve-http.ts';

const BODY = JSON.stringify(INITIALIZE);
const DAY = 24 * 3_600_000;

let issuer: Issuer;
let server: TestServer;
let folder: ReturnType<typeof tempFolder>;
let tokens: StaticTokens;
/** Authentication on: static tokens and JWT. */
let engine: EngineCore;
let served: ServedHttp;
const lines: string[] = [];

const home = (name: string) => join(folder.path, name);
const engineAt = (name: string, auth?: Record<string, unknown>) =>
  new EngineCore(
    {
      cache: { enabled: false },
      servers: [{ name: 'echo', connection: server.connection }],
      ...(auth && { auth }),
    } as never,
    { env: { ANYGPT_HOME: home(name), GATEWAY_SECRET: 'secret of gateway' } },
  );
const serve = (engine: EngineCore, options: Partial<ServeHttpOptions> = {}) =>
  serveGatewayOnHttp(engine, { port: 0, surface: discoverySurface(engine), ...options });

beforeAll(async () => {
  folder = tempFolder();
  issuer = await startIssuer();
  server = await startTestServer({ tools: { echo: { call: (args) => JSON.stringify(args) } } });
  tokens = new StaticTokens(home('on'));
  await tokens.create({ name: 'first', expiresAt: Date.now() + DAY });
  engine = engineAt('on', { issuer: issuer.issuer, audience: AUDIENCE, scopes: ['mcp'] });
  served = await serve(engine, {
    accessLog: (line) => lines.push(line),
    allowedOrigins: ['https://app.example'],
    hasProfile: (name) => name === 'team',
  });
});
afterAll(async () => {
  await served?.close();
  await engine?.close();
  await server?.close();
  await issuer?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const create = async (more: { expiresAt?: number; profile?: string } = {}) =>
  (await tokens.create({ expiresAt: Date.now() + DAY, ...more })).text;
const bearer = (token: string) => [['Authorization', `Bearer ${token}`]] as const;
const at = (path: string, on = served) => new URL(path, on.url);

/** A request that a route would answer, if it came from somebody who may. */
const asking = (method: string, headers: Asking['headers'] = []): Asking => ({
  method,
  headers: [...JSON_HEADERS, ...headers],
  ...(method === 'POST' && { body: BODY }),
});
const everyMethod = ROUTES.flatMap((route) => route.methods.map((method) => ({ route, method })));
const authenticated = everyMethod.filter(({ route }) => route.access === 'authenticated');

/** What every 401 says. */
function expectChallenge({ status, headers }: Answer, what: string) {
  expect(status, what).toBe(401);
  const challenge = String(headers['www-authenticate']);
  expect(challenge, what).toMatch(/^Bearer /);
  expect(challenge, what).toMatch(
    /resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-protected-resource\/mcp/,
  );
  expect(challenge, what).toContain('scope="mcp"');
}

describe('every route', () => {
  const HOSTS = [
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1.evil.example:PORT',
    'localhost.evil.example',
    'user@127.0.0.1:PORT',
    'user:pass@localhost',
    'localhost:1',
    '127.1:PORT',
    '0.0.0.0:PORT',
    '[::]:PORT',
    '',
  ];
  const ORIGINS = [
    'http://evil.example',
    'null',
    'http://localhost.evil.example',
    'http://localhost:1',
    'https://localhost:PORT',
    'http://app.example',
    'https://app.example.evil.example',
    'https://app.example:444',
    '*',
  ];

  it('refuses foreign Hosts and Origins, whoever asks, before anything else', async () => {
    const { port } = new URL(served.url);
    const real = (text: string) => text.replace('PORT', port);
    const good = bearer(await create());
    const cases: [string, Asking['headers']][] = [
      ...HOSTS.map((host): [string, Asking['headers']] => [`Host ${host}`, [['Host', real(host)]]]),
      ...ORIGINS.map((origin): [string, Asking['headers']] => [`Origin ${origin}`, [['Origin', real(origin)]]]),
      [
        'two Origins',
        [
          ['Origin', 'https://app.example'],
          ['Origin', 'http://evil.example'],
        ],
      ],
      ['a page of another site', [['Sec-Fetch-Site', 'cross-site']]],
      [
        'a forwarded host from nobody we know',
        [
          ['Host', 'evil.example'],
          ['X-Forwarded-Host', `localhost:${port}`],
        ],
      ],
    ];
    for (const { example, methods } of [...ROUTES, { example: '/no-such-route', methods: ['GET'] }])
      for (const [what, headers] of cases)
        for (const method of [...methods, 'OPTIONS']) {
          const answer = await ask(at(example), asking(method, [...good, ...(headers ?? [])]));
          const place = `${method} ${example}, ${what}`;
          // Node itself refuses a request with an empty Host.
          expect([400, 403], place).toContain(answer.status);
          expect(answer.headers['access-control-allow-origin'], place).toBeUndefined();
        }
  }, 120_000);

  it('refuses every bad credential', async () => {
    const expired = await create({ expiresAt: Date.now() + 1 });
    const revoked = await create();
    for (const { id } of tokens.list().filter(({ id }) => revoked.includes(id))) await tokens.revoke(id);
    const good = await create();
    const wrong = good.slice(0, -2) + (good.endsWith('aa') ? 'bb' : 'aa');
    const cases: Record<string, Asking['headers']> = {
      'no credential': [],
      'an empty one': [['Authorization', '']],
      'no token': [['Authorization', 'Bearer']],
      'another scheme': [['Authorization', `Basic ${btoa(`x:${good}`)}`]],
      'a token without a scheme': [['Authorization', good]],
      'two tokens in one header': [['Authorization', `Bearer ${good} ${good}`]],
      'two headers': [...bearer(good), ...bearer(good)],
      'two headers, the second wrong': [...bearer(good), ...bearer('nonsense')],
      'a token that is too long': bearer('x'.repeat(9_000)),
      'an unknown token': bearer(`anygpt_00000000_${'A'.repeat(43)}`),
      'a wrong secret': bearer(wrong),
      'a token with more behind it': bearer(`${good}A`),
      'an expired token': bearer(expired),
      'a revoked token': bearer(revoked),
      'a token in another header': [['X-Api-Key', good]],
      'a token in a cookie': [['Cookie', `access_token=${good}`]],
      ...Object.fromEntries(Object.entries(await issuer.forged()).map(([what, token]) => [what, bearer(token)])),
    };
    for (const { route, method } of authenticated)
      for (const [what, headers] of Object.entries(cases))
        expectChallenge(await ask(at(route.example), asking(method, headers)), `${method} ${route.example}, ${what}`);
  }, 120_000);

  it('refuses a bad token before it looks at the body, so that no other mistake hides it', async () => {
    const plain = { method: 'POST', body: '{}', headers: [['Content-Type', 'text/plain']] } as const;
    const withToken = (token: string) => ask(at('/mcp'), { ...plain, headers: [...plain.headers, ...bearer(token)] });
    expect((await withToken('wrong')).status).toBe(401);
    expect((await withToken(await create())).status).toBe(415);
  });

  it('reads no token from a query', async () => {
    const good = await create();
    for (const { route, method } of authenticated)
      for (const name of ['access_token', 'token', 'authorization'])
        expectChallenge(
          await ask(at(`${route.example}?${name}=${good}`), asking(method)),
          `${method} ${route.example}`,
        );
  });

  it('tells a valid token without the scope which one it needs', async () => {
    const weak = await issuer.sign({ scope: 'read' });
    for (const { route, method } of authenticated) {
      const { status, headers } = await ask(at(route.example), asking(method, bearer(weak)));
      expect(status).toBe(403);
      expect(headers['www-authenticate']).toMatch(/^Bearer error="insufficient_scope".*scope="mcp"/);
    }
  });

  it('survives a megabyte of token', async () => {
    const answer = await ask(at('/mcp'), asking('POST', bearer('x'.repeat(1_000_000)))).catch((error) => error.code);
    expect(['ECONNRESET', 'EPIPE', 431]).toContain(answer.status ?? answer);
    expect((await ask(at('/healthz'))).status).toBe(200);
  });

  it('of the public ones says nothing about servers, tools or people', async () => {
    for (const { route, method } of everyMethod.filter(({ route }) => route.access === 'public')) {
      const { status, body } = await ask(at(route.example), { method });
      expect(status, route.example).toBe(200);
      expect(body).not.toMatch(/echo|first/);
    }
  });
});

describe('a good credential', () => {
  it.each(['/mcp', '/mcp/', '/mcp/p/team', '/mcp/p/team/'])('gets in at %s', async (path) => {
    const forms = [
      await create(),
      await issuer.token('ann'),
      await issuer.sign({ scope: undefined as never, scp: ['mcp'] }),
    ];
    for (const token of forms) expect((await ask(at(path), asking('POST', bearer(token)))).status).toBe(200);
    const spelled = [['authorization', `bearer  ${forms[0]}`]] as const;
    expect((await ask(at(path), asking('POST', spelled))).status).toBe(200);
  });

  it('is created and revoked while the gateway runs', async () => {
    const { text, token } = await tokens.create({ name: 'short', expiresAt: Date.now() + DAY });
    expect((await ask(at('/mcp'), asking('POST', bearer(text)))).status).toBe(200);
    await tokens.revoke('short');
    expect((await ask(at('/mcp'), asking('POST', bearer(text)))).status).toBe(401);
    expect(tokens.list().some(({ id }) => id === token.id)).toBe(false);
  });

  it('of one profile opens no other, and cannot tell whether another exists', async () => {
    const own = await create({ profile: 'team' });
    const lost = await create({ profile: 'gone' });
    const any = await create();
    const status = async (path: string, token: string) => (await ask(at(path), asking('POST', bearer(token)))).status;
    expect(await status('/mcp', own)).toBe(200);
    expect(await status('/mcp/p/team', own)).toBe(200);
    expect(await status('/mcp/p/other', own)).toBe(404);
    expect(await status('/mcp', lost)).toBe(403);
    expect(await status('/mcp/p/team', lost)).toBe(404);
    expect(await status('/mcp/p/other', any)).toBe(404);
    expect(await status('/mcp/p/team', any)).toBe(200);
  });
});

describe('the metadata of the gateway', () => {
  it('lead to the identity provider, at the root and behind the path', async () => {
    for (const [path, resource] of [
      ['', '/mcp'],
      ['/mcp', '/mcp'],
      ['/mcp/', '/mcp'],
      ['/mcp/p/team', '/mcp/p/team'],
    ]) {
      const { status, body } = await ask(at(`/.well-known/oauth-protected-resource${path}`));
      expect(status).toBe(200);
      expect(JSON.parse(body)).toEqual({
        resource: at(resource as string).href,
        authorization_servers: [issuer.issuer],
        bearer_methods_supported: ['header'],
        scopes_supported: ['mcp'],
        resource_name: 'AnyGPT discovery gateway',
      });
    }
  });
});

describe('a page of an allowed origin', () => {
  const page = [
    ['Origin', 'https://app.example'],
    ['Sec-Fetch-Site', 'cross-site'],
  ] as const;

  it('is told what it may send', async () => {
    const wanted = ['authorization', 'mcp-session-id', 'mcp-param-city', 'x-evil'].join(', ');
    const { status, headers } = await ask(at('/mcp'), {
      method: 'OPTIONS',
      headers: [...page, ['Access-Control-Request-Method', 'POST'], ['Access-Control-Request-Headers', wanted]],
    });
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization, mcp-session-id, mcp-param-city',
      vary: 'Origin',
    });
  });

  it('reads answers and refusals, and learns its session', async () => {
    const opened = await ask(at('/mcp'), asking('POST', [...page, ...bearer(await create())]));
    expect(opened.status).toBe(200);
    const refused = await ask(at('/mcp'), asking('POST', page));
    expect(refused.status).toBe(401);
    for (const { headers } of [opened, refused]) {
      expect(headers['access-control-allow-origin']).toBe('https://app.example');
      expect(headers['access-control-expose-headers']).toMatch(/Mcp-Session-Id.*WWW-Authenticate/);
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
  });
});

describe('a session', () => {
  const PING = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
  const open = async (token: string) => {
    const { headers } = await ask(at('/mcp'), asking('POST', bearer(token)));
    return String(headers['mcp-session-id']);
  };
  const ping = async (session: string, token: string, method = 'POST') => {
    const headers = [...JSON_HEADERS, ...bearer(token), ['Mcp-Session-Id', session] as const];
    return (await ask(at('/mcp'), { method, headers, ...(method === 'POST' && { body: PING }) })).status;
  };

  it('8. belongs to its user: another token of the same user keeps it, anybody else gets 404', async () => {
    const session = await open(await issuer.sign({ sub: 'ann', jti: '1' }));
    expect(await ping(session, await issuer.sign({ sub: 'ann', jti: '2' }))).toBe(200);
    const bob = await issuer.sign({ sub: 'bob' });
    for (const method of ['POST', 'GET', 'DELETE']) expect(await ping(session, bob, method)).toBe(404);
    expect(await ping(session, await create())).toBe(404);
    expect(await ping('made-up', bob)).toBe(404);
    expect(await ping(session, await issuer.sign({ sub: 'ann' }))).toBe(200);
  });

  it('of a token is not that of another token', async () => {
    const session = await open(await create());
    expect(await ping(session, await create())).toBe(404);
  });
});

describe('the access log', () => {
  it('has a JSON line for each request, and neither tokens nor queries nor strange paths', async () => {
    lines.length = 0;
    const token = await create();
    await ask(at('/mcp?secret=canary-query'), asking('POST', bearer(token)));
    await ask(at('/canary-path'), asking('GET', [['User-Agent', 'canary-agent']]));
    await ask(at('/mcp'), asking('POST', bearer('canary-token')));
    await expect.poll(() => lines.length).toBe(3);
    const [first, second, third] = lines.map((line) => JSON.parse(line));
    expect(first).toMatchObject({ client: '127.0.0.1', method: 'POST', path: '/mcp', status: 200, complete: true });
    expect(token).toContain(first.principal);
    expect(second).toMatchObject({ path: null, status: 404 });
    expect(third).toMatchObject({ path: '/mcp', status: 401 });
    expect(lines.join('\n')).not.toMatch(/canary|anygpt_/);
  });
});

describe('an identity provider that does not answer', () => {
  it('is a 503, not a 401 and not a 500, and is asked again', async () => {
    const own = engineAt('broken', { issuer: issuer.issuer, audience: AUDIENCE });
    const gateway = await serve(own);
    try {
      issuer.status = 500;
      const token = await issuer.sign();
      const refused = await ask(at('/mcp', gateway), asking('POST', bearer(token)));
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
      issuer.status = undefined;
      expect((await ask(at('/mcp', gateway), asking('POST', bearer(token)))).status).toBe(200);
    } finally {
      issuer.status = undefined;
      await gateway.close();
      await own.close();
    }
  });
});

describe('introspection', () => {
  it('lets opaque tokens in, and asks the provider at most once a minute for each', async () => {
    const introspection = { clientId: 'gateway', clientSecret: '${GATEWAY_SECRET}' };
    const own = engineAt('opaque', { issuer: issuer.issuer, audience: AUDIENCE, introspection });
    const gateway = await serve(own);
    const status = async (token: string) => (await ask(at('/mcp', gateway), asking('POST', bearer(token)))).status;
    try {
      const token = await issuer.token('ann', { format: 'opaque' });
      issuer.paths.length = 0;
      for (let n = 0; n < 3; n++) expect(await status(token)).toBe(200);
      expect(issuer.paths.filter((path) => path === '/token/introspection')).toHaveLength(1);
      expect(own.redact(`a ${token} b`)).not.toContain(token);
      const revoked = await issuer.token('bob', { format: 'opaque' });
      await issuer.revoke('bob', revoked);
      expect(await status(revoked)).toBe(401);
      expect(await status(await issuer.token('bob', { format: 'opaque', audience: 'https://other.example' }))).toBe(
        401,
      );
      expect(await status('made-up')).toBe(401);
      issuer.status = 503;
      expect(await status('another')).toBe(503);
      expect(await status(token)).toBe(200);
    } finally {
      issuer.status = undefined;
      await gateway.close();
      await own.close();
    }
  });
});

describe('an open door', () => {
  it.each([
    ['an address of the network', { host: '0.0.0.0' }, '--host 0.0.0.0'],
    ['another name', { allowedHosts: ['tools.example.com'] }, '--allowed-host tools.example.com'],
  ])('is refused without authentication: %s', async (_what, options, said) => {
    const own = engineAt('off');
    await expect(serve(own, options)).rejects.toThrow(new RegExp(`${said}.*anygpt mcp token create`));
    await own.close();
  });

  it('is closed by the first token, and stays closed when that is revoked', async () => {
    const own = engineAt('closing');
    const gateway = await serve(own);
    const status = async () => (await ask(at('/mcp', gateway), asking('POST'))).status;
    try {
      expect(await status()).toBe(200);
      const created = new StaticTokens(home('closing'));
      const { token } = await created.create({ expiresAt: Date.now() + DAY });
      expect(await status()).toBe(401);
      await created.revoke(token.id);
      expect(await status()).toBe(401);
    } finally {
      await gateway.close();
      await own.close();
    }
  });

  it('lets clients of other machines in with a token, under its own address and the allowed names', async () => {
    const own = engineAt('on');
    const gateway = await serve(own, { host: '0.0.0.0', allowedHosts: ['tools.example.com'] });
    const token = await create();
    const { port } = new URL(gateway.url);
    const status = async (host: string) => {
      const url = `http://127.0.0.1:${port}/mcp`;
      return (await ask(url, asking('POST', [['Host', host], ...bearer(token)]))).status;
    };
    try {
      // Docker maps any port of the machine to ours.
      for (const host of [`127.0.0.1:${port}`, 'localhost:9000', 'tools.example.com', 'TOOLS.example.com:443'])
        expect(await status(host), host).toBe(200);
      for (const host of ['evil.example', 'tools.example.com.evil.example', '10.0.0.1', 'atools.example.com'])
        expect(await status(host), host).toBe(403);
    } finally {
      await gateway.close();
      await own.close();
    }
  });
});

describe('a proxy in front', () => {
  it('is believed only if it was named', async () => {
    const own = engineAt('on', { issuer: issuer.issuer, audience: AUDIENCE });
    const seen: string[] = [];
    const options = { allowedHosts: ['tools.example.com'], accessLog: (line: string) => void seen.push(line) };
    const forwarded = [
      ['X-Forwarded-For', '198.51.100.9, 203.0.113.7'],
      ['X-Forwarded-Host', 'tools.example.com'],
      ['X-Forwarded-Proto', 'https'],
    ] as const;
    for (const [trustedProxies, address, origin] of [
      [['127.0.0.0/8'], '203.0.113.7', 'https://tools.example.com'],
      [['10.0.0.0/8'], '127.0.0.1', 'http://127.0.0.1'],
    ] as const) {
      const gateway = await serve(own, { ...options, trustedProxies });
      const { headers } = await ask(at('/mcp', gateway), asking('POST', forwarded));
      expect(headers['www-authenticate']).toContain(`resource_metadata="${origin}`);
      await gateway.close();
      expect(JSON.parse(String(seen.at(-1))).client).toBe(address);
    }
    await own.close();
  });
});

it('keeps its identity provider over a reload to one that cannot be used, and logs why', async () => {
  const said: string[] = [];
  const note = (_fields: object, message = '') => void said.push(message);
  const auth = { issuer: issuer.issuer, audience: AUDIENCE };
  const config: Record<string, unknown> = { cache: { enabled: false }, auth };
  await using own = new EngineCore(config as never, {
    env: { ANYGPT_HOME: home('reloaded') },
    logger: { debug: note, info: note, warn: note, error: note },
  });
  const gateway = await serve(own);
  const introspection = { clientId: 'gateway', clientSecret: '${NOT_SET_ANYWHERE}' };
  config.auth = { ...auth, audience: 'https://other.example', introspection };
  await own.reload();
  await expect
    .poll(() => said.join(), { timeout: 10_000 })
    .toMatch(/NOT_SET_ANYWHERE.*earlier settings of "auth" stay in force/);
  const token = await issuer.token('ann');
  expect((await ask(at('/mcp', gateway), asking('POST', bearer(token)))).status).toBe(200);
  await gateway.close();
});

describe('a gateway that drains', () => {
  it('says so, takes no new calls, and ends streams', async () => {
    const own = engineAt('on');
    const gateway = await serve(own);
    const token = await create();
    const opened = await ask(at('/mcp', gateway), asking('POST', bearer(token)));
    const session = ['Mcp-Session-Id', String(opened.headers['mcp-session-id'])] as const;
    let stream: Promise<Answer> | undefined;
    await new Promise<void>((onHead) => {
      stream = ask(at('/mcp', gateway), { ...asking('GET', [...bearer(token), session]), onHead });
    });
    expect((await ask(at('/readyz', gateway))).status).toBe(200);
    gateway.drain();
    expect((await stream)?.status).toBe(200);
    expect((await ask(at('/readyz', gateway))).status).toBe(503);
    expect((await ask(at('/healthz', gateway))).status).toBe(200);
    const refused = await ask(at('/mcp', gateway), asking('POST', bearer(token)));
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    await gateway.close();
    await own.close();
  });
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Identity, startIdentity } from '../../test/fixtures/identity.ts';
import { engineOf, grants, newHome, person, whisper } from '../../test/fixtures/logins.ts';
import type { LoginSettings } from '../core/types.ts';
import { discoverLogin } from './discover-login.ts';
import { isLoginAddress, oauthFetch } from './oauth-fetch.ts';

/** Logs in, and resolves with the addresses that were shown. */
async function logIn(identity: Identity, oauth: LoginSettings, home = newHome()): Promise<URL[]> {
  await using engine = engineOf(identity, home, oauth);
  const shown: URL[] = [];
  const show = (address: URL) => {
    shown.push(address);
    void identity.visit(address.href).catch(() => {});
  };
  await engine.connections.logIn('secret', person(identity, { show }));
  expect(await whisper(engine, 'x')).toMatchObject({ success: true });
  return shown;
}

describe('for a provider that bends the rules, a login', () => {
  it('uses a client metadata document in place of a registration', async () => {
    const clientMetadataUrl = 'https://anygpt.example/client.json';
    const document = {
      client_id: clientMetadataUrl,
      client_name: 'anygpt',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
    await using identity = await startIdentity({
      configuration: {
        fetch: async () => Response.json(document),
        features: { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } },
      } as never,
    });
    const [address] = await logIn(identity, { clientMetadataUrl });
    expect(address?.searchParams.get('client_id')).toBe(clientMetadataUrl);
    expect(identity.paths).not.toContain('/reg');
    // Where the provider does not read such documents, a client is registered.
    await using other = await startIdentity();
    await logIn(other, { clientMetadataUrl });
    expect(other.paths).toContain('/reg');
  });

  it('leaves out the resource, with every request', async () => {
    await using identity = await startIdentity();
    const home = newHome();
    const [address] = await logIn(identity, { resource: false }, home);
    expect(address?.searchParams.has('resource')).toBe(false);
    identity.revokeAll();
    await using engine = engineOf(identity, home, { resource: false });
    expect(await whisper(engine, 'y')).toMatchObject({ success: true });
    expect(grants(identity)).toEqual(['authorization_code', 'refresh_token']);
    for (const request of identity.tokenRequests) expect(request).not.toHaveProperty('resource');
  });

  it('sends further parameters, and none of them takes the place of its own', async () => {
    await using identity = await startIdentity();
    const parameters = { access_type: 'offline', prompt: 'consent', state: 'mine', code_challenge: 'mine' };
    const [address] = await logIn(identity, { parameters });
    expect(Object.fromEntries(address?.searchParams ?? [])).toMatchObject({
      access_type: 'offline',
      prompt: 'consent',
      state: expect.stringMatching(/^[\w-]{32}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it('asks for offline access and consent only where the provider knows that scope', async () => {
    const supporting = (scopes_supported: string[]) => (metadata: Record<string, unknown>) => ({
      ...metadata,
      scopes_supported,
    });
    await using knows = await startIdentity({ issuerMetadata: supporting(['openid', 'offline_access']) });
    const [asked] = await logIn(knows, {});
    expect(asked?.searchParams.get('scope')?.split(' ')).toContain('offline_access');
    expect(asked?.searchParams.get('prompt')).toBe('consent');
    await using knowsNot = await startIdentity({ issuerMetadata: supporting(['openid']) });
    const [plain] = await logIn(knowsNot, {});
    expect(plain?.searchParams.get('scope')?.split(' ')).not.toContain('offline_access');
    expect(plain?.searchParams.has('prompt')).toBe(false);
  });

  it('accepts a slash too many on either side, and another issuer only if the settings say so', async () => {
    const naming = (change: (issuer: string) => string) => ({
      issuerMetadata: (metadata: Record<string, unknown>) => ({ ...metadata, issuer: change(String(metadata.issuer)) }),
    });
    await using slash = await startIdentity({
      resourceMetadata: (metadata) => ({
        ...metadata,
        authorization_servers: (metadata.authorization_servers as string[]).map((issuer) => `${issuer}/`),
      }),
    });
    await logIn(slash, {});
    await using bare = await startIdentity(naming((issuer) => `${issuer}/`));
    const found = await discoverLogin('secret', new URL(bare.url), {}, {}, oauthFetch(bare.url));
    expect(found.issuer).toBe(`${bare.issuer}/`);
    await using another = await startIdentity(naming(() => 'https://other.example'));
    const place = (settings: LoginSettings) =>
      discoverLogin('secret', new URL(another.url), {}, settings, oauthFetch(another.url));
    await expect(place({})).rejects.toThrow(
      /its metadata is for the issuer https:\/\/other\.example; if that is right, set connection\.oauth\.allowIssuerMismatch/,
    );
    expect((await place({ allowIssuerMismatch: true })).issuer).toBe('https://other.example');
  });

  it('uses the registered redirect address as it is, and says so if another program has it', async () => {
    const taken = createServer(() => {});
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const redirectUri = `http://localhost:${port}/oauth/callback`;
    const client = { client_id: 'desk', token_endpoint_auth_method: 'none' as const, redirect_uris: [redirectUri] };
    await using identity = await startIdentity({
      configuration: { clients: [{ ...client, application_type: 'native' }] },
    });
    const oauth = { clientId: 'desk', redirectUri };
    await expect(logIn(identity, oauth)).rejects.toThrow(`The address ${redirectUri} of the login is in use`);
    await new Promise((resolve) => taken.close(resolve));
    const [address] = await logIn(identity, oauth);
    expect(address?.searchParams.get('redirect_uri')).toBe(redirectUri);
    expect(identity.paths).not.toContain('/reg');
  });

  it('takes a registered client to no other authorization server than the last time', async () => {
    const client = { client_id: 'desk', token_endpoint_auth_method: 'none' as const };
    const redirect_uris = ['http://127.0.0.1/callback'];
    const configuration = { clients: [{ ...client, application_type: 'native' as const, redirect_uris }] };
    let issuers: string[] = [];
    await using first = await startIdentity({
      configuration,
      resourceMetadata: (metadata) => ({ ...metadata, ...(issuers.length > 0 && { authorization_servers: issuers }) }),
    });
    const home = newHome();
    await logIn(first, { clientId: 'desk' }, home);
    await using second = await startIdentity({ configuration });
    issuers = [second.issuer];
    await expect(logIn(first, { clientId: 'desk' }, home)).rejects.toThrow(
      `it now names the authorization server ${second.issuer}; the last login was at ${first.issuer}. If that is right, log out first.`,
    );
    expect(second.visits).toEqual([]);
  });
});

describe('a login opens', () => {
  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'http://192.0.2.1/authorize',
    'http://login.example/authorize',
    'vscode://x',
  ])('no %s', async (address) => {
    expect(isLoginAddress(new URL(address))).toBe(false);
    await using identity = await startIdentity({
      issuerMetadata: (metadata) => ({ ...metadata, authorization_endpoint: address }),
    });
    await using engine = engineOf(identity);
    const shown: URL[] = [];
    const screen = person(identity, { show: (url) => void shown.push(url) });
    await expect(engine.connections.logIn('secret', screen)).rejects.toMatchObject({ code: 'SERVER_AUTH_REQUIRED' });
    expect(shown).toEqual([]);
  });

  it.each(['https://login.example/a', 'http://127.0.0.1:1/a', 'http://[::1]:1/a', 'http://localhost:1/a'])(
    '%s',
    (address) => {
      expect(isLoginAddress(new URL(address))).toBe(true);
    },
  );
});

describe('the metadata of a login', () => {
  const documents = new Map<string, string>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    if (pathname.startsWith('/.well-known') || pathname.endsWith('openid-configuration')) asked.push(pathname);
    const text = documents.get(pathname);
    if (text === undefined) return response.writeHead(404).end('<h1>Not found</h1>');
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  });
  let origin = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());
  beforeEach(() => {
    documents.clear();
    asked.length = 0;
  });
  const resource = '/.well-known/oauth-protected-resource';
  const put = (path: string, value: object) => documents.set(path, JSON.stringify(value));
  const issuerAt = (path: string, issuer: string) =>
    put(path, {
      issuer,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      jwks_uri: `${origin}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
    });
  const discover = (path = '/mcp', challenge = {}, settings: LoginSettings = {}) =>
    discoverLogin('secret', new URL(`${origin}${path}`), challenge, settings, oauthFetch(origin));

  it('are found behind the path, else at the root, for the server and for its issuer', async () => {
    put(resource, { resource: `${origin}/`, authorization_servers: [`${origin}/tenant`] });
    issuerAt('/tenant/.well-known/openid-configuration', `${origin}/tenant`);
    expect(await discover()).toMatchObject({ issuer: `${origin}/tenant`, resource: `${origin}/` });
    expect(asked).toEqual([
      `${resource}/mcp`,
      resource,
      '/.well-known/oauth-authorization-server/tenant',
      '/.well-known/openid-configuration/tenant',
      '/tenant/.well-known/openid-configuration',
    ]);
  });

  it('are looked for further where a website answers everything with a page of its own', async () => {
    documents.set(`${resource}/mcp`, '<!doctype html>');
    put(resource, { resource: origin, authorization_servers: [origin] });
    documents.set('/.well-known/oauth-authorization-server', '<!doctype html>');
    issuerAt('/.well-known/openid-configuration', origin);
    expect(await discover()).toMatchObject({ issuer: origin });
  });

  it('of the next authorization server count where those of the first are no good', async () => {
    put(resource, { resource: origin, authorization_servers: [`${origin}/gone`, `${origin}/good`] });
    issuerAt('/.well-known/oauth-authorization-server/good', `${origin}/good`);
    expect(await discover()).toMatchObject({ issuer: `${origin}/good` });
  });

  it('may be missing for the server: then the settings name the issuer, and the resource is its address as it is', async () => {
    issuerAt('/.well-known/oauth-authorization-server', origin);
    await expect(discover()).rejects.toThrow('Set connection.oauth.authorizationServer');
    const settings = { authorizationServer: origin };
    expect(await discover('/mcp', {}, settings)).toMatchObject({ resource: `${origin}/mcp` });
    expect(await discover('/', {}, settings)).toMatchObject({ resource: origin });
    expect(asked).not.toContain('/register');
  });

  it('are asked for at no foreign address of a private network', async () => {
    const addresses = [
      ...['169.254.169.254', '10.0.0.1', '192.0.0.170', '198.18.0.1', '0x0a000001', '167772161'],
      ...['[fd00::1]', '[fec0::1]', '[::ffff:10.0.0.1]', '[::ffff:a9fe:a9fe]', '[::10.0.0.1]'],
      // NAT64 and 6to4 lead to addresses of IPv4.
      ...[
        '[64:ff9b::a9fe:a9fe]',
        '[64:ff9b::10.0.0.1]',
        '[64:ff9b:1::10.0.0.1]',
        '[2002:a00:1::1]',
        '[2002:a9fe:a9fe::]',
      ],
    ];
    for (const resourceMetadata of ['http://169.254.169.254/x', ...addresses.map((host) => `https://${host}/x`)])
      await expect(discover('/mcp', { resourceMetadata })).rejects.toThrow(/private network|not https/);
  });
});

describe('a name that leads elsewhere when it is asked for again', () => {
  it('reaches only the addresses that were checked', async () => {
    const arrived: (string | undefined)[] = [];
    await using server = await listening((host) => arrived.push(host));
    let times = 0;
    // No name server knows this name: only the address that was checked can be reached.
    const resolve = async () => {
      times++;
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const send = oauthFetch(`http://127.0.0.1:${server.port}/mcp`, undefined, resolve);
    expect((await send(`http://login.invalid:${server.port}/token`)).status).toBe(200);
    expect(arrived).toEqual([`login.invalid:${server.port}`]);
    expect(times).toBe(1);
  });

  it('does not lead a login to this machine, also where it is the name of the server itself', async () => {
    const arrived: (string | undefined)[] = [];
    await using server = await listening((host) => arrived.push(host));
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    for (const own of ['https://evil.invalid/mcp', 'http://evil.invalid/mcp']) {
      const send = oauthFetch(own, undefined, resolve);
      await expect(send(`http://evil.invalid:${server.port}/register`, { method: 'POST' })).rejects.toThrow(
        'not https',
      );
    }
    expect(arrived).toEqual([]);
  });

  it('counts as the most private of its addresses', async () => {
    const resolve = async (host: string) =>
      host === 'mixed.invalid'
        ? ['192.0.2.1', '10.0.0.1', '169.254.169.254'].map((address) => ({ address, family: 4 }))
        : [{ address: '10.0.0.9', family: 4 }];
    const send = oauthFetch('https://inner.invalid/mcp', undefined, resolve);
    await expect(send('https://mixed.invalid/token')).rejects.toThrow('private network');
  });

  it('leads nowhere private by a private address beside its public one', async () => {
    const resolve = async (host: string) =>
      (host === 'evil.invalid' ? ['192.0.2.1', '10.0.0.9'] : ['10.0.0.1']).map((address) => ({ address, family: 4 }));
    const send = oauthFetch('https://evil.invalid/mcp', undefined, resolve);
    await expect(send('https://inner.invalid/token')).rejects.toThrow('private network');
  });
});

/** A server that answers 200 to everything. */
async function listening(onRequest: (host: string | undefined) => void) {
  const server = createServer((request, response) => {
    onRequest(request.headers.host);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

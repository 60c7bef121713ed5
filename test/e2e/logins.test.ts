/**
 * Logins through the real command line and the real gateway: a real identity provider, a server that checks its tokens.
 * The numbers are those of known mistakes of other gateways.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Identity, startIdentity } from '../fixtures/identity.ts';
import { connect, errorOf, serveHttp, textOf } from './gateway.ts';
import { BIN, freePort, Sandbox, until } from './sandbox.ts';

interface Ran {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  out: string;
  err: string;
}

function start(sandbox: Sandbox, ...argv: string[]): Ran {
  const child = spawn(process.execPath, [BIN, 'mcp', ...argv], {
    env: { ...sandbox.env, ANYGPT_KEYCHAIN: 'off' },
    cwd: sandbox.folder,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const ran: Ran = { child, ended, out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    ran.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    ran.err += chunk;
  });
  return ran;
}

const configOf = (sandbox: Sandbox, { url }: Identity) =>
  sandbox.write({ discovery: { servers: [{ name: 'secret', connection: { type: 'http', url } }] } });

const addressIn = ({ err }: Ran) => /http:\/\/127\.0\.0\.1:\d+\/auth\?\S+/.exec(err)?.[0];

async function logIn(sandbox: Sandbox, identity: Identity, config: string): Promise<Ran> {
  const ran = start(sandbox, 'login', 'secret', '--no-browser', '--config', config);
  await identity.visit(
    await until(
      () => `an address to open: ${ran.err}`,
      () => addressIn(ran),
      20_000,
    ),
  );
  expect(await ran.ended, ran.err).toBe(0);
  return ran;
}

it('logs in and out at the command line, and a running gateway learns both at once', async () => {
  await using identity = await startIdentity();
  await using sandbox = new Sandbox();
  const config = configOf(sandbox, identity);
  const gateway = await serveHttp(sandbox, config);
  const agent = await connect('v2 modern http', sandbox, gateway);
  sandbox.closeLater(() => agent.close());
  expect(errorOf(await agent.execute('secret', 'whisper', { text: 'a' })).code).toBe('SERVER_AUTH_REQUIRED');
  const ran = await logIn(sandbox, identity, config);
  expect(ran.out).toContain('✓ Logged in to secret: 1 tool');
  expect(ran.err).toContain('logins/key');
  await until('the gateway uses the login', async () => {
    const result = await agent.execute('secret', 'whisper', { text: 'b' });
    return result.isError !== true && textOf(result).includes('psst: b');
  });
  const out = start(sandbox, 'logout', 'secret', '--config', config);
  expect(await out.ended, out.err).toBe(0);
  expect(out.out).toContain('✓ Logged out of secret');
  await until('the gateway forgets the login', async () => {
    const result = await agent.execute('secret', 'whisper', { text: 'c' });
    return result.isError === true && errorOf(result).code === 'SERVER_AUTH_REQUIRED';
  });
}, 60_000);

it('counts the tools of a new login that wait for approval, too', async () => {
  await using identity = await startIdentity();
  await using sandbox = new Sandbox();
  const { url } = identity;
  const config = sandbox.write({
    discovery: { approval: 'all', servers: [{ name: 'secret', connection: { type: 'http', url } }] },
  });
  expect((await logIn(sandbox, identity, config)).out).toContain('✓ Logged in to secret: 1 tool');
}, 60_000);

it('1. a refresh race destroys no good token: 8 processes, one refresh, no login', async () => {
  await using identity = await startIdentity();
  await using sandbox = new Sandbox();
  const config = configOf(sandbox, identity);
  await logIn(sandbox, identity, config);
  for (let expiry = 1; expiry <= 2; expiry++) {
    identity.revokeAll();
    const texts = Array.from({ length: 8 }, (_, at) => `${expiry}-${at}`);
    const ran = texts.map((text) => start(sandbox, 'execute', 'secret', 'whisper', `text=${text}`, '--config', config));
    for (const one of ran) expect(await one.ended, one.err + one.out).toBe(0);
    expect(identity.calls.filter((text) => text.startsWith(`${expiry}-`)).sort()).toEqual(texts);
    expect(identity.tokenRequests.filter(({ grant_type }) => grant_type === 'refresh_token')).toHaveLength(expiry);
  }
  expect(identity.visits).toHaveLength(1);
}, 120_000);

it('2. no browser opens outside login, and attempts are bounded', async () => {
  await using identity = await startIdentity();
  await using sandbox = new Sandbox();
  const config = configOf(sandbox, identity);
  const opened = join(sandbox.folder, 'opened');
  for (const name of ['xdg-open', 'open'])
    chmodSync(sandbox.write(`#!/bin/sh\nprintf %s "$1" > ${opened}.new\nmv ${opened}.new ${opened}\n`, name), 0o755);
  for (const argv of [['list', '--status'], ['search', 'whisper'], ['execute', 'secret', 'whisper'], ['doctor']])
    await start(sandbox, ...argv, '--config', config).ended;
  const gateway = await serveHttp(sandbox, config);
  const agent = await connect('v2 modern http', sandbox, gateway);
  sandbox.closeLater(() => agent.close());
  const before = identity.authorizations.length;
  for (let times = 0; times < 10; times++)
    expect(errorOf(await agent.execute('secret', 'whisper', {})).code).toBe('SERVER_AUTH_REQUIRED');
  expect(identity.authorizations.length - before).toBeLessThanOrEqual(2);
  expect(existsSync(opened)).toBe(false);
  expect(identity.paths.filter((path) => path !== '/mcp')).toEqual([]);
  // The same browser opens for a login.
  const login = start(sandbox, 'login', 'secret', '--config', config);
  await until('a browser opens', () => existsSync(opened), 20_000);
  await identity.visit(readFileSync(opened, 'utf8'));
  expect(await login.ended, login.err).toBe(0);
  const known = identity.authorizations.at(-1)?.replace('Bearer ', '') ?? '';
  expect(await identity.provider.AccessToken.find(known)).toBeDefined();
  const logout = start(sandbox, 'logout', 'secret', '--config', config);
  expect(await logout.ended, logout.err).toBe(0);
  expect(logout.err).not.toContain('may stay valid');
  expect(await identity.provider.AccessToken.find(known)).toBeUndefined();
}, 60_000);

it('logs in with a code that is typed on another device, where the identity provider gives one', async () => {
  await using identity = await startIdentity({ deviceAnswer: (answer) => ({ ...answer, interval: 1 }) });
  await using sandbox = new Sandbox();
  const config = configOf(sandbox, identity);
  const ran = start(sandbox, 'login', 'secret', '--no-browser', '--config', config);
  const [, address = '', code = ''] = await until(
    () => `a code to type: ${ran.err}`,
    () => /open (\S+) and type the code (\S+)/.exec(ran.err),
    20_000,
  );
  await identity.typeCode(address, code);
  expect(await ran.ended, ran.err).toBe(0);
  expect(ran.out).toContain('✓ Logged in to secret: 1 tool');
  expect(identity.visits).toEqual([]);
}, 60_000);

it('--all logs in to what wants a login, one by one, whatever becomes of the others', async () => {
  await using known = await startIdentity();
  await using fine = await startIdentity();
  await using lying = await startIdentity({
    resourceMetadata: (metadata) => ({ ...metadata, resource: 'https://other.example/mcp' }),
  });
  await using last = await startIdentity();
  await using sandbox = new Sandbox();
  const remote = (name: string, url: string) => ({ name, connection: { type: 'http', url } });
  const servers = [
    remote('secret', known.url),
    remote('lying', lying.url),
    remote('fine', fine.url),
    remote('down', `http://127.0.0.1:${await freePort()}/mcp`),
    remote('last', last.url),
  ];
  const config = sandbox.write({ discovery: { servers } });
  await logIn(sandbox, known, config);
  const ran = start(sandbox, 'login', '--all', '--no-browser', '--config', config);
  for (const identity of [fine, last]) {
    const shown = () => ran.err.split(/\s+/).find((word) => word.startsWith(`${identity.issuer}/auth?`));
    await identity.visit(await until(() => `an address to open: ${ran.err}`, shown, 20_000));
  }
  expect(await ran.ended, ran.err).toBe(3);
  expect(ran.out).toMatch(
    /✗ Cannot log in to lying: [\s\S]*✓ Logged in to fine: 1 tool\n✓ Logged in to last: 1 tool\n$/,
  );
  expect(ran.out).not.toContain('secret');
  expect(ran.err).toContain('down');
  expect(known.visits).toHaveLength(1);
  const again = start(sandbox, 'login', '--all', '--json', '--no-browser', '--config', config);
  expect(await again.ended, again.err).toBe(3);
  expect(JSON.parse(again.out)).toMatchObject({
    servers: [{ name: 'lying', status: 'failed', error: { code: 'SERVER_AUTH_REQUIRED' } }],
  });
  const rest = sandbox.write(
    { discovery: { servers: servers.filter(({ name }) => !/lying|down/.test(name)) } },
    'b.json',
  );
  const none = start(sandbox, 'login', '--all', '--config', rest);
  expect(await none.ended, none.err).toBe(0);
  expect(none.out).toBe('No server wants a login.\n');
}, 120_000);

it('--all takes one pasted address after another where the browsers are on other computers', async () => {
  await using one = await startIdentity();
  await using two = await startIdentity();
  await using sandbox = new Sandbox();
  const servers = [one, two].map(({ url }, at) => ({ name: `server${at}`, connection: { type: 'http', url } }));
  const config = sandbox.write({ discovery: { servers } });
  const ran = start(sandbox, 'login', '--all', '--no-browser', '--config', config);
  for (const { issuer, visit } of [one, two]) {
    const shown = () => ran.err.split(/\s+/).find((word) => word.startsWith(`${issuer}/auth?`));
    const address = await until(() => `an address to open: ${ran.err}`, shown, 20_000);
    const redirect = new URL(address).searchParams.get('redirect_uri') ?? '';
    ran.child.stdin?.write(`${(await visit(address, redirect)).url}\n`);
  }
  expect(await ran.ended, ran.err).toBe(0);
  expect(ran.out).toBe('✓ Logged in to server0: 1 tool\n✓ Logged in to server1: 1 tool\n');
}, 60_000);

it('3. three parallel logins: one tab, one registration, all work', async () => {
  await using identity = await startIdentity();
  await using sandbox = new Sandbox();
  const config = configOf(sandbox, identity);
  const ran = [1, 2, 3].map(() => start(sandbox, 'login', 'secret', '--no-browser', '--config', config));
  const address = await until('an address to open', () => ran.map(addressIn).find(Boolean), 20_000);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await identity.visit(address);
  for (const one of ran) expect(await one.ended, one.err).toBe(0);
  for (const { out } of ran) expect(out).toContain('✓ Logged in to secret');
  expect(ran.filter(addressIn)).toHaveLength(1);
  expect(identity.paths.filter((path) => path === '/reg')).toHaveLength(1);
}, 60_000);

it("5. a downstream's 401 is a tool result, with HTTP 200; 7. and the caller's key for the gateway goes no further", async () => {
  await using identity = await startIdentity();
  await using sandbox = new Sandbox();
  const gateway = await serveHttp(sandbox, configOf(sandbox, identity));
  const key = 'Bearer key-of-the-gateway-0123456789';
  const response = await fetch(gateway, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'execute_tool',
      authorization: key,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'execute_tool',
        arguments: { server: 'secret', tool: 'whisper', arguments: {} },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('SERVER_AUTH_REQUIRED');
  expect(identity.authorizations.length).toBeGreaterThan(0);
  expect(new Set(identity.authorizations)).toEqual(new Set([undefined]));
}, 30_000);

it('10. an expired login with a refresh token is refreshed by list, and a server without one is named in notes', async () => {
  await using identity = await startIdentity();
  await using sandbox = new Sandbox();
  const config = configOf(sandbox, identity);
  const searched = start(sandbox, 'search', 'whisper a text', '--config', config);
  await searched.ended;
  expect(searched.out + searched.err).toContain('anygpt mcp login secret');
  await logIn(sandbox, identity, config);
  identity.revokeAll();
  const listed = start(sandbox, 'list', '--status', '--config', config);
  expect(await listed.ended, listed.err).toBe(0);
  expect(listed.out).toMatch(/✓ secret/);
  expect(listed.out + listed.err).not.toContain('login');
  expect(identity.visits).toHaveLength(1);
}, 60_000);

/** Where the front door has to stay shut: settings that cannot be applied, odd claims, streams from before. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, INITIALIZE, JSON_HEADERS } from '../../test/fixtures/gateway/http-request.ts';
import { AUDIENCE, type Issuer, startIssuer } from '../../test/fixtures/gateway/issuer.ts';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { StaticTokens } from '../auth/static-tokens.ts';
import { EngineCore } from '../engine/engine-core.ts';
import { configFile } from '../engine/engine-world.ts';
import { discoverySurface } from './discovery-surface.ts';
import { type ServedHttp, serveGatewayOnHttp } from './serve-http.ts';

let folder: ReturnType<typeof tempFolder>;
let issuer: Issuer;
let engine: EngineCore;
let served: ServedHttp;
const write = (section: object) =>
  writeFileSync(join(folder.path, 'config.json'), JSON.stringify({ discovery: { servers: [], ...section } }));
const reloadWith = async (section: object) => {
  write(section);
  await engine.reload();
};
const auth = (more: object = {}) => ({ auth: { issuer: issuer.issuer, audience: AUDIENCE, ...more } });

beforeEach(async () => {
  folder = tempFolder();
  issuer = await startIssuer();
  write({});
  engine = new EngineCore(configFile(join(folder.path, 'config.json')), {
    env: { ANYGPT_HOME: folder.path, HOME: folder.path },
  });
  served = await serveGatewayOnHttp(engine, { port: 0, surface: discoverySurface(engine) });
});
afterEach(async () => {
  await served.close();
  await engine.close();
  await issuer[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const initialize = (token?: string) => {
  const bearer = token === undefined ? [] : [['Authorization', `Bearer ${token}`] as const];
  return ask(served.url, { method: 'POST', headers: [...JSON_HEADERS, ...bearer], body: JSON.stringify(INITIALIZE) });
};
const status = async (token?: string) => (await initialize(token)).status;

describe('a reload whose settings of the identity provider cannot be applied', () => {
  const introspection = { clientId: 'gateway', clientSecret: '${NOT_SET_ANYWHERE}' };

  it('shuts a door that was open, until they can be applied', async () => {
    expect(await status()).toBe(200);
    await reloadWith(auth({ introspection }));
    await expect.poll(() => status()).toBe(401);
    expect(await status(await issuer.token('ann'))).toBe(503);
    await reloadWith(auth());
    const token = await issuer.token('ann');
    await expect.poll(() => status(token)).toBe(200);
    expect(await status()).toBe(401);
  });

  it('keeps it shut when they are gone again', async () => {
    await reloadWith(auth({ introspection }));
    await expect.poll(() => status()).toBe(401);
    await reloadWith({});
    const token = await issuer.sign();
    await expect.poll(() => status(token)).toBe(401);
    expect(await status()).toBe(401);
  });
});

describe('a token', () => {
  it.each([
    ['a list', ['team']],
    ['empty', ''],
    ['a number', 7],
    ['nothing', null],
    ['too long', 'x'.repeat(5_000)],
  ])(
    'whose claim of the profile is %s lets nobody in, because without a profile there is no bound',
    async (_what, group) => {
      await reloadWith({ ...auth({ profileClaim: 'group' }), profiles: { team: { servers: [] } } });
      const good = await issuer.sign({ group: 'team' });
      await expect.poll(() => status(good)).toBe(200);
      expect(await status(await issuer.sign({ group }))).toBe(401);
    },
  );

  it('without the claim of the profile has the default profile, or nothing', async () => {
    await reloadWith({ ...auth({ profileClaim: 'group' }), profiles: { team: { servers: [] } } });
    const token = await issuer.sign();
    await expect.poll(() => status(token)).toBe(403);
    await reloadWith({ ...auth({ profileClaim: 'group' }), profiles: { default: { servers: [] } } });
    await expect.poll(() => status(token)).toBe(200);
  });

  it('with an unusable subject is not taken for the program that asked for it', async () => {
    await reloadWith(auth());
    const good = await issuer.sign();
    await expect.poll(() => status(good)).toBe(200);
    for (const sub of ['', 'y'.repeat(5_000)])
      expect(await status(await issuer.sign({ sub, client_id: 'nightly-job' })), sub).toBe(401);
  });
});

describe('a stream', () => {
  /** Opens a stream. Resolves with a promise for its end. */
  const openStream = async (token?: string) => {
    const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { headers } = await initialize(token);
    const stream = request(served.url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': String(headers['mcp-session-id']), ...bearer },
    }).end();
    const [response] = (await once(stream, 'response')) as [IncomingMessage];
    // The gateway ends it without a word, which is an error for a reader.
    response.resume().on('error', () => {});
    return { status: response.statusCode, closed: new Promise((resolve) => response.once('close', resolve)) };
  };

  it('that was opened before the door was shut ends', async () => {
    const stream = await openStream();
    expect(stream.status).toBe(200);
    await new StaticTokens(folder.path).create({ expiresAt: Date.now() + 3_600_000 });
    await stream.closed;
    expect(await status()).toBe(401);
  }, 15_000);

  it('ends when its identity provider is replaced by another', async () => {
    await reloadWith(auth());
    const token = await issuer.sign();
    await expect.poll(() => status(token)).toBe(200);
    const stream = await openStream(token);
    expect(stream.status).toBe(200);
    await reloadWith({
      auth: { issuer: 'https://other.example', audience: AUDIENCE, jwksUri: 'https://other.example/keys' },
    });
    await stream.closed;
  }, 15_000);
});

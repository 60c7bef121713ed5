/** Logins that several engines share over one Redis. */
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Identity, startIdentity } from '../../test/fixtures/identity.ts';
import { engineOf, grants, newHome, passMinute, person, whisper } from '../../test/fixtures/logins.ts';
import { hasRedis, startRedis, type TestRedis } from '../../test/fixtures/redis.ts';
import type { EngineCore } from './engine-core.ts';

let redis: TestRedis;
const open: EngineCore[] = [];
beforeEach(async () => {
  if (hasRedis) redis = await startRedis();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((engine) => engine.close()));
  if (hasRedis) await redis[Symbol.asyncDispose]();
});

/** An engine on a machine of its own. */
const replica = (identity: Identity, home = newHome()) => {
  const one = engineOf(identity, home, undefined, { cluster: { redis: redis.url, key: 'k'.repeat(43) } });
  open.push(one);
  return one;
};
const succeeds = { timeout: 10_000 };
const isSuccess = async (engine: EngineCore, text: string) => (await whisper(engine, text)).success;

describe.skipIf(!hasRedis)('a login in a cluster', () => {
  it('on any machine serves all replicas at once, and a logout ends it for all', async () => {
    await using identity = await startIdentity();
    const home = newHome();
    const [one, two, cli] = [replica(identity), replica(identity), replica(identity, home)];
    expect(await whisper(one, 'before')).toMatchObject({ error: { code: 'SERVER_AUTH_REQUIRED' } });
    expect(await cli.connections.logIn('secret', person(identity))).toBe('cluster');
    for (const engine of [one, two]) await expect.poll(() => isSuccess(engine, 'in'), succeeds).toBe(true);
    expect(readdirSync(home)).not.toContain('logins');
    await cli.connections.logOut('secret');
    for (const engine of [one, two]) await expect.poll(() => isSuccess(engine, 'out'), succeeds).toBe(false);
  });

  it('is renewed once, however many replicas need it', async () => {
    await using identity = await startIdentity();
    const engines = Array.from({ length: 4 }, () => replica(identity));
    await engines[0]?.connections.logIn('secret', person(identity));
    await Promise.all(engines.map((engine) => whisper(engine, 'with the first token')));
    identity.revokeAll();
    passMinute();
    const said = await Promise.all(engines.map((engine, at) => whisper(engine, `call ${at}`)));
    expect(said.map(({ success }) => success)).toEqual([true, true, true, true]);
    expect(grants(identity).filter((grant) => grant === 'refresh_token')).toHaveLength(1);
  });

  it('serves on from memory while Redis is away, and a new replica says why it cannot', async () => {
    await using identity = await startIdentity();
    const [one, late] = [replica(identity), replica(identity)];
    await one.connections.logIn('secret', person(identity));
    expect(await whisper(one, 'with Redis')).toMatchObject({ success: true });
    await late.getConfig();
    await redis.kill();
    expect(await whisper(one, 'without')).toMatchObject({ success: true });
    expect(await whisper(late, 'without')).toMatchObject({ success: false, error: { retryable: true } });
    expect(grants(identity)).not.toContain('refresh_token');
  });

  it('that was renewed while Redis died is not lost: it is saved when Redis is back', async () => {
    await using identity = await startIdentity();
    const [one, two] = [replica(identity), replica(identity)];
    await Promise.all([one.getConfig(), two.getConfig()]);
    const [here, there] = [one, two].map(({ runtime }) => runtime.cluster.current?.logins);
    await redis.kill();
    await here?.replace('name', Buffer.from('renewed'));
    expect(String(await here?.read('name'))).toBe('renewed');
    await redis.start();
    await expect.poll(() => there?.read('name').then(String, () => 'away'), { timeout: 20_000 }).toBe('renewed');
  });
});

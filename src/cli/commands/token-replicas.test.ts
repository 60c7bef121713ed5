/** `anygpt mcp token` in front of several gateways, each with a state folder of its own, over one Redis. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { ask, INITIALIZE, JSON_HEADERS } from '../../../test/fixtures/gateway/http-request.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { hasRedis, startRedis, type TestRedis } from '../../../test/fixtures/redis.ts';
import type { TokenPlace } from '../../auth/shared-tokens.ts';
import { EngineCore } from '../../engine/engine-core.ts';
import { discoverySurface } from '../../gateway/discovery-surface.ts';
import { type ServedHttp, serveGatewayOnHttp } from '../../gateway/serve-http.ts';
import { main } from '../main.ts';

let folder: ReturnType<typeof tempFolder>;
let redis: TestRedis;
const open: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = tempFolder();
  if (hasRedis) redis = await startRedis();
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
  if (hasRedis) await redis[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const envOf = (machine: string) => ({
  HOME: join(folder.path, machine),
  ANYGPT_HOME: join(folder.path, machine),
  ANYGPT_REDIS_URL: redis.url,
  ANYGPT_CLUSTER_KEY: 'k'.repeat(43),
});

/** Runs `anygpt mcp token` on one machine. */
const token = async (machine: string, ...argv: string[]) => {
  const io = fakeIo({ cwd: folder.path, env: envOf(machine) });
  const code = await main(['mcp', 'token', ...argv], io);
  return { code, out: io.out().trim(), err: io.err() };
};

/** A gateway on one machine, to which every program has to show a token. */
async function gateway(machine: string): Promise<ServedHttp> {
  const engine = new EngineCore({ servers: [] }, { env: envOf(machine), cwd: folder.path });
  open.push(() => engine.close());
  const surface = discoverySurface(engine);
  const served = await serveGatewayOnHttp(engine, { port: 0, surface, allowedHosts: ['tools.example.com'] });
  open.push(() => served.close());
  return served;
}

const status = async ({ url }: ServedHttp, text: string) => {
  const headers = [...JSON_HEADERS, ['Authorization', `Bearer ${text}`] as const];
  return (await ask(url, { method: 'POST', headers, body: JSON.stringify(INITIALIZE) })).status;
};
const idIn = (text: string) => text.slice(7, 15);
const soon = { timeout: 10_000 };

describe.skipIf(!hasRedis)('tokens in a cluster', () => {
  it('let clients in at every replica, wherever they were created, and nowhere once they are revoked anywhere', async () => {
    const [one, two] = [await gateway('a'), await gateway('b')];
    const { out: text } = await token('c', 'create', '--name', 'ci');
    for (const replica of [one, two]) await expect.poll(() => status(replica, text), soon).toBe(200);
    expect(await status(await gateway('d'), text)).toBe(200);
    expect((await token('b', 'list')).out).toContain(idIn(text));
    // At a machine that did not create it.
    expect(await token('e', 'revoke', 'ci')).toMatchObject({ code: 0, out: `Revoked ${idIn(text)}` });
    for (const replica of [one, two]) await expect.poll(() => status(replica, text), soon).toBe(401);
    expect(await status(await gateway('f'), text)).toBe(401);
  });

  it('that were created or revoked without Redis are shared by the gateway of that state folder', async () => {
    const [one, two] = [await gateway('a'), await gateway('b')];
    const { out: before } = await token('a', 'create');
    await expect.poll(() => status(two, before), soon).toBe(200);
    await redis.kill();
    const made = await token('a', 'create');
    expect([made.code, made.err]).toEqual([3, expect.stringContaining('Other replicas do not know the token yet')]);
    const revoked = await token('a', 'revoke', idIn(before));
    expect([revoked.code, revoked.err]).toEqual([3, expect.stringContaining('Other replicas may still accept it')]);
    expect([await status(one, made.out), await status(one, before)]).toEqual([200, 401]);
    expect([await status(two, made.out), await status(two, before)]).toEqual([401, 200]);
    await redis.start();
    await expect.poll(() => status(two, before), soon).toBe(401);
    await expect.poll(() => status(two, made.out), soon).toBe(200);
  });

  it('survive the loss of everything in Redis, and the revoked ones stay revoked', async () => {
    const [one, two] = [await gateway('a'), await gateway('b')];
    const [kept, revoked] = [await token('a', 'create'), await token('a', 'create')];
    await expect.poll(() => status(two, kept.out), soon).toBe(200);
    await token('b', 'revoke', idIn(revoked.out));
    await expect.poll(() => status(one, revoked.out), soon).toBe(401);
    await redis.kill();
    await redis.start();
    const late = await gateway('c');
    await expect.poll(() => status(late, kept.out), soon).toBe(200);
    for (const replica of [one, two, late]) expect(await status(replica, revoked.out)).toBe(401);
  });

  it('leaves nothing open if its gateway cannot listen', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    open.push(async () => taken.close());
    await once(taken, 'listening');
    const engine = new EngineCore({ servers: [] }, { env: envOf('a'), cwd: folder.path });
    open.push(() => engine.close());
    await engine.getConfig();
    let followed = 0;
    /** Counts those who listen, and no longer do. */
    const counting = <Args extends unknown[]>(listen: (...args: Args) => () => void) => {
      return (...args: Args) => {
        const stop = listen(...args);
        followed += 1;
        return () => {
          followed -= 1;
          stop();
        };
      };
    };
    const place = engine.runtime.cluster.current?.tokens as TokenPlace;
    place.onChange = counting(place.onChange.bind(place));
    engine.onShownTools = counting(engine.onShownTools.bind(engine));
    engine.onReload = counting(engine.onReload.bind(engine));
    const surface = discoverySurface(engine);
    const { port } = taken.address() as AddressInfo;
    await expect(serveGatewayOnHttp(engine, { port, surface })).rejects.toThrow('EADDRINUSE');
    expect(followed).toBe(0);
    const served = await serveGatewayOnHttp(engine, { port: 0, surface });
    expect(followed).toBe(3);
    await served.close();
    expect(followed).toBe(0);
  });
});

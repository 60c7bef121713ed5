/** Several engines over one Redis, as replicas of one gateway. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folder } from '../../test/fixtures/engine.ts';
import { memoryServers } from '../../test/fixtures/memory-servers.ts';
import { hasRedis, startRedis, type TestRedis } from '../../test/fixtures/redis.ts';
import { LIMITS } from '../core/limits.ts';
import { silentLogger } from '../core/log.ts';
import type { EngineCore } from './engine-core.ts';
import type { EngineOptions } from './engine-world.ts';
import { touchReloadStamp, watchConfig } from './watch-config.ts';

let redis: TestRedis;
const open: EngineCore[] = [];
beforeEach(async () => {
  if (hasRedis) redis = await startRedis();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((engine) => engine.close()));
  if (hasRedis) await redis[Symbol.asyncDispose]();
});

const TOOL = { name: 'work', inputSchema: { type: 'object' } } as const;

/** Servers in memory, and `count` engines in front of them. */
function replicas(count: number, config: object = {}) {
  const cluster = { redis: redis.url, key: 'k'.repeat(43) };
  const world = memoryServers({ jobs: [TOOL] }, { cluster, ...config });
  const more = (own: object = {}, options: EngineOptions = {}) => {
    const one = world.engine(own, { background: true, ...options });
    open.push(one);
    return one;
  };
  // Counts among the replicas, and does nothing.
  open.push(world.servers);
  return { ...world, more, engines: Array.from({ length: count }, () => more()) };
}

const codeOf = (result: Awaited<ReturnType<EngineCore['call']>>) => (result.success ? 'ok' : result.error.code);

describe.skipIf(!hasRedis)('large results', () => {
  const PAGES = { limits: { result: 10_000 } };
  const caller = { principal: 'ann' };
  const make = async (engine?: EngineCore) => {
    const result = await engine?.call({ server: 'jobs', tool: 'work', arguments: { bytes: 50_000 }, caller });
    const id = /"id":"([\w-]+)"/.exec(JSON.stringify(result).replaceAll('\\', ''))?.[1];
    expect(id).toBeDefined();
    return id;
  };
  const read = (engine: EngineCore | undefined, id: unknown, page: number, who: object = caller) =>
    engine?.call({ server: 'anygpt', tool: 'read_result', arguments: { id, page }, caller: who });

  it('are read on at any replica, by their caller only', async () => {
    const [one, two, three] = replicas(3, PAGES).engines;
    const id = await make(one);
    const pages = [await read(one, id, 2), await read(two, id, 2), await read(three, id, 2)];
    expect(pages[0]).toMatchObject({ success: true });
    expect(pages[1]).toEqual(pages[0]);
    expect(pages[2]).toEqual(pages[0]);
    for (const who of [{}, { principal: 'bob' }, { session: 'ann' }])
      expect(await read(two, id, 2, who)).toMatchObject({ error: { code: 'TOOL_VALIDATION_ERROR' } });
    expect(await read(two, id, 99)).toMatchObject({ error: { code: 'TOOL_VALIDATION_ERROR' } });
    expect(await read(two, 'another', 1)).toMatchObject({ error: { code: 'TOOL_VALIDATION_ERROR' } });
  });

  it('are read on where they were made while Redis is away, and elsewhere the answer says why not', async () => {
    const [one, two] = replicas(2, PAGES).engines;
    await make(two);
    await redis.kill();
    const id = await make(one);
    expect(await read(one, id, 2)).toMatchObject({ success: true });
    expect(await read(two, id, 2)).toMatchObject({ error: { code: 'STORAGE_ERROR', retryable: true } });
  });
});

describe.skipIf(!hasRedis)('the rate of a server', () => {
  const call = async (engine: EngineCore | undefined) =>
    engine && codeOf(await engine.call({ server: 'jobs', tool: 'work', timeout: 2_000 }));
  /** Engines whose server allows four calls, and then one in a quarter of an hour. */
  const limited = async (count: number) => {
    const { servers, more, calls } = replicas(0);
    const [entry] = (await servers.getConfig()).servers;
    const rateLimit = { requestsPerSecond: 0.001, burst: 4 };
    const limits = { servers: [{ name: 'jobs', connection: entry?.connection, rateLimit }] };
    return { engines: Array.from({ length: count }, () => more(limits)), calls };
  };

  it('holds across replicas', async () => {
    const { engines, calls } = await limited(2);
    const codes: unknown[] = [];
    for (let at = 0; at < 6; at += 1) codes.push(await call(engines[at % 2]));
    expect(codes).toEqual(['ok', 'ok', 'ok', 'ok', 'RATE_LIMITED', 'RATE_LIMITED']);
    expect(calls.length).toBe(4);
  });

  it('is split among the replicas while Redis is away', async () => {
    const { engines } = await limited(3);
    // All four turns, of all replicas together.
    for (let at = 0; at < 4; at += 1) await call(engines[at % 3]);
    // Each of the four engines of this test has a quarter of the burst.
    const { 0: first } = engines;
    await expect.poll(() => first?.runtime.cluster.current?.size, { timeout: 10_000 }).toBe(4);
    await redis.kill();
    expect([await call(first), await call(first)]).toEqual(['ok', 'RATE_LIMITED']);
  });
});

describe.skipIf(!hasRedis)('lists of tools', () => {
  const search = async (engine: EngineCore | undefined, query: string) => {
    const found = await engine?.find(query);
    return found?.success ? found.data.results.map(({ tool }) => tool) : found;
  };
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' as const } });

  it('are read by one replica; the others take them from there', async () => {
    const { engines, asked } = replicas(4);
    const first = await Promise.all(engines.map((engine) => search(engine, 'work')));
    expect(first).toEqual([['work'], ['work'], ['work'], ['work']]);
    expect(asked).toEqual(['jobs']);
  });

  it('are known to a replica that starts later, without a question', async () => {
    const { engines, more, asked } = replicas(1);
    await search(engines[0], 'work');
    expect(await search(more(), 'work')).toEqual(['work']);
    expect(asked).toEqual(['jobs']);
  });

  it('reach all replicas when one reads them again', async () => {
    const { engines, asked, lists } = replicas(3);
    await Promise.all(engines.map((one) => search(one, 'work')));
    lists.jobs = [tool('play')];
    await engines[0]?.readLists({ again: true });
    for (const one of engines) await expect.poll(() => search(one, 'play'), { timeout: 10_000 }).toEqual(['play']);
    expect(asked).toEqual(['jobs', 'jobs']);
  });

  it.each([1_000, -1_000])('reach all replicas also if the clock of one is off by %i ms', async (off) => {
    const { engines, asked, lists } = replicas(3);
    const [one, other] = engines;
    await Promise.all(engines.map((each) => each.getConfig()));
    const link = other?.runtime.cluster.current?.link;
    const now = link?.now.bind(link);
    if (link && now) link.now = () => now() + off;
    await search(other, 'work');
    await Promise.all(engines.map((each) => search(each, 'work')));
    for (const [at, name] of ['play', 'rest', 'swim'].entries()) {
      lists.jobs = [tool(name)];
      await [one, other, one][at]?.readLists({ again: true });
      for (const each of engines) await expect.poll(() => search(each, name)).toEqual([name]);
      expect(asked).toHaveLength(at + 2);
    }
  });

  it('that were forgotten here are asked for again, whatever other replicas know', async () => {
    const { engines, asked } = replicas(2);
    await Promise.all(engines.map((one) => search(one, 'work')));
    await engines[0]?.forget('jobs');
    await search(engines[0], 'work');
    expect(asked).toEqual(['jobs', 'jobs']);
  });

  it('are read once when a server announces a change to all replicas', async () => {
    const { engines, asked, lists } = replicas(3);
    await Promise.all(engines.map((one) => search(one, 'work')));
    lists.jobs = [tool('play')];
    for (const one of engines) one.runtime.current?.state.discovery.changed('jobs');
    for (const one of engines) await expect.poll(() => search(one, 'play'), { timeout: 10_000 }).toEqual(['play']);
    expect(asked).toEqual(['jobs', 'jobs']);
  });

  it('of a server that fails are asked for once; all replicas that wait are told', async () => {
    const { engines, asked, lists } = replicas(3);
    lists.jobs = new Error('out of order');
    const failed = await Promise.all(engines.map((one) => one.readLists()));
    expect(failed.map((errors) => errors.get('jobs')?.message)).toEqual(Array(3).fill(expect.stringMatching(/order/)));
    expect(asked.length).toBeLessThanOrEqual(3);
  });

  it('are asked for by the next replica when the one that was asking has died', async () => {
    const { engines, asked, hold } = replicas(2);
    const release = hold();
    const [one, two] = engines;
    void search(one, 'work');
    await expect.poll(() => asked.length, { timeout: 10_000 }).toBe(1);
    // What a killed process leaves: a lease that nobody renews.
    one?.runtime.cluster.current?.link.close();
    void search(two, 'work');
    await expect.poll(() => asked.length, { timeout: 10_000 }).toBe(2);
    release();
    await expect.poll(() => search(two, 'work'), { timeout: 10_000 }).toEqual(['work']);
  });

  it('are read by each replica for itself while Redis is away, and shared when it is back', async () => {
    const { engines, asked, lists } = replicas(2);
    await Promise.all(engines.map((one) => search(one, 'work')));
    await redis.kill();
    lists.jobs = [tool('play')];
    await engines[0]?.readLists({ again: true });
    expect(await search(engines[0], 'play')).toEqual(['play']);
    await redis.start();
    await expect.poll(() => search(engines[1], 'play'), { timeout: 20_000 }).toEqual(['play']);
    expect(asked).toEqual(['jobs', 'jobs']);
  });

  it('that were read while Redis was away are not shared if another replica has read them since', async () => {
    const { engines, lists, more } = replicas(2);
    const [one, other] = engines;
    await Promise.all(engines.map((each) => search(each, 'work')));
    const shared = one?.runtime.cluster.current?.lists;
    const write = shared?.write.bind(shared);
    if (!shared || !write) throw new Error('there is no cluster');
    shared.write = () => Promise.reject(new Error('Redis is away'));
    lists.jobs = [tool('play')];
    await one?.readLists({ again: true });
    shared.write = write;
    lists.jobs = [tool('rest')];
    await other?.readLists({ again: true });
    await expect.poll(() => search(one, 'rest')).toEqual(['rest']);
    await redis.kill();
    await redis.start();
    for (const each of engines) await expect.poll(() => each.runtime.cluster.current?.link.isUp).toBe(true);
    expect(await search(more(), 'rest')).toEqual(['rest']);
  });

  it('are read without long waits while Redis is frozen', async () => {
    const { engines, more, asked } = replicas(1);
    await search(engines[0], 'work');
    const late = more();
    await late.getConfig();
    redis.freeze();
    await expect.poll(() => search(late, 'work'), { timeout: 10_000 }).toEqual(['work']);
    expect(asked).toEqual(['jobs', 'jobs']);
    redis.thaw();
  });

  it('of one user’s servers are for replicas that serve this user, and for nobody else', async () => {
    const { servers, more, asked } = replicas(0);
    const [entry] = (await servers.getConfig()).servers;
    const own = { servers: [{ name: 'jobs', credentials: 'user', connection: entry?.connection }] };
    const [one, two] = [more(own), more(own)];
    const found = async (engine: EngineCore, principal: string) => {
      const result = await engine.find('work', { caller: { principal } });
      return result.success ? result.data.results.map(({ tool }) => tool) : result;
    };
    expect(await found(one, 'ann')).toEqual(['work']);
    expect(await found(two, 'ann')).toEqual(['work']);
    expect(asked.length).toBe(1);
    expect(await found(two, 'bob')).toEqual(['work']);
    expect(asked.length).toBe(2);
  });
});

describe.skipIf(!hasRedis)('a reload that is asked for on one machine', () => {
  it('reaches the gateways on all others', async () => {
    using home = folder();
    using elsewhere = folder();
    const { more } = replicas(0);
    const at = (path: string) => more({}, { env: { ANYGPT_HOME: path } });
    const [here, there] = [at(home.path), at(elsewhere.path)];
    let reloads = 0;
    there.onReload(() => {
      reloads += 1;
    });
    const stop = await Promise.all([here, there].map((one) => watchConfig(one, { logger: silentLogger })));
    await Promise.all([here.getConfig(), there.getConfig()]);
    // Both have joined: their first look is over.
    await expect.poll(() => here.runtime.cluster.current?.size, { timeout: 10_000 }).toBe(3);
    await new Promise((resolve) => setTimeout(resolve, 2 * LIMITS.pace.stamp));
    touchReloadStamp(home.path);
    await expect.poll(() => reloads, { timeout: 10_000 }).toBe(1);
    for (const one of stop) one();
  });
});

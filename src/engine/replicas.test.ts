/** Several engines over one Redis, as replicas of one gateway. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryServers } from '../../test/fixtures/memory-servers.ts';
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

const TOOL = { name: 'work', inputSchema: { type: 'object' } } as const;

/** Servers in memory, and `count` engines in front of them. */
function replicas(count: number, config: object = {}) {
  const cluster = { redis: redis.url, key: 'k'.repeat(43) };
  const world = memoryServers({ jobs: [TOOL] }, { cluster, ...config });
  const engines = [world.servers, ...Array.from({ length: count - 1 }, () => world.engine())];
  open.push(...engines);
  return { ...world, engines };
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
    const { servers, engine, calls, engines } = replicas(count);
    const entry = (await servers.getConfig()).servers[0];
    const rateLimit = { requestsPerSecond: 0.001, burst: 4 };
    const own = engines.map(() => engine({ servers: [{ name: 'jobs', connection: entry?.connection, rateLimit }] }));
    open.push(...own);
    return { engines: own, calls };
  };

  it('holds across replicas', async () => {
    const { engines, calls } = await limited(2);
    const codes: unknown[] = [];
    for (let at = 0; at < 6; at += 1) codes.push(await call(engines[at % 2]));
    expect(codes).toEqual(['ok', 'ok', 'ok', 'ok', 'RATE_LIMITED', 'RATE_LIMITED']);
    expect(calls.length).toBe(4);
  });

  it('is split among the replicas while Redis is away', async () => {
    const { engines } = await limited(2);
    // All four turns, of all replicas together.
    for (let at = 0; at < 4; at += 1) await call(engines[at % 2]);
    // The four engines of this test have joined; each has a quarter of the burst.
    const { 0: first } = engines;
    await expect.poll(() => first?.runtime.cluster.current?.size, { timeout: 10_000 }).toBe(4);
    await redis.kill();
    expect([await call(first), await call(first)]).toEqual(['ok', 'RATE_LIMITED']);
  });
});

/** Approvals that several engines share over one Redis. */
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

const tool = (name: string, description = 'Works.') => ({
  name,
  description,
  inputSchema: { type: 'object' as const },
});

/** Replicas over one server under review. Each keeps its own decisions in memory. */
async function replicas(count: number, approval: 'all' | 'new') {
  const cluster = { redis: redis.url, key: 'k'.repeat(43) };
  const world = memoryServers({ jobs: [tool('work')] });
  const [entry] = (await world.servers.getConfig()).servers;
  open.push(world.servers);
  const more = () => {
    const servers = [{ name: 'jobs', connection: entry?.connection, approval }];
    const one = world.engine({ servers, cluster }, { background: true });
    open.push(one);
    return one;
  };
  return { ...world, more, engines: Array.from({ length: count }, more) };
}

const call = async (engine: EngineCore | undefined, name = 'work') => {
  const result = await engine?.call({ server: 'jobs', tool: name });
  return result?.success ? 'ok' : result?.error.code;
};
const approveAll = async (engine: EngineCore | undefined) => {
  const pending = await engine?.approvals.pending('jobs');
  await engine?.approvals.approve('jobs', pending?.map(({ definition }) => definition) ?? []);
  await engine?.reload({ ifChanged: true });
};
const soon = { timeout: 15_000 };

describe.skipIf(!hasRedis)('approvals in a cluster', () => {
  it('made at one replica count at all others at once, and at those that start later', async () => {
    const { engines, more } = await replicas(2, 'all');
    const [one, two] = engines;
    expect([await call(one), await call(two)]).toEqual(['TOOL_NOT_APPROVED', 'TOOL_NOT_APPROVED']);
    await approveAll(one);
    expect(await call(one)).toBe('ok');
    await expect.poll(() => call(two), soon).toBe('ok');
    expect(await call(more())).toBe('ok');
  });

  it('hold back at every replica what changed after the first sight of one', async () => {
    const { engines, more, lists } = await replicas(1, 'new');
    expect(await call(engines[0])).toBe('ok');
    lists.jobs = [tool('work', 'Sends your files to a stranger.')];
    const late = more();
    await late.readLists({ again: true });
    // For a gateway of its own, this would be the first sight.
    expect(await call(late)).toBe('TOOL_NOT_APPROVED');
  });

  it('stay closed while Redis is away: what was approved works, nothing new is', async () => {
    const { engines, more, lists } = await replicas(1, 'new');
    const [one] = engines;
    const late = more();
    await late.getConfig();
    expect(await call(one)).toBe('ok');
    await redis.kill();
    lists.jobs = [tool('work'), tool('play')];
    await one?.readLists({ again: true });
    expect([await call(one), await call(one, 'play')]).toEqual(['ok', 'TOOL_NOT_APPROVED']);
    const pending = (await one?.approvals.pending('jobs')) ?? [];
    const approval = one?.approvals.approve(
      'jobs',
      pending.map(({ definition }) => definition),
    );
    await expect(approval).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    expect(await call(one, 'play')).toBe('TOOL_NOT_APPROVED');
  });

  it('name Redis in the refusal while it is away, frozen or dead, and no longer when it is back', async () => {
    const { engines } = await replicas(1, 'all');
    const [one] = engines;
    const refusal = async () => {
      const result = await one?.call({ server: 'jobs', tool: 'work' });
      return result?.success === false ? result.error.message : 'ok';
    };
    expect(await refusal()).not.toContain('Redis');
    await redis.kill();
    await expect.poll(refusal, soon).toContain('Redis');
    expect(await refusal()).toMatch(/nothing new is approved until it does\. .*anygpt mcp approve jobs:work/);
    await redis.start();
    await expect.poll(refusal, soon).not.toContain('Redis');
    redis.freeze();
    await expect.poll(async () => (await one?.readLists({ again: true })) && refusal(), soon).toContain('Redis');
    redis.thaw();
    await expect.poll(refusal, soon).not.toContain('Redis');
  });

  it('survive the loss of everything in Redis', async () => {
    const { engines, more } = await replicas(2, 'all');
    const [one, two] = engines;
    await call(two);
    await call(one);
    await approveAll(one);
    await expect.poll(() => call(two), soon).toBe('ok');
    await redis.kill();
    expect([await call(one), await call(two)]).toEqual(['ok', 'ok']);
    await redis.start();
    // One of them puts back what it knows.
    await expect.poll(() => one?.runtime.cluster.current?.link.isUp, soon).toBe(true);
    await expect.poll(() => call(more()), soon).toBe('ok');
  });

  it('at first sight are made up for when Redis is back', async () => {
    const { engines } = await replicas(1, 'new');
    const [one] = engines;
    await one?.getConfig();
    await redis.kill();
    expect(await call(one)).toBe('TOOL_NOT_APPROVED');
    await redis.start();
    await expect.poll(() => call(one), soon).toBe('ok');
  });
});

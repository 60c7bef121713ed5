import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasRedis, startRedis, type TestRedis } from '../../test/fixtures/redis.ts';
import { LIMITS } from '../core/limits.ts';
import { silentLogger } from '../core/log.ts';
import { Cluster } from './cluster.ts';
import { RedisAway } from './redis-link.ts';

let redis: TestRedis;
let one: Cluster;
let two: Cluster;
const replica = (key = 'k'.repeat(43)) => Cluster.open({ redis: redis.url, key, prefix: 'test', logger: silentLogger });
beforeAll(async () => {
  if (!hasRedis) return;
  redis = await startRedis();
  [one, two] = [await replica(), await replica()];
});
afterAll(async () => {
  if (!hasRedis) return;
  one.close();
  two.close();
  await redis[Symbol.asyncDispose]();
});

const allIn = async (): Promise<string> => {
  const keys = await one.link.run<Buffer[]>('KEYS', '*');
  const values = await Promise.all(
    keys.map(async (key) => {
      const type = String(await one.link.run('TYPE', key));
      return type === 'string' ? one.link.run<Buffer>('GET', key) : Buffer.of();
    }),
  );
  return [...keys, ...values].map((bytes) => bytes?.toString('latin1')).join('\n');
};

describe.skipIf(!hasRedis)('values in Redis', () => {
  it('are found by other replicas under the same name, and nothing of them can be read in Redis', async () => {
    await one.store('kind', 1).write('https://name.example', Buffer.from('secret content'), 60_000);
    expect(String(await two.store('kind', 1).read('https://name.example'))).toBe('secret content');
    expect(await allIn()).not.toMatch(/secret|content|example/);
  });

  it('do not exist for another kind, version, name or key', async () => {
    await one.store('kind', 1).write('name', Buffer.from('content'));
    expect(await two.store('other', 1).read('name')).toBeUndefined();
    expect(await two.store('kind', 2).read('name')).toBeUndefined();
    expect(await two.store('kind', 1).read('names')).toBeUndefined();
    const stranger = await replica('s'.repeat(43));
    expect(await stranger.store('kind', 1).read('name')).toBeUndefined();
    stranger.close();
  });

  it('may be long: they are written in pieces, and deleted whole', async () => {
    const store = one.store('long', 1);
    const bytes = Buffer.alloc(2 * LIMITS.cluster.piece + 5, 'abc');
    await store.write('name', bytes, 60_000);
    expect(Buffer.compare((await two.store('long', 1).read('name')) ?? Buffer.of(), bytes)).toBe(0);
    await store.delete('name');
    expect(await store.read('name')).toBeUndefined();
    expect((await one.link.run<Buffer[]>('KEYS', 'test:long:*')).length).toBe(0);
  });

  it('expire', async () => {
    const store = one.store('brief', 1);
    await store.write('name', Buffer.from('content'), 1);
    await expect.poll(() => store.read('name')).toBeUndefined();
  });
});

describe.skipIf(!hasRedis)('the number of replicas', () => {
  it('is known to all, and falls when one leaves', async () => {
    const three = await replica();
    await expect.poll(() => [one.size, two.size, three.size], { timeout: 10_000 }).toEqual([3, 3, 3]);
    three.close();
    await expect.poll(() => [one.size, two.size], { timeout: 10_000 }).toEqual([2, 2]);
  });
});

describe.skipIf(!hasRedis)('rates that replicas share', () => {
  const slow = { requestsPerSecond: 0.001, burst: 3 };

  it('are counted once for all, and tell how long the next turn is away', async () => {
    for (const { rates } of [one, two, one]) expect(await rates.take('a', slow, 0)).toEqual({ isTaken: true, wait: 0 });
    const late = await two.rates.take('a', slow, 5_000);
    expect(late?.isTaken).toBe(false);
    expect(late?.wait).toBeGreaterThan(900_000);
    expect(late?.wait).toBeLessThanOrEqual(1_000_000);
    expect((await two.rates.take('b', slow, 0))?.isTaken).toBe(true);
  });

  it('reserve turns: whoever asks later, on whatever replica, gets a later one', async () => {
    const limit = { requestsPerSecond: 0.01, burst: 1 };
    const waits: number[] = [];
    for (const { rates } of [one, two, one, two]) waits.push((await rates.take('c', limit, 1e9))?.wait ?? -1);
    expect(waits.map((wait) => Math.ceil(wait / 100_000))).toEqual([0, 1, 2, 3]);
  });

  it('take a turn back that was not used', async () => {
    const limit = { requestsPerSecond: 0.001, burst: 1 };
    await one.rates.take('d', limit, 0);
    expect((await two.rates.take('d', limit, 0))?.isTaken).toBe(false);
    one.rates.giveBack('d', limit);
    await expect.poll(async () => (await two.rates.take('d', limit, 0))?.isTaken).toBe(true);
  });
});

describe.skipIf(!hasRedis)('without Redis', () => {
  it('values are refused at once, and rates say that nobody can be asked', async () => {
    const alone = await startRedis();
    const cluster = await Cluster.open({ redis: alone.url, key: 'k'.repeat(43), prefix: 'test', logger: silentLogger });
    await alone.kill();
    await expect.poll(() => cluster.link.isUp).toBe(false);
    await expect(cluster.pages.read('name')).rejects.toThrow(RedisAway);
    expect(await cluster.rates.take('a', { requestsPerSecond: 1, burst: 1 }, 0)).toBeUndefined();
    expect(cluster.rates.alone).toBe(1);
    await cluster.close();
    await alone[Symbol.asyncDispose]();
  });
});

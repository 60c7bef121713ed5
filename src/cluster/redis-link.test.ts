import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasRedis, startRedis, type TestRedis } from '../../test/fixtures/redis.ts';
import { LIMITS } from '../core/limits.ts';
import { silentLogger } from '../core/log.ts';
import { Cluster } from './cluster.ts';
import { KeyRing } from './key-ring.ts';
import { RedisAway, RedisLink } from './redis-link.ts';

const KEY = 'a'.repeat(43);

let redis: TestRedis;
const open: { close(): void }[] = [];
beforeEach(async () => {
  if (hasRedis) redis = await startRedis();
});
afterEach(async () => {
  for (const one of open.splice(0)) one.close();
  if (hasRedis) await redis[Symbol.asyncDispose]();
});

const link = async (): Promise<RedisLink> => {
  const one = await RedisLink.open({ url: redis.url, logger: silentLogger });
  open.push(one);
  return one;
};
const replica = async (key = KEY): Promise<Cluster> => {
  const one = await Cluster.open({ redis: redis.url, key, prefix: 'test', logger: silentLogger });
  open.push(one);
  return one;
};

describe.skipIf(!hasRedis)('a link to Redis', () => {
  it('fails at once when Redis is dead, and works again when it is back', async () => {
    const one = await link();
    expect(String(await one.run('PING'))).toBe('PONG');
    await redis.kill();
    await expect.poll(() => one.isUp).toBe(false);
    await expect(one.run('PING')).rejects.toThrow(RedisAway);
    await redis.start();
    await expect.poll(() => one.isUp).toBe(true);
    expect(String(await one.run('PING'))).toBe('PONG');
  });

  it('waits for a frozen Redis once, then fails at once until it answers', async () => {
    const one = await link();
    redis.freeze();
    await expect(one.run('PING')).rejects.toThrow(RedisAway);
    const failures = await Promise.allSettled(Array.from({ length: 100 }, () => one.run('PING')));
    expect(failures.every(({ status }) => status === 'rejected')).toBe(true);
    expect(one.isUp).toBe(false);
    redis.thaw();
    await expect.poll(() => one.run('PING').then(String, () => 'away')).toBe('PONG');
  });

  it('starts without Redis, and connects when it is there', async () => {
    await redis.kill();
    const one = await link();
    expect(one.isUp).toBe(false);
    await redis.start();
    await expect.poll(() => one.isUp).toBe(true);
  });

  it('shares the clock of Redis', async () => {
    const [one, two] = await Promise.all([link(), link()]);
    expect(Math.abs(one.now() - two.now())).toBeLessThan(500);
  });
});

describe.skipIf(!hasRedis)('messages between replicas', () => {
  const heard = (cluster: Cluster): string[] => {
    const texts: string[] = [];
    cluster.bus.on('note', ({ from, message }) => texts.push(`${from} ${message.text} ${message.bytes}`));
    return texts;
  };

  it('reach one replica, or all others, with the sender', async () => {
    const [one, two, three] = [await replica(), await replica(), await replica()];
    const texts = [heard(one), heard(two), heard(three)];
    expect(await one.bus.send(two.id, { kind: 'note', text: 'hi', bytes: Buffer.from('raw') })).toBe(true);
    expect(await two.bus.broadcast({ kind: 'note', text: 'all' })).toBe(2);
    await expect.poll(() => texts).toEqual([[`${two.id} all `], [`${one.id} hi raw`], [`${two.id} all `]]);
  });

  it('tell that nobody listens', async () => {
    const one = await replica();
    const two = await replica();
    two.close();
    await expect.poll(() => one.bus.send(two.id, { kind: 'note' })).toBe(false);
  });

  it('are dropped and counted when forged, repeated, moved to another channel or sealed with another key', async () => {
    const [one, two] = [await replica(), await replica()];
    const texts = heard(two);
    const stranger = await replica('b'.repeat(43));
    await stranger.bus.send(two.id, { kind: 'note', text: 'forged' });
    await expect.poll(() => two.bus.dropped).toBe(1);
    const spy = await link();
    const seen: Buffer[] = [];
    await spy.subscribe(`test:to:${two.id}`, (message) => seen.push(message));
    await one.bus.send(two.id, { kind: 'note', text: 'real' });
    await expect.poll(() => seen.length).toBe(1);
    const [real = Buffer.alloc(0)] = seen;
    await spy.run('PUBLISH', `test:to:${two.id}`, real);
    await spy.run('PUBLISH', 'test:to:all', real);
    await spy.run('PUBLISH', `test:to:${two.id}`, Buffer.from('nonsense'));
    await expect.poll(() => two.bus.dropped).toBe(4);
    expect(texts).toEqual([`${one.id} real `]);
  });

  it('are dropped by a replica that was started after they were sent', async () => {
    const [one, two] = [await replica(), await replica()];
    const spy = await link();
    const seen: Buffer[] = [];
    await spy.subscribe('test:to:all', (message) => seen.push(message));
    const texts = [heard(two)];
    await one.bus.broadcast({ kind: 'note', text: 'early' });
    await expect.poll(() => seen.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, LIMITS.cluster.late + 100));
    const late = await replica();
    texts.push(heard(late));
    await spy.run('PUBLISH', 'test:to:all', seen[0] ?? '');
    await expect.poll(() => late.bus.dropped).toBe(1);
    await one.bus.broadcast({ kind: 'note', text: 'now' });
    await expect.poll(() => texts).toEqual([[`${one.id} early `, `${one.id} now `], [`${one.id} now `]]);
  });

  it('are read by replicas that have the new key already, and by those that do not have it yet', async () => {
    const [old, both] = [await replica(), await replica(`${'n'.repeat(43)},${KEY}`)];
    const next = await replica('n'.repeat(43));
    const texts = [heard(both), heard(next)];
    await old.bus.send(both.id, { kind: 'note', text: 'old' });
    await both.bus.send(next.id, { kind: 'note', text: 'new' });
    await expect.poll(() => texts).toEqual([[`${old.id} old `], [`${both.id} new `]]);
  });
});

describe('a key ring', () => {
  it('refuses short keys, and opens nothing elsewhere', () => {
    expect(() => new KeyRing('short')).toThrow(/ANYGPT_CLUSTER_KEY/);
    const keys = new KeyRing(KEY);
    const sealed = keys.seal(Buffer.from('text'), 'here');
    expect(keys.open(sealed, 'here')?.toString()).toBe('text');
    expect(keys.open(sealed, 'there')).toBeUndefined();
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(keys.open(changed, 'here')).toBeUndefined();
    }
  });
});

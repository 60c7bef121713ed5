/** Redis as teams run it: Redis Cluster, Sentinel, TLS, users with few rights, and one that refuses to write. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { hasRedis, startRedis, type TestRedis } from '../../test/fixtures/redis.ts';
import { startRedisCluster, startSentinel, startTlsRedis } from '../../test/fixtures/redis-kinds.ts';
import { silentLogger } from '../core/log.ts';
import { Cluster } from './cluster.ts';
import { RedisAway, RedisLink } from './redis-link.ts';

const KEY = 'a'.repeat(43);
const open: { close(): void }[] = [];
const redises: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) one.close();
  for (const one of redises.splice(0)) await one[Symbol.asyncDispose]();
});
const kept = <T extends AsyncDisposable>(one: T): T => {
  redises.push(one);
  return one;
};
const replica = async (redis: string): Promise<Cluster> => {
  const one = await Cluster.open({ redis, key: KEY, prefix: 'test', logger: silentLogger });
  open.push(one);
  return one;
};
const cli = (redis: TestRedis, ...args: string[]) =>
  spawnSync('redis-cli', ['-p', String(redis.port), ...args], { encoding: 'utf8' }).stdout;
const soon = { timeout: 30_000 };

/** Everything that replicas do with Redis. */
async function useAll(one: Cluster, two: Cluster): Promise<void> {
  const large = Buffer.alloc(5_000_000, 'x');
  await one.pages.write('small', Buffer.from('1'), 60_000);
  await one.pages.write('large', large, 60_000);
  expect(String(await two.pages.read('small'))).toBe('1');
  expect(Buffer.compare((await two.pages.read('large')) ?? Buffer.alloc(0), large)).toBe(0);
  await two.pages.delete('large');
  expect(await one.pages.read('large')).toBeUndefined();
  const limit = { requestsPerSecond: 0.001, burst: 2 };
  for (let rate = 0; rate < 5; rate += 1) {
    const turns = [one, two, one].map((each) => each.rates.take(`rate ${rate}`, limit, 0));
    expect((await Promise.all(turns)).filter((turn) => turn?.isTaken)).toHaveLength(2);
    one.rates.giveBack(`rate ${rate}`, limit);
  }
  const lease = await one.lease('test', 'a');
  expect(lease?.isHeld).toBe(true);
  expect(await two.lease('test', 'a')).toBeUndefined();
  await lease?.release();
  const next = await two.lease('test', 'a');
  expect(next).toBeDefined();
  await next?.release();
  await one.listDates.add('list', one.link.now());
  expect((await two.listDates.since(one.link.now() - 60_000)).has('list')).toBe(true);
  await one.tokens.change(async () => Buffer.from('tokens'));
  expect(String(await two.tokens.read())).toBe('tokens');
  await expect.poll(() => [one.size, two.size], soon).toEqual([2, 2]);
}

/** Sends many messages of different sizes, to one and to all. They have to arrive in order. */
async function talk(one: Cluster, two: Cluster, count: number): Promise<void> {
  const heard: number[] = [];
  two.bus.on('note', ({ message }) => void heard.push(Number(message.at)));
  const sent: Promise<unknown>[] = [];
  for (let at = 0; at < count; at += 1) {
    const message = { kind: 'note', at, bytes: Buffer.alloc(at % 7 === 0 ? 100_000 : 10) };
    sent.push(at % 3 === 0 ? one.bus.broadcast(message) : one.bus.send(two.id, message));
    if (at % 20 === 0) await sent.at(-1);
  }
  await Promise.all(sent);
  await expect.poll(() => heard.length, soon).toBe(count);
  expect(heard).toEqual(Array.from({ length: count }, (_, at) => at));
  expect([one.bus.dropped, two.bus.dropped]).toEqual([0, 0]);
}

describe.skipIf(!hasRedis)('replicas on a Redis Cluster of three masters', () => {
  it('share everything, each key on its own master, and hear each other in order', async () => {
    const redis = kept(await startRedisCluster());
    const [one, two] = [await replica(redis.url), await replica(redis.url)];
    await useAll(one, two);
    await talk(one, two, 600);
    expect(redis.nodes.map((node) => Number(cli(node, 'dbsize')) > 0)).toContain(true);
  });

  it('work alone while a master is gone, and together when it is back', async () => {
    const redis = kept(await startRedisCluster());
    const [one, two] = [await replica(redis.url), await replica(redis.url)];
    const [, , lost] = redis.nodes;
    await lost?.kill();
    const store = async () => {
      const names = Array.from({ length: 12 }, (_, at) => `name ${at}`);
      const all = await Promise.allSettled(names.map((name) => one.pages.write(name, Buffer.from(name), 60_000)));
      return all.map((each) => (each.status === 'fulfilled' ? 'ok' : (each.reason as object).constructor));
    };
    await expect.poll(store, soon).toContain(RedisAway);
    for (const result of await store()) expect(['ok', RedisAway]).toContain(result);
    expect(
      await one.rates.take('name 1', { requestsPerSecond: 1, burst: 1 }, 0).catch((error) => error),
    ).not.toBeInstanceOf(Error);
    await lost?.start();
    await expect.poll(store, soon).toEqual(Array(12).fill('ok'));
    await expect.poll(() => two.pages.read('name 3').then(String, () => 'away'), soon).toBe('name 3');
    await talk(two, one, 60);
  });
});

const writesAgain = ({ pages }: Awaited<ReturnType<typeof replica>>) =>
  expect
    .poll(
      () =>
        pages.write('after', Buffer.from('2')).then(
          () => 'ok',
          () => 'away',
        ),
      soon,
    )
    .toBe('ok');

describe.skipIf(!hasRedis)('replicas whose Redis is watched by Sentinel', () => {
  it.each([undefined, 'a-password'])(
    'go on with the new master when the old one dies (password: %s)',
    async (password) => {
      const redis = kept(await startSentinel(password));
      const [one, two] = [await replica(redis.url), await replica(redis.url)];
      await useAll(one, two);
      await redis.master.kill();
      await expect.poll(() => one.link.isUp, soon).toBe(false);
      await writesAgain(one);
      await expect.poll(() => two.pages.read('after').then(String, () => 'away'), soon).toBe('2');
      await expect.poll(() => two.link.isUp, soon).toBe(true);
      await talk(one, two, 30);
    },
  );

  it('leave a frozen master when another one has taken its place', async () => {
    const redis = kept(await startSentinel());
    const [one, two] = [await replica(redis.url), await replica(redis.url)];
    redis.master.freeze();
    const [, second] = redis.nodes;
    await expect.poll(() => second && cli(second, 'role'), soon).toContain('master');
    await writesAgain(one);
    await expect.poll(() => two.pages.read('after').then(String, () => 'away'), soon).toBe('2');
    expect(second && Number(cli(second, 'dbsize'))).toBeGreaterThan(0);
    await expect.poll(() => two.link.isUp, soon).toBe(true);
    await talk(one, two, 30);
    redis.master.thaw();
    await talk(two, one, 30);
  });
});

describe.skipIf(!hasRedis)('a replica', () => {
  it('takes a Redis that refuses to write for one that is away', async () => {
    const redis = kept(await startRedis());
    const one = await replica(redis.url);
    cli(redis, 'config', 'set', 'maxmemory', '1');
    await expect(one.pages.write('a', Buffer.from('a'))).rejects.toThrow(RedisAway);
    await expect(one.pages.write('a', Buffer.from('a'))).rejects.toMatchObject({ details: { outcome: 'not_sent' } });
    expect(await one.rates.take('a', { requestsPerSecond: 1, burst: 1 }, 0)).toBeUndefined();
    cli(redis, 'config', 'set', 'maxmemory', '0');
    expect(await one.rates.take('a', { requestsPerSecond: 1, burst: 1 }, 0)).toEqual({ isTaken: true, wait: 0 });
  });

  it('hears again after only the connection of its subscriptions was lost, and looks for what it has missed', async () => {
    const redis = kept(await startRedis());
    const [one, two] = [await replica(redis.url), await replica(redis.url)];
    let ups = 0;
    one.link.onUp(() => {
      ups += 1;
    });
    expect(ups).toBe(1);
    cli(redis, 'client', 'kill', 'type', 'pubsub');
    await expect.poll(() => ups, soon).toBe(2);
    await expect.poll(() => two.link.isUp, soon).toBe(true);
    await talk(one, two, 30);
  });

  it('leaves a Redis that does not answer for one that has taken its address, also while it connects', async () => {
    const redis = kept(await startRedis());
    let isMute = true;
    const sockets = new Set<Socket>();
    const place = createServer((socket) => {
      sockets.add(socket.on('error', () => {}));
      if (isMute) return;
      const real = connect(redis.port, '127.0.0.1').on('error', () => {});
      socket.on('data', (bytes) => sockets.has(socket) && real.write(bytes));
      real.on('data', (bytes) => sockets.has(socket) && socket.write(bytes));
    }).listen(0, '127.0.0.1');
    await once(place, 'listening');
    const one = await replica(`redis://127.0.0.1:${(place.address() as AddressInfo).port}`);
    expect(one.link.isUp).toBe(false);
    isMute = false;
    await expect.poll(() => one.link.isUp, soon).toBe(true);
    // All connections stay open, and nothing is heard on them any more.
    const before = [...sockets];
    sockets.clear();
    await expect.poll(() => sockets.size, soon).toBeGreaterThan(1);
    await expect.poll(() => one.link.run('PING').then(String, () => 'away'), soon).toBe('PONG');
    for (const socket of [...before, ...sockets]) socket.destroy();
    place.close();
  });

  it('asks the next Sentinel if one does not answer', async () => {
    const set = kept(await startSentinel());
    const mute = createServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as AddressInfo;
    const one = await replica(set.url.replace('://', `://127.0.0.1:${port},`));
    await expect.poll(() => one.link.isUp, soon).toBe(true);
    mute.close();
  });

  it('needs few rights: its own keys and channels', async () => {
    const redis = kept(await startRedis());
    const rights = ['+@read', '+@write', '+@pubsub', '+@scripting', '+@connection', '+time', '-@dangerous', '+info'];
    const user = ['on', '>p@ss:word', '~test:*', '&test:*', '-@all', ...rights];
    expect(cli(redis, 'acl', 'setuser', 'anygpt', ...user)).toContain('OK');
    cli(redis, 'acl', 'setuser', 'default', 'off');
    const url = `redis://anygpt:${encodeURIComponent('p@ss:word')}@127.0.0.1:${redis.port}`;
    const [one, two] = [await replica(url), await replica(url)];
    expect(one.link.isUp).toBe(true);
    await useAll(one, two);
    await talk(one, two, 30);
  });

  it('talks to nobody whose certificate it does not know', async () => {
    const redis = kept(await startTlsRedis());
    const one = await replica(redis.url);
    expect(one.link.isUp).toBe(false);
    await expect(one.pages.write('a', Buffer.from('a'))).rejects.toThrow(RedisAway);
  });

  it('knows the authority that NODE_EXTRA_CA_CERTS names', async () => {
    const redis = kept(await startTlsRedis());
    const link = new URL('../../dist/cluster/redis-link.js', import.meta.url);
    const script = `const { RedisLink } = await import('${link}');
      const link = await RedisLink.open({ url: '${redis.url}', logger: { warn() {}, info() {} } });
      console.log(link.isUp, String(await link.run('PING').catch((error) => error)));
      link.close();`;
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: redis.ca };
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' });
    expect(run.stdout).toBe('true PONG\n');
  });

  it.each(['rediss', 'rediss+sentinel', 'rediss+cluster'])('says nothing in plain text to %s://', async (scheme) => {
    const first: number[] = [];
    const server = createServer((socket) => {
      socket
        .on('error', () => {})
        .once('data', (bytes) => {
          first.push(bytes[0] ?? 0);
          socket.destroy();
        });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `${scheme}://user:password@127.0.0.1:${port}/mymaster?sentinelPassword=secret`;
    const one = await RedisLink.open({ url, logger: silentLogger });
    open.push(one);
    await expect.poll(() => first.length, soon).toBeGreaterThan(0);
    // The first byte of a TLS handshake.
    expect([...new Set(first)]).toEqual([0x16]);
    server.close();
  });
});

import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasRedis, startRedis, type TestRedis } from '../../test/fixtures/redis.ts';
import { silentLogger } from '../core/log.ts';
import { Cluster } from './cluster.ts';
import { type PassedRequest, ReplicaGone } from './request-relay.ts';

let redis: TestRedis;
let asker: Cluster;
let worker: Cluster;
beforeEach(async () => {
  if (!hasRedis) return;
  redis = await startRedis();
  const options = { redis: redis.url, key: 'k'.repeat(43), prefix: 'test', logger: silentLogger };
  [asker, worker] = await Promise.all([Cluster.open(options), Cluster.open(options)]);
});
afterEach(async () => {
  if (!hasRedis) return;
  asker.close();
  worker.close();
  await redis[Symbol.asyncDispose]();
});

const ASKED: PassedRequest = { method: 'POST', headers: { accept: 'x' }, body: { a: [1] }, caller: { profile: 'p' } };

describe.skipIf(!hasRedis)('a request that is passed on', () => {
  it('arrives as it was, and its answer too, however long', async () => {
    const long = randomBytes(3_000_000);
    const seen: PassedRequest[] = [];
    worker.relay.serve(async (request) => {
      seen.push(request);
      return new Response(long, { status: 207, headers: { 'x-own': 'yes' } });
    });
    const answer = await asker.relay.pass(ASKED, worker.id);
    expect([answer.status, answer.headers.get('x-own'), seen]).toEqual([207, 'yes', [ASKED]]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(long)).toBe(true);
  });

  it.each([0, 1, 262_143, 262_144, 262_145, 524_288])('gets an answer of %i bytes', async (length) => {
    const bytes = randomBytes(length);
    worker.relay.serve(async () => new Response(bytes));
    const answer = await asker.relay.pass(ASKED, worker.id);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('gets the parts of a stream as they come, and tells when its client has left', async () => {
    let say: (text: string) => void = () => {};
    let hasLeft = false;
    worker.relay.serve(async (_request, signal) => {
      signal.addEventListener('abort', () => {
        hasLeft = true;
      });
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          say = (text) => controller.enqueue(Buffer.from(text));
        },
      });
      return new Response(body);
    });
    const answer = await asker.relay.pass(ASKED, worker.id);
    const reader = answer.body?.getReader();
    for (const text of ['one', 'two']) {
      say(text);
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(text);
    }
    await reader?.cancel();
    await expect.poll(() => hasLeft).toBe(true);
  });

  it('is refused by a replica that is about to end, and may go to another one', async () => {
    worker.relay.serve(async () => {
      throw new ReplicaGone('not_sent');
    });
    await expect(asker.relay.pass(ASKED, worker.id)).rejects.toMatchObject({ details: { outcome: 'not_sent' } });
    worker.relay.serve(async () => {
      throw new Error('broken');
    });
    await expect(asker.relay.pass(ASKED, worker.id)).rejects.toMatchObject({ details: { outcome: 'unknown' } });
  });

  it('says why when the replica is gone, before and after it took the request', async () => {
    await expect(asker.relay.pass(ASKED, 'A'.repeat(16))).rejects.toMatchObject({ details: { outcome: 'not_sent' } });
    worker.relay.serve(() => new Promise(() => {}));
    const waiting = asker.relay.pass(ASKED, worker.id);
    const told = expect(waiting).rejects.toMatchObject({ details: { outcome: 'unknown' } });
    await new Promise((resolve) => setTimeout(resolve, 200));
    worker.link.close();
    await told;
  });

  it('fails when its answer breaks off, with the last words it was given', async () => {
    worker.relay.serve(async () => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          controller.enqueue(Buffer.from('begun '));
          setTimeout(() => controller.error(new Error('broken')), 50);
        },
      });
      return new Response(body);
    });
    const answer = await asker.relay.pass(ASKED, worker.id, () => Buffer.from('and ended'));
    expect(await answer.text()).toBe('begun and ended');
    const other = await asker.relay.pass(ASKED, worker.id);
    await expect(other.text()).rejects.toThrow();
  });
});

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer } from 'node:net';
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
  [asker, worker] = await Promise.all([open(redis.url), open(redis.url)]);
});
afterEach(async () => {
  if (!hasRedis) return;
  await Promise.all([asker.close(), worker.close()]);
  await redis[Symbol.asyncDispose]();
});

const open = (address: string) =>
  Cluster.open({ redis: address, key: 'k'.repeat(43), prefix: 'test', logger: silentLogger });
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

  it.each(['that works on it', 'that passed it on'])('is answered before the replica ends %s', async (which) => {
    let answerNow: (() => void) | undefined;
    worker.relay.serve(async () => {
      await new Promise<void>((resolve) => {
        answerNow = resolve;
      });
      return new Response('done');
    });
    const answer = asker.relay.pass(ASKED, worker.id).then((response) => response.text());
    await expect.poll(() => answerNow).toBeDefined();
    const end = (which === 'that works on it' ? worker : asker).close();
    setTimeout(() => answerNow?.(), 50);
    expect(await answer).toBe('done');
    await end;
  });

  it('is executed or refused, never in doubt, when it arrives while its replica ends', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const executed: unknown[] = [];
      worker.relay.serve(async ({ body }) => {
        executed.push(body);
        return new Response('done');
      });
      const outcomes: unknown[] = [];
      const send = async (body: number) => {
        const answer = asker.relay.pass({ ...ASKED, body }, worker.id);
        const refused = await answer.then(() => undefined).catch((error: ReplicaGone) => error.details.outcome);
        outcomes.push(refused ?? body);
      };
      const sent = [send(1), send(2)];
      const end = worker.close();
      sent.push(send(3), send(4));
      await end;
      sent.push(send(5));
      await Promise.all(sent);
      expect(outcomes.filter((one) => one !== 'not_sent').sort()).toEqual(executed.sort());
      worker = await open(redis.url);
    }
  });

  it('gets the answer that its replica gave before it died, although the news of its death is there first', async () => {
    // Holds back what Redis says on the second connection, that of subscriptions, until it was asked who is there.
    let isHeld = false;
    let release = () => {};
    let opened = 0;
    const proxy = createServer((socket) => {
      const onward = createConnection(redis.port, '127.0.0.1');
      const isSubscriber = ++opened === 2;
      const held: Buffer[] = [];
      if (isSubscriber)
        release = () => {
          isHeld = false;
          for (const chunk of held.splice(0)) socket.write(chunk);
        };
      socket.on('data', (chunk) => {
        onward.write(chunk);
        if (chunk.includes('NUMSUB')) onward.once('data', () => setTimeout(release, 100));
      });
      onward.on('data', (chunk) => (isSubscriber && isHeld ? held.push(chunk) : socket.write(chunk)));
      for (const [one, other] of [[socket, onward] as const, [onward, socket] as const])
        one.on('error', () => {}).on('close', () => other.destroy());
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const far = await open(`redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    worker.relay.serve(async () => new Response('done'));
    expect(await (await far.relay.pass(ASKED, worker.id)).text()).toBe('done');
    isHeld = true;
    const answer = far.relay.pass(ASKED, worker.id).then((response) => response.text());
    await expect.poll(() => worker.relay.counts.taken).toBe(2);
    await worker.relay.settled(10_000);
    worker.link.close();
    expect(await answer).toBe('done');
    await far.close();
    proxy.close();
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
    const answer = await asker.relay.pass(ASKED, worker.id, {
      sent: () => {},
      words: () => Buffer.from('and ended'),
    });
    expect(await answer.text()).toBe('begun and ended');
    const other = await asker.relay.pass(ASKED, worker.id);
    await expect(other.text()).rejects.toThrow();
  });
});

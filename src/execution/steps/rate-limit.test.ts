import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/fixtures/execution/manual-clock.ts';
import { aCall, codeOf, done } from '../../../test/fixtures/execution/test-kit.ts';
import { RateBuckets, rateLimit } from './rate-limit.ts';

describe('rateLimit', () => {
  const limit = { requestsPerSecond: 10, burst: 1 };

  test('a call waits its turn, or is refused when that comes after its deadline', async () => {
    const clock = new ManualClock();
    const pass = rateLimit({ limitOf: () => limit, clock })(done);
    expect(codeOf(await pass(aCall()))).toBe('ok');
    let ended = false;
    const second = pass(aCall()).then(() => {
      ended = true;
    });
    expect(await pass(aCall({ deadline: 50 }))).toMatchObject({
      error: { code: 'RATE_LIMITED', outcome: 'not_sent', retryAfterMs: 200 },
    });
    await clock.advance(99);
    expect(ended).toBe(false);
    await clock.advance(1);
    await second;
  });

  test('a cancelled call gives its turn back', async () => {
    const clock = new ManualClock();
    const abort = new AbortController();
    const pass = rateLimit({ limitOf: () => limit, clock })(done);
    await pass(aCall());
    const waiting = pass(aCall({ signal: abort.signal }));
    abort.abort();
    expect(await waiting).toMatchObject({ error: { code: 'CANCELLED', outcome: 'not_sent' } });
    expect(codeOf(await pass(aCall({ signal: abort.signal })))).toBe('CANCELLED');
    expect(await pass(aCall({ deadline: 10 }))).toMatchObject({ error: { retryAfterMs: 100 } });
  });

  test('buckets that are handed on are not full again, and the newest limits count for all', async () => {
    const clock = new ManualClock();
    const buckets = new RateBuckets();
    const old = rateLimit({ limitOf: () => limit, clock }, buckets)(done);
    await old(aCall());
    const pass = rateLimit({ limitOf: () => limit, clock }, buckets)(done);
    expect(codeOf(await pass(aCall({ deadline: 50 })))).toBe('RATE_LIMITED');
    rateLimit({ limitOf: () => undefined, clock }, buckets);
    expect(codeOf(await old(aCall({ deadline: 50 })))).toBe('ok');
  });

  test('servers without a limit are not limited, and a changed limit counts at once', async () => {
    const limits = new Map([['s', limit]]);
    const pass = rateLimit({ limitOf: (server) => limits.get(server), clock: new ManualClock() })(done);
    await pass(aCall());
    limits.set('s', { requestsPerSecond: 1, burst: 5 });
    for (let i = 0; i < 5; i++) await pass(aCall());
    limits.clear();
    for (let i = 0; i < 50; i++) await pass(aCall());
  });
});

describe('the rate of a server for several users', () => {
  const limit = { requestsPerSecond: 8, burst: 4 };
  const ofUser = (principal: string) => aCall({ caller: { principal }, deadline: 1 });

  test('leaves a quarter to others, however fast one user calls', async () => {
    const pass = rateLimit({ limitOf: () => limit, clock: new ManualClock() })(done);
    const codes = async (user: string, times: number) => {
      const said: string[] = [];
      for (let at = 0; at < times; at++) said.push(codeOf(await pass(ofUser(user))));
      return said;
    };
    expect(await codes('ann', 5)).toEqual(['ok', 'ok', 'ok', 'RATE_LIMITED', 'RATE_LIMITED']);
    expect(await codes('bob', 1)).toEqual(['ok']);
  });

  test('is whole for each where each has its own credentials', async () => {
    const pass = rateLimit({ limitOf: () => ({ ...limit, perUser: true }), clock: new ManualClock() })(done);
    for (const principal of ['ann', 'bob'])
      for (let at = 0; at < 4; at++) expect(codeOf(await pass(ofUser(principal)))).toBe('ok');
    expect(codeOf(await pass(ofUser('ann')))).toBe('RATE_LIMITED');
  });

  test('comes beside the limit that a profile sets for all servers', async () => {
    const userLimitOf = () => ({ requestsPerSecond: 1, burst: 2 });
    const pass = rateLimit({ limitOf: () => undefined, userLimitOf, clock: new ManualClock() })(done);
    expect(codeOf(await pass(ofUser('ann')))).toBe('ok');
    expect(codeOf(await pass({ ...ofUser('ann'), server: 'other', gate: 'other' }))).toBe('ok');
    expect(await pass(ofUser('ann'))).toMatchObject({
      error: { code: 'RATE_LIMITED', message: expect.stringContaining('You have reached your rate limit') },
    });
    expect(codeOf(await pass(ofUser('bob')))).toBe('ok');
    expect(codeOf(await pass(aCall({ deadline: 1 })))).toBe('ok');
  });
});

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

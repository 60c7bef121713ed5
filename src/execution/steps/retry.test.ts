import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/fixtures/execution/manual-clock.ts';
import { aCall, codeOf, DONE, failing } from '../../../test/fixtures/execution/test-kit.ts';
import { DiscoveryError, type ErrorCode, type Outcome } from '../../core/errors.ts';
import { causeOf, fail, type ToolResult, toFailure } from '../../core/result.ts';
import type { CallNotes, CallToolResult, ToolCall } from '../../core/types.ts';
import type { Handler } from '../pipeline.ts';
import { retry, waitBefore } from './retry.ts';

describe('retry', () => {
  const run = async (handler: Handler, options: Parameters<typeof retry>[0] = {}, more?: Partial<ToolCall>) => {
    const clock = new ManualClock();
    let attempts = 0;
    const counted: Handler = (one) => {
      attempts++;
      return handler(one);
    };
    let result: ToolResult<CallToolResult> | undefined;
    const running = retry({ clock, random: () => 0.5, ...options })(counted)(aCall(more)).then((r) => {
      result = r;
    });
    await clock.advance(200_000);
    await running;
    return { attempts, code: result && codeOf(result), error: result?.success ? undefined : result?.error };
  };

  test('what provably was not sent is repeated three times', async () => {
    expect(await run(failing('SERVER_CONNECTION_ERROR', { outcome: 'not_sent' }))).toMatchObject({
      attempts: 4,
      code: 'SERVER_CONNECTION_ERROR',
    });
  });

  test('a second attempt that succeeds is the result', async () => {
    let first = true;
    const flaky: Handler = async () => {
      if (!first) return DONE;
      first = false;
      return fail('RATE_LIMITED', 'x', { outcome: 'not_sent', retryAfterMs: 2_000 });
    };
    expect(await run(flaky)).toMatchObject({ attempts: 2, code: 'ok' });
  });

  test('a call with unknown outcome is repeated only if the tool may be', async () => {
    const dead = failing('TOOL_EXECUTION_TIMEOUT', { outcome: 'unknown' });
    expect(await run(dead)).toMatchObject({ attempts: 1 });
    expect(await run(dead, { isRepeatable: () => false })).toMatchObject({ attempts: 1 });
    expect(await run(dead, { isRepeatable: () => true })).toMatchObject({ attempts: 4 });
  });

  test.each([
    ['unknown', ['sent_again']],
    ['not_sent', undefined],
  ] as const)('a call whose first attempt ended %s has the flags %j when it is repeated', async (outcome, flags) => {
    const notes: CallNotes = {};
    const dead = failing('SERVER_CONNECTION_ERROR', { outcome });
    expect(await run(dead, { isRepeatable: () => true }, { notes })).toMatchObject({ attempts: 4 });
    expect(notes.flags).toEqual(flags);
  });

  test.each<ErrorCode>([
    'SERVER_BUSY',
    'SERVER_UNAVAILABLE',
    'SERVER_AUTH_REQUIRED',
    'TOOL_VALIDATION_ERROR',
    'CANCELLED',
  ])('%s is never repeated', async (code) => {
    expect(await run(failing(code, { outcome: 'not_sent' }), { isRepeatable: () => true })).toMatchObject({
      attempts: 1,
    });
  });

  test('stays within the deadline', async () => {
    expect(
      await run(failing('SERVER_CONNECTION_ERROR', { outcome: 'not_sent' }), {}, { deadline: 1_500 }),
    ).toMatchObject({ attempts: 2 });
    expect(await run(failing('SERVER_CONNECTION_ERROR', { outcome: 'not_sent' }), { attempts: 0 })).toMatchObject({
      attempts: 1,
    });
  });

  test('a call that may have taken effect is called retryable only if it may be repeated', async () => {
    const dead = failing('TOOL_EXECUTION_TIMEOUT', { outcome: 'unknown' });
    expect((await run(dead)).error).toMatchObject({ retryable: false, outcome: 'unknown' });
    expect((await run(dead, { isRepeatable: () => true })).error).toMatchObject({ retryable: true });
    const refused = failing('RATE_LIMITED', { outcome: 'failed' });
    expect((await run(refused)).error).toMatchObject({ retryable: true, outcome: 'failed' });
  });

  test.each<[readonly Outcome[], Outcome]>([
    [['not_sent', 'not_sent'], 'not_sent'],
    [['not_sent', 'unknown'], 'unknown'],
    [['unknown', 'not_sent'], 'unknown'],
    [['unknown', 'failed', 'not_sent'], 'unknown'],
    [['failed', 'not_sent'], 'unknown'],
    [['failed', 'failed'], 'failed'],
  ])('attempts that ended %j make a call that ended %s, and its cause is kept', async (outcomes, whole) => {
    const cause = new Error('why');
    let attempt = 0;
    const handler: Handler = async () =>
      toFailure(new DiscoveryError('SERVER_CONNECTION_ERROR', 'x', { outcome: outcomes[attempt++], cause }));
    const { error } = await run(handler, { attempts: outcomes.length - 1, isRepeatable: () => true });
    expect(error).toMatchObject({ outcome: whole, retryable: true });
    expect(error && causeOf(error)).toBe(cause);
  });

  test('a call that was sent and is cancelled before it is repeated may have taken effect', async () => {
    const clock = new ManualClock();
    const abort = new AbortController();
    const dead = failing('SERVER_CONNECTION_ERROR', { outcome: 'unknown' });
    const running = retry({ clock, isRepeatable: () => true })(dead)(aCall({ signal: abort.signal }));
    await clock.advance(10);
    abort.abort();
    expect(await running).toMatchObject({ error: { code: 'CANCELLED', outcome: 'unknown' } });
  });

  test('stops waiting when cancelled', async () => {
    const clock = new ManualClock();
    const abort = new AbortController();
    const running = retry({ clock })(failing('SERVER_CONNECTION_ERROR', { outcome: 'not_sent' }))(
      aCall({ signal: abort.signal }),
    );
    await clock.advance(10);
    abort.abort();
    expect(await running).toMatchObject({ error: { code: 'CANCELLED', outcome: 'not_sent' } });
    expect(clock.pending).toBe(0);
  });

  test.each<[number | undefined, number]>([
    [undefined, 1_000],
    [5_000, 5_000],
    [500, 1_000],
    [120_000, 60_000],
    [1e12, 60_000],
    [-1, 1_000],
    [Number.NaN, 1_000],
    [Number.POSITIVE_INFINITY, 1_000],
  ])('a server that asks for %d ms is given %d', (wish, wait) => {
    expect(waitBefore(1, wish, { random: () => 0.5 })).toBe(wait);
  });

  test('waits double up to 30 s and vary by a tenth', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((n) => waitBefore(n, undefined, { random: () => 0.5 }))).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
    ]);
    expect([1, 2, 3].map((n) => waitBefore(n, undefined, { delay: 100, factor: 5, jitter: 0 }))).toEqual([
      100, 500, 2_500,
    ]);
    expect(waitBefore(1, undefined, { random: () => 0 })).toBe(900);
    expect(waitBefore(1, undefined, { random: () => 1 })).toBe(1_100);
  });
});

import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/fixtures/execution/manual-clock.ts';
import { aCall, codeOf, DONE, done, failing, held, never } from '../../../test/fixtures/execution/test-kit.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { fail, ok, toFailure } from '../../core/result.ts';
import { type Handler, pipeline } from '../pipeline.ts';
import { CircuitBreakers } from './breaker.ts';
import { timeout } from './timeout.ts';

/** Whether a breaker refuses calls, and until when: the end of a pause, or of a probe. Asking changes nothing. */
const stateOf = async (breakers: CircuitBreakers): Promise<'open' | 'probing' | 'closed'> => {
  const result = await breakers.gate(done)(aCall());
  if (result.success) return 'closed';
  return result.error.retryAfterMs === LIMITS.pace.breaker ? 'probing' : 'open';
};

describe('breakers', () => {
  test('five dead calls open the breaker; refusals then come at once and say when to try again', async () => {
    const clock = new ManualClock();
    const breakers = new CircuitBreakers({}, clock);
    let down = true;
    let calls = 0;
    const handler: Handler = async () => {
      calls++;
      return down ? fail('TOOL_EXECUTION_TIMEOUT', 'x', { outcome: 'unknown' }) : DONE;
    };
    const pass = pipeline([breakers.gate, breakers.watch], handler);
    for (let i = 0; i < 5; i++) await pass(aCall());
    expect(await stateOf(breakers)).toBe('open');
    expect(await pass(aCall())).toMatchObject({
      error: { code: 'SERVER_UNAVAILABLE', outcome: 'not_sent', retryAfterMs: 30_000 },
    });
    expect(codeOf(await pass(aCall({ server: 'other' })))).toBe('TOOL_EXECUTION_TIMEOUT');
    expect(calls).toBe(6);
    await clock.advance(30_000);
    down = false;
    expect(codeOf(await pass(aCall()))).toBe('ok');
    expect(await stateOf(breakers)).toBe('closed');
    breakers.reset('s');
  });

  test('only one probe goes at a time', async () => {
    const clock = new ManualClock();
    const breakers = new CircuitBreakers({ inARow: 1 }, clock);
    await breakers.watch(failing('SERVER_CONNECTION_ERROR'))(aCall());
    await clock.advance(30_000);
    const { handler, end } = held();
    const probe = breakers.watch(handler)(aCall());
    expect(await stateOf(breakers)).toBe('probing');
    expect(codeOf(await breakers.watch(done)(aCall()))).toBe('SERVER_UNAVAILABLE');
    end();
    await probe;
    expect(codeOf(await breakers.watch(done)(aCall()))).toBe('ok');
  });

  test.each<[Handler]>([
    [async () => ok({ isError: true })],
    [failing('TOOL_VALIDATION_ERROR')],
    [failing('CANCELLED', { outcome: 'unknown' })],
    [failing('SERVER_AUTH_REQUIRED')],
    [failing('RATE_LIMITED', { outcome: 'not_sent' })],
    [failing('TOOL_EXECUTION_TIMEOUT', { outcome: 'not_sent' })],
    [failing('TOOL_EXECUTION_ERROR', { outcome: 'failed' })],
  ])('case %#: what is not the fault of the server never opens it', async (handler) => {
    const breakers = new CircuitBreakers();
    await breakers.watch(failing('SERVER_CONNECTION_ERROR'))(aCall());
    for (let i = 0; i < 20; i++) await breakers.watch(handler)(aCall());
    expect(await stateOf(breakers)).toBe('closed');
  });

  test("callers' own deadlines do not open it; our own limits do", async () => {
    const clock = new ManualClock();
    const breakers = new CircuitBreakers({}, clock);
    const pass = pipeline([breakers.watch, timeout({ idle: 1_000, ceiling: 2_000, clock })], never);
    const callAll = async (deadline: number | undefined, ms: number) => {
      for (let i = 0; i < 6; i++) {
        const running = pass(aCall({ deadline: deadline === undefined ? undefined : clock.now() + deadline }));
        await clock.advance(ms);
        await running;
      }
      const state = await stateOf(breakers);
      breakers.reset('s');
      return state;
    };
    expect(await callAll(5, 5)).toBe('closed');
    expect(await callAll(0, 0)).toBe('closed');
    expect(await callAll(5_000, 2_000)).toBe('open');
    expect(await callAll(undefined, 1_000)).toBe('open');
  });

  test.each([
    ['a connection that dies', 'SERVER_CONNECTION_ERROR', 'unknown'],
    ['a server that does not start', 'SERVER_CONNECTION_ERROR', 'not_sent'],
  ] as const)('%s counts once, however many calls it takes along', async (_, code, outcome) => {
    const breakers = new CircuitBreakers();
    const lost = (calls: number) => {
      const cause = new Error('one for all');
      const handler = async () => toFailure(new DiscoveryError(code, 'no', { outcome, cause }));
      return Promise.all(Array.from({ length: calls }, () => breakers.watch(handler)(aCall())));
    };
    for (let death = 0; death < 4; death++) {
      await lost(16);
      expect(await stateOf(breakers)).toBe('closed');
    }
    await lost(1);
    expect(await stateOf(breakers)).toBe('open');
  });

  test('failures that have nothing to do with each other count each, also of calls that ran at once', async () => {
    const breakers = new CircuitBreakers();
    const handler = failing('TOOL_EXECUTION_ERROR', { outcome: 'unknown' });
    await Promise.all(Array.from({ length: 5 }, () => breakers.watch(handler)(aCall())));
    expect(await stateOf(breakers)).toBe('open');
  });

  test('each silent call counts, also of those that ran at once', async () => {
    const breakers = new CircuitBreakers();
    const silent = breakers.watch(failing('TOOL_EXECUTION_TIMEOUT', { outcome: 'unknown' }));
    await Promise.all(Array.from({ length: 5 }, () => silent(aCall())));
    expect(await stateOf(breakers)).toBe('open');
  });

  test('a call from before the breaker opened does not speak for the probe', async () => {
    const clock = new ManualClock();
    const breakers = new CircuitBreakers({ inARow: 1 }, clock);
    const { handler, end } = held();
    const old = breakers.watch(handler)(aCall());
    const cause = new Error('the connection they shared');
    const lost = () => toFailure(new DiscoveryError('TOOL_EXECUTION_ERROR', 'x', { outcome: 'unknown', cause }));
    await breakers.watch(async () => lost())(aCall());
    await clock.advance(30_000);
    const probe = breakers.watch(handler)(aCall());
    end(lost());
    await old;
    expect(await stateOf(breakers)).toBe('probing');
    end();
    await probe;
    expect(await stateOf(breakers)).toBe('closed');
  });

  test('the same settings change nothing, others reset all breakers', async () => {
    const breakers = new CircuitBreakers({ inARow: 1 });
    await breakers.watch(failing('SERVER_CONNECTION_ERROR'))(aCall());
    breakers.configure({ inARow: 1 });
    expect(await stateOf(breakers)).toBe('open');
    breakers.configure({ inARow: 2 });
    expect(await stateOf(breakers)).toBe('closed');
  });

  test('a connection that dies under a call counts', async () => {
    const breakers = new CircuitBreakers();
    for (let i = 0; i < 5; i++) await breakers.watch(failing('TOOL_EXECUTION_ERROR', { outcome: 'unknown' }))(aCall());
    expect(await stateOf(breakers)).toBe('open');
  });
});

import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/fixtures/execution/manual-clock.ts';
import { aCall, codeOf, done, held, never } from '../../../test/fixtures/execution/test-kit.ts';
import { DiscoveryError } from '../../core/errors.ts';
import type { Progress } from '../../core/types.ts';
import type { Handler } from '../pipeline.ts';
import { timeout } from './timeout.ts';

describe('timeout', () => {
  test('a silent call is given up after a minute, its signal aborted, its outcome unknown', async () => {
    const clock = new ManualClock();
    const { handler, calls, end } = held();
    const running = timeout({ clock })(handler)(aCall());
    await clock.advance(59_000);
    expect(calls[0]?.signal.aborted).toBe(false);
    await clock.advance(1_000);
    expect(await running).toMatchObject({
      error: {
        code: 'TOOL_EXECUTION_TIMEOUT',
        outcome: 'unknown',
        retryable: true,
        message: expect.stringContaining('silent for 60 s'),
      },
    });
    expect(calls[0]?.signal.aborted).toBe(true);
    end();
    expect(clock.pending).toBe(0);
  });

  test('progress keeps a call alive, but not beyond the ceiling', async () => {
    const clock = new ManualClock();
    const { handler, calls } = held();
    const heard: Progress[] = [];
    const running = timeout({ clock })(handler)(aCall({ onProgress: (note) => heard.push(note) }));
    for (let i = 0; i < 12; i++) {
      await clock.advance(50_000);
      calls[0]?.onProgress?.({ progress: i });
    }
    expect(await running).toMatchObject({
      error: { code: 'TOOL_EXECUTION_TIMEOUT', message: expect.stringContaining('over 600 s') },
    });
    expect(heard).toHaveLength(11);
  });

  test('while the caller is asked something the idle clock stands still, and then it restarts from zero', async () => {
    const clock = new ManualClock();
    const { handler, calls } = held();
    const running = timeout({ clock })(handler)(aCall());
    await clock.advance(30_000);
    const { idleClock } = calls[0] ?? {};
    idleClock?.pause();
    idleClock?.pause();
    await clock.advance(100_000);
    idleClock?.resume();
    await clock.advance(100_000);
    idleClock?.resume();
    await clock.advance(59_000);
    expect(calls[0]?.signal.aborted).toBe(false);
    await clock.advance(1_000);
    expect(await running).toMatchObject({ error: { message: expect.stringContaining('silent for 60 s') } });
    idleClock?.pause();
    idleClock?.resume();
    expect(clock.pending).toBe(0);
  });

  test('a question that is never answered does not keep a call beyond the ceiling', async () => {
    const clock = new ManualClock();
    const { handler, calls } = held();
    const running = timeout({ clock })(handler)(aCall());
    calls[0]?.idleClock?.pause();
    await clock.advance(600_000);
    expect(await running).toMatchObject({ error: { message: expect.stringContaining('over 600 s') } });
  });

  test("a server's own time and the caller's deadline replace the usual ones", async () => {
    const clock = new ManualClock();
    const own = timeout({ clock, idleOf: () => 5_000 })(never)(aCall());
    const deadline = timeout({ clock })(never)(aCall({ deadline: 90_000 }));
    await clock.advance(5_000);
    expect(codeOf(await own)).toBe('TOOL_EXECUTION_TIMEOUT');
    expect(clock.pending).toBe(1);
    await clock.advance(85_000);
    expect(codeOf(await deadline)).toBe('TOOL_EXECUTION_TIMEOUT');
  });

  test('a cancelled call ends at once, tells downstream, and drops what comes later', async () => {
    const abort = new AbortController();
    const { handler, calls, end } = held();
    const heard: Progress[] = [];
    const running = timeout()(handler)(aCall({ signal: abort.signal, onProgress: (note) => heard.push(note) }));
    await Promise.resolve();
    abort.abort();
    expect(await running).toMatchObject({ error: { code: 'CANCELLED', outcome: 'unknown' } });
    expect(calls[0]?.signal.aborted).toBe(true);
    calls[0]?.onProgress?.({ progress: 1 });
    end();
    expect(heard).toEqual([]);
    expect(codeOf(await timeout()(done)(aCall({ signal: abort.signal })))).toBe('CANCELLED');
  });

  test('a call cancelled while it is being sent ends at once, too', async () => {
    const abort = new AbortController();
    const sent: Handler = () => {
      abort.abort();
      return new Promise(() => {});
    };
    expect(await timeout()(sent)(aCall({ signal: abort.signal }))).toMatchObject({
      error: { code: 'CANCELLED', outcome: 'unknown' },
    });
  });

  test('the reason of the abort is reported', async () => {
    const signal = AbortSignal.abort(new DiscoveryError('SHUTTING_DOWN', 'bye'));
    expect(await timeout()(done)(aCall({ signal }))).toMatchObject({
      error: { code: 'SHUTTING_DOWN', message: 'bye', server: 's', outcome: 'not_sent' },
    });
  });

  test('a handler that throws, at once or later, fails the call', async () => {
    const atOnce: Handler = () => {
      throw new Error('boom');
    };
    expect(codeOf(await timeout()(atOnce)(aCall()))).toBe('TOOL_EXECUTION_ERROR');
    expect(
      codeOf(await timeout()(async () => Promise.reject(new DiscoveryError('SERVER_AUTH_REQUIRED', 'x')))(aCall())),
    ).toBe('SERVER_AUTH_REQUIRED');
  });

  test('a call whose deadline has passed is not sent at all', async () => {
    const { handler, calls } = held();
    const result = await timeout({ clock: new ManualClock() })(handler)(aCall({ deadline: 0 }));
    expect(result).toMatchObject({ error: { code: 'TOOL_EXECUTION_TIMEOUT', outcome: 'not_sent' } });
    expect(calls).toEqual([]);
  });
});

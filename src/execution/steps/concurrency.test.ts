import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/fixtures/execution/manual-clock.ts';
import { aCall, codeOf, done, held, never } from '../../../test/fixtures/execution/test-kit.ts';
import type { ToolCall } from '../../core/types.ts';
import { concurrency, Slots } from './concurrency.ts';

describe('concurrency', () => {
  test('16 run, 64 wait in order, the rest are refused with a time to come back', async () => {
    const { handler, calls, end } = held();
    const pass = concurrency({ perClient: 1_000 })(handler);
    const running = Array.from({ length: 100 }, (_, i) => pass(aCall({ arguments: { i } })));
    const refused = await Promise.all(running.slice(80));
    expect(calls).toHaveLength(16);
    for (const result of refused)
      expect(result).toMatchObject({
        error: { code: 'SERVER_BUSY', outcome: 'not_sent', retryAfterMs: expect.any(Number) },
      });
    for (let i = 0; i < 80; i++) {
      end();
      await new Promise((later) => setImmediate(later));
    }
    expect((await Promise.all(running.slice(0, 80))).every((result) => result.success)).toBe(true);
    expect(calls.map((one) => one.arguments.i)).toEqual(Array.from({ length: 80 }, (_, i) => i));
  });

  test('waiting ends after 10 s, at the deadline or when cancelled', async () => {
    const clock = new ManualClock();
    const abort = new AbortController();
    const pass = concurrency({ clock, perServerOf: () => 1 })(never);
    void pass(aCall());
    const tooLong = pass(aCall());
    const deadline = pass(aCall({ deadline: 2_000 }));
    const cancelled = pass(aCall({ signal: abort.signal }));
    abort.abort();
    expect(await cancelled).toMatchObject({ error: { code: 'CANCELLED', outcome: 'not_sent' } });
    expect(codeOf(await pass(aCall({ signal: abort.signal })))).toBe('CANCELLED');
    await clock.advance(2_000);
    expect(codeOf(await deadline)).toBe('SERVER_BUSY');
    await clock.advance(8_000);
    expect(codeOf(await tooLong)).toBe('SERVER_BUSY');
    expect(clock.pending).toBe(0);
  });

  test('the retry delay follows from how long calls take, and from how long no slot was freed', async () => {
    const clock = new ManualClock();
    const { handler, end } = held();
    const pass = concurrency({ clock, perServer: 1, queue: 0 })(handler);
    const wish = async () => {
      const result = await pass(aCall());
      return !result.success && result.error.retryAfterMs;
    };
    const first = pass(aCall());
    expect(await wish()).toBe(100);
    await clock.advance(4_000);
    expect(await wish()).toBe(4_000);
    await clock.advance(60_000);
    expect(await wish()).toBe(10_000);
    end();
    await first;
    void pass(aCall());
    // A call took 64 s, which counts for an eighth.
    expect(await wish()).toBe(8_000);
  });

  test('slots that are handed on count the calls in flight, and the newest limits count for all', async () => {
    const slots = new Slots();
    const { handler, calls, end } = held();
    const old = concurrency({ perServer: 2 }, slots)(handler);
    const running = [old(aCall()), old(aCall()), old(aCall()), old(aCall())];
    expect(calls).toHaveLength(2);
    const pass = concurrency({ perServer: 3 }, slots)(handler);
    running.push(pass(aCall()));
    await new Promise((later) => setImmediate(later));
    expect(calls).toHaveLength(3);
    concurrency({ perServer: 1 }, slots);
    for (const left of [3, 3, 4, 5]) {
      end();
      await new Promise((later) => setImmediate(later));
      expect(calls).toHaveLength(left);
    }
    end();
    expect((await Promise.all(running)).every(({ success }) => success)).toBe(true);
  });

  test('under a name that now belongs to another server all slots are free, and queued calls take them', async () => {
    const slots = new Slots();
    const { handler, calls, end } = held();
    const pass = concurrency({ perServer: 1 }, slots)(handler);
    const running = [pass(aCall()), pass(aCall()), pass(aCall())];
    slots.forget('s');
    slots.forget('other');
    await new Promise((later) => setImmediate(later));
    expect(calls).toHaveLength(2);
    // The call to the old server.
    end();
    await running[0];
    await new Promise((later) => setImmediate(later));
    expect(calls).toHaveLength(2);
    end();
    await running[1];
    await new Promise((later) => setImmediate(later));
    expect(calls).toHaveLength(3);
    end();
    await running[2];
    slots.forget('s');
  });

  test('clients of one name share a quarter of all calls, however many sessions and sockets they have', async () => {
    const pass = concurrency({ perServer: 100, perClient: 4, total: 32 })((one) =>
      one.tool === 'hang' ? never(one) : done(one),
    );
    for (let at = 0; at < 20; at++)
      void pass(aCall({ tool: 'hang', caller: { clientName: 'greedy', [at % 2 ? 'session' : 'socket']: `${at}` } }));
    const of = (clientName: string) => pass(aCall({ caller: { clientName, socket: 'new' } }));
    expect(codeOf(await of('greedy'))).toBe('SERVER_BUSY');
    expect((await of('modest')).success).toBe(true);
    expect((await pass(aCall())).success).toBe(true);
  });

  test('callers take turns in the queue of a server, however many calls one has there', async () => {
    const { handler, calls, end } = held();
    const pass = concurrency({ perServer: 1 })(handler);
    const by = (session: string, i: number) => pass(aCall({ caller: { session }, arguments: { i } }));
    const running = [1, 2, 3, 4].map((i) => by('greedy', i));
    running.push(by('modest', 5), by('modest', 6), by('other', 7));
    for (const _ of running) {
      end();
      await new Promise((later) => setImmediate(later));
    }
    expect((await Promise.all(running)).every(({ success }) => success)).toBe(true);
    expect(calls.map((one) => one.arguments.i)).toEqual([1, 2, 5, 7, 3, 6, 4]);
  });

  test('one caller that fills the queue of a server gives places up to others, its newest first', async () => {
    const { handler, calls, end } = held();
    const pass = concurrency({ perServer: 1, queue: 4 })(handler);
    const by = (session: string, i: number) => pass(aCall({ caller: { session }, arguments: { i } }));
    const greedy = [0, 1, 2, 3, 4].map((i) => by('greedy', i));
    const modest = [5, 6].map((i) => by('modest', i));
    for (const ousted of greedy.slice(3))
      expect(await ousted).toMatchObject({
        error: { code: 'SERVER_BUSY', outcome: 'not_sent', message: expect.stringContaining('most of them yours') },
      });
    // Each has half of the places now.
    expect(codeOf(await by('modest', 7))).toBe('SERVER_BUSY');
    expect(codeOf(await by('greedy', 8))).toBe('SERVER_BUSY');
    for (let turn = 0; turn < 5; turn++) {
      end();
      await new Promise((later) => setImmediate(later));
    }
    await Promise.all([...greedy, ...modest]);
    expect(calls.map((one) => one.arguments.i)).toEqual([0, 1, 5, 2, 6]);
  });

  test('a full server does not keep calls from another one', async () => {
    const pass = concurrency({ perServer: 1, queue: 0 })((one) => (one.server === 'slow' ? never(one) : done(one)));
    void pass(aCall({ server: 'slow' }));
    expect(codeOf(await pass(aCall({ server: 'slow' })))).toBe('SERVER_BUSY');
    expect(codeOf(await pass(aCall({ server: '__proto__' })))).toBe('ok');
  });

  test('one client, and all together, have a limit of their own', async () => {
    const client = concurrency({ perClient: 2, perServer: 100 })(never);
    void client(aCall({ caller: { session: 'a' } }));
    void client(aCall({ caller: { session: 'a' } }));
    expect(await client(aCall({ caller: { session: 'a' } }))).toMatchObject({
      error: { code: 'SERVER_BUSY', message: expect.stringContaining('you have 2') },
    });
    // Clients without a session or a name share one limit.
    void client(aCall());
    void client(aCall());
    expect(codeOf(await client(aCall({ server: 'other' })))).toBe('SERVER_BUSY');
    const { handler, end } = held();
    const all = concurrency({ total: 1 })(handler);
    const first = all(aCall());
    expect(codeOf(await all(aCall({ server: 'other' })))).toBe('SERVER_BUSY');
    end();
    await first;
    const second = all(aCall());
    await Promise.resolve();
    end();
    expect(codeOf(await second)).toBe('ok');
  });

  test('a call whose client is at its limit when its turn comes gives the turn back', async () => {
    const { handler, end } = held();
    const pass = concurrency({ perServerOf: (server) => (server === 's' ? 1 : 9), perClient: 1 })(handler);
    const other = pass(aCall({ caller: { session: 'b' } }));
    const waiting = pass(aCall({ caller: { session: 'a' } }));
    const elsewhere = pass(aCall({ server: 'x', caller: { session: 'a' } }));
    end();
    await other;
    expect(codeOf(await waiting)).toBe('SERVER_BUSY');
    end();
    await elsewhere;
    const after = pass(aCall());
    await Promise.resolve();
    end();
    expect(codeOf(await after)).toBe('ok');
  });

  const byClient = (clientName: string, more: Partial<ToolCall> = {}) => aCall({ ...more, caller: { clientName } });
  const settled = () => new Promise((later) => setImmediate(later));

  test('names and sockets that somebody invents do not keep a known client out, not even under its own name', async () => {
    const pass = concurrency({ queue: 4, total: 40 })((one) => (one.tool === 'hang' ? never(one) : done(one)));
    const victim = (more: Partial<ToolCall> = {}) =>
      pass(aCall({ ...more, caller: { clientName: 'mine', socket: 'mine' } }));
    expect((await victim()).success).toBe(true);
    for (let at = 0; at < 40; at++) {
      const caller = { clientName: at % 2 ? `invented ${at}` : 'mine', socket: `${at}` };
      void pass(aCall({ tool: 'hang', caller, signal: new AbortController().signal }));
    }
    for (let at = 0; at < 40; at++)
      void pass(
        aCall({ tool: 'hang', server: `other ${at}`, caller: { clientName: `invented ${at}`, session: `${at}` } }),
      );
    for (let at = 0; at < 3; at++) expect((await victim()).success).toBe(true);
    // It keeps one slot of each server, and the rest waits and yields as for everybody.
    void victim({ tool: 'hang' });
    void victim({ tool: 'hang' });
    expect(codeOf(await pass(aCall({ caller: { clientName: 'late', socket: 'late' } })))).toBe('SERVER_BUSY');
  });

  test('a network client leaves slots to others, which get them at once; a client on stdio uses all', async () => {
    const { handler, calls, end } = held();
    const pass = concurrency()(handler);
    const running = Array.from({ length: 40 }, () => pass(byClient('greedy')));
    expect(calls).toHaveLength(12);
    running.push(...Array.from({ length: 6 }, () => pass(byClient('modest'))));
    expect(calls).toHaveLength(15);
    running.push(pass(byClient('late')));
    expect(calls.at(-1)?.caller.clientName).toBe('late');
    for (const _ of running) {
      end();
      await settled();
    }
    expect((await Promise.all(running)).every(({ success }) => success)).toBe(true);
    const alone = held();
    const stdio = concurrency()(alone.handler);
    for (let i = 0; i < 20; i++) void stdio(aCall({ caller: { session: 'stdio' } }));
    expect(alone.calls).toHaveLength(16);
  });

  test('a server with any number of slots keeps one for a client that has none', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), fc.integer({ min: 1, max: 100 }), (perServer, count) => {
        const { handler, calls } = held();
        const pass = concurrency({ perServer, perClient: 1_000 })(handler);
        for (let i = 0; i < count; i++) void pass(byClient('greedy'));
        const before = calls.length;
        expect(before).toBeLessThanOrEqual(Math.max(1, 0.75 * perServer));
        expect(before).toBeGreaterThanOrEqual(Math.min(count, Math.floor(0.5 * perServer)));
        void pass(byClient('modest'));
        expect(calls).toHaveLength(before + 1);
      }),
    );
  });

  test('a call that waits for an answer gives its slot back, and counts for its own caller only', async () => {
    const { handler, calls, end } = held();
    const pass = concurrency({ perServer: 2 })(handler);
    const ask = async () => ({});
    const asking = (session: string) => pass(aCall({ caller: { session, ask } }));
    const running = [asking('a'), asking('a')];
    for (const { idleClock } of calls) {
      idleClock?.pause();
      idleClock?.pause();
    }
    running.push(asking('a'), asking('b'), asking('b'));
    // The third call of the first caller waits, although all slots were free.
    expect(calls.map(({ caller }) => caller.session)).toEqual(['a', 'a', 'b', 'b']);
    for (const { idleClock } of calls.slice(0, 2)) {
      idleClock?.resume();
      idleClock?.resume();
    }
    running.push(asking('c'));
    for (const expected of [4, 4, 5, 6, 6, 6]) {
      end();
      await settled();
      expect(calls).toHaveLength(expected);
    }
    expect((await Promise.all(running)).every(({ success }) => success)).toBe(true);
    // All slots are free again, also after a call that ended while it waited.
    const last = [asking('a'), asking('b')];
    calls[6]?.idleClock?.pause();
    end();
    await last[0];
    calls[6]?.idleClock?.resume();
    void asking('c');
    expect(calls).toHaveLength(9);
    void asking('c');
    expect(calls).toHaveLength(9);
  });
});

import { describe, expect, it } from 'vitest';
import type { CallSignal } from '../async/cancellation.ts';
import { type Ask, type Hearing, ParkedCalls, type RawResult } from './parked-calls.ts';

const QUESTION = { method: 'elicitation/create', params: { message: 'sure?' } };
const { signal } = new AbortController();

const asking = async (ask: Ask): Promise<RawResult> => ({ structuredContent: await ask(QUESTION) });
const stateOf = (result: RawResult): string => String(result.requestState);

describe('ParkedCalls', () => {
  it('gives the result of a call that asks nothing', async () => {
    const parked = new ParkedCalls();
    expect(await parked.run('c', 'b', signal, async () => ({ content: [] }))).toEqual({ content: [] });
    expect(parked.size).toBe(0);
  });

  it('reports progress to the request that is open at the time', async () => {
    const parked = new ParkedCalls();
    const heard: string[] = [];
    const hearing = (name: string) => ({
      onProgress: ({ progress }: { progress: number }) => heard.push(`${name} ${progress}`),
    });
    let between = () => {};
    const work = async (ask: Ask, _signal: CallSignal, { onProgress }: Hearing): Promise<RawResult> => {
      onProgress?.({ progress: 1 });
      between = () => onProgress?.({ progress: 2 });
      await ask(QUESTION);
      onProgress?.({ progress: 3 });
      return {};
    };
    const first = await parked.run('c', 'b', signal, work, hearing('first'));
    between();
    await parked.resume(stateOf(first), 'b', { q1: {} }, signal, hearing('second'));
    expect(heard).toEqual(['first 1', 'second 3']);
  });

  it('parks a call at its question and resumes it with the answer', async () => {
    const parked = new ParkedCalls();
    const first = await parked.run('c', 'b', signal, asking);
    expect(first).toMatchObject({ resultType: 'input_required', inputRequests: { q1: QUESTION } });
    expect(ParkedCalls.owns(first.requestState)).toBe(true);
    expect(parked.size).toBe(1);
    const second = await parked.resume(stateOf(first), 'b', { q1: { action: 'accept' } }, signal);
    expect(second).toEqual({ structuredContent: { action: 'accept' } });
    expect(parked.size).toBe(0);
  });

  it('asks questions together that come at the same time', async () => {
    const parked = new ParkedCalls();
    const first = await parked.run('c', 'b', signal, async (ask) => ({
      both: await Promise.all([ask(QUESTION), ask({ method: 'roots/list' })]),
    }));
    expect(first.inputRequests).toEqual({ q1: QUESTION, q2: { method: 'roots/list' } });
    expect(await parked.resume(stateOf(first), 'b', { q1: { a: 1 }, q2: { b: 2 } }, signal)).toEqual({
      both: [{ a: 1 }, { b: 2 }],
    });
  });

  it('asks again for what was not answered', async () => {
    const parked = new ParkedCalls();
    const first = await parked.run('c', 'b', signal, asking);
    const again = await parked.resume(stateOf(first), 'b', { q1: 'not an object', other: {} }, signal);
    expect(again).toMatchObject({ resultType: 'input_required', inputRequests: { q1: QUESTION } });
    expect(await parked.resume(stateOf(again), 'b', { q1: { ok: true } }, signal)).toEqual({
      structuredContent: { ok: true },
    });
  });

  it('refuses answers of another caller, second answers, and answers to no question', async () => {
    const parked = new ParkedCalls();
    const first = await parked.run('c', 'alice', signal, asking);
    const refused = { code: -32602 };
    await expect(parked.resume(stateOf(first), 'mallory', { q1: {} }, signal)).rejects.toMatchObject(refused);
    await parked.resume(stateOf(first), 'alice', { q1: {} }, signal);
    await expect(parked.resume(stateOf(first), 'alice', { q1: {} }, signal)).rejects.toMatchObject(refused);
    await expect(parked.resume('anygpt.guess', 'alice', {}, signal)).rejects.toMatchObject(refused);
  });

  it('keeps a parked call alive when its first request has ended', async () => {
    const parked = new ParkedCalls();
    const request = new AbortController();
    const first = await parked.run('c', 'b', request.signal, asking);
    request.abort();
    expect(await parked.resume(stateOf(first), 'b', { q1: {} }, signal)).toEqual({ structuredContent: {} });
  });

  it('aborts the call when the request it answers is aborted, before or after it began', async () => {
    const parked = new ParkedCalls();
    const work = (_ask: Ask, own: CallSignal) =>
      new Promise<RawResult>((_, reject) => {
        if (own.aborted) reject(own.reason);
        own.addEventListener('abort', () => reject(own.reason));
      });
    const request = new AbortController();
    const running = parked.run('c', 'b', request.signal, work);
    request.abort(new Error('gone'));
    await expect(running).rejects.toThrow('gone');
    await expect(parked.run('c', 'b', AbortSignal.abort(new Error('before')), work)).rejects.toThrow('before');
  });

  it('does not stop at a question that was withdrawn', async () => {
    const parked = new ParkedCalls();
    const stop = new AbortController();
    const result = await parked.run('c', 'b', signal, async (ask) => {
      const asked = ask(QUESTION, stop.signal).catch(() => 'withdrawn');
      stop.abort();
      const how = await asked;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { how };
    });
    expect(result).toEqual({ how: 'withdrawn' });
  });

  it('cancels a call whose answer does not come, and all calls on close', async () => {
    const seen: unknown[] = [];
    const work = async (ask: Ask, own: CallSignal) => {
      await ask(QUESTION).catch((error: { code: string }) => seen.push(error.code, own.aborted));
      return {};
    };
    const hasty = new ParkedCalls({ waitMs: 5 });
    await hasty.run('c', 'b', signal, work);
    await expect.poll(() => hasty.size).toBe(0);
    await expect.poll(() => seen).toEqual(['CANCELLED', true]);

    const closing = new ParkedCalls();
    await closing.run('c', 'b', signal, work);
    closing.close();
    expect(closing.size).toBe(0);
    await expect.poll(() => seen.length).toBe(4);
  });

  it('refuses to park more calls than it may', async () => {
    const parked = new ParkedCalls({ maxCalls: 1 });
    await parked.run('c', 'b', signal, asking);
    await expect(parked.run('c', 'b', signal, asking)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    expect(parked.size).toBe(1);
    parked.close();
  });

  it('leaves places to other callers when one parks all it can', async () => {
    const parked = new ParkedCalls({ maxCalls: 16 });
    const park = async (caller: string): Promise<number> => {
      let count = 0;
      while (await parked.run(caller, 'b', signal, asking).catch(() => undefined)) count++;
      return count;
    };
    expect([await park('greedy'), await park('modest'), await park('late')]).toEqual([12, 3, 1]);
    // The greedy one makes room for a caller that has none.
    expect([await park('later'), parked.size]).toEqual([1, 16]);
    parked.close();
  });
});

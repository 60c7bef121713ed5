import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { abortable } from './abortable.ts';
import { withTimeLimit } from './time-limit.ts';

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
const overdue = () => new Error('too slow');

describe('withTimeLimit', () => {
  it('aborts with the given error when the time is over', async () => {
    await expect(withTimeLimit(5, undefined, overdue, untilAborted)).rejects.toThrow('too slow');
  });

  it('aborts with the reason of the parent, also one that was aborted before', async () => {
    const parent = new AbortController();
    const work = withTimeLimit(10_000, parent.signal, overdue, untilAborted);
    parent.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
    await expect(withTimeLimit(10_000, parent.signal, overdue, untilAborted)).rejects.toThrow('enough');
  });

  it('leaves neither timer nor listener behind, and allows for any length of time', async () => {
    const parent = new AbortController();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    for (let i = 0; i < 100; i++) await withTimeLimit(1e12, parent.signal, overdue, async () => i);
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0);
    expect(timers()).toBe(before);
  });
});

describe('abortable', () => {
  it('gives up waiting with the reason, and drops its listener', async () => {
    const controller = new AbortController();
    const never = abortable(new Promise(() => {}), controller.signal);
    controller.abort(new Error('enough'));
    await expect(never).rejects.toThrow('enough');
    await expect(abortable(Promise.resolve(1), controller.signal)).rejects.toThrow('enough');
  });

  it('hands the outcome of the work on', async () => {
    const { signal } = new AbortController();
    await expect(abortable(Promise.resolve(1), signal)).resolves.toBe(1);
    await expect(abortable(Promise.resolve(2), undefined)).resolves.toBe(2);
    await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

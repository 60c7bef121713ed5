import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LargeRequests } from './large-requests.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** What has left, in order. */
function setUp() {
  const left: string[] = [];
  const requests = new LargeRequests((text, taken) => {
    left.push(text);
    taken();
  });
  let id = 0;
  return { left, requests, send: (caller: string, text: string) => requests.send(caller, ++id, text) };
}

describe('large requests', () => {
  it('leave one at a time, and callers take turns however many one has', () => {
    const { left, requests, send } = setUp();
    for (const text of ['a1', 'a2', 'a3', 'a4']) send('a', text);
    for (const text of ['b5', 'b6']) send('b', text);
    send('c', 'c7');
    expect(left).toEqual(['a1']);
    // Answers to others change nothing.
    requests.answered(99);
    expect(left).toEqual(['a1']);
    while (requests.isBusy) requests.answered(Number(left.at(-1)?.slice(1)));
    expect(left).toEqual(['a1', 'a2', 'b5', 'c7', 'a3', 'b6', 'a4']);
    expect(requests.chars).toBe(0);
  });

  it('do not wait long for one whose tool takes its time', () => {
    const { left, send } = setUp();
    send('a', 'a1');
    send('b', 'b2');
    vi.advanceTimersByTime(499);
    expect(left).toEqual(['a1']);
    vi.advanceTimersByTime(1);
    expect(left).toEqual(['a1', 'b2']);
  });

  it('wait for the answer to the one before once that is on its way', () => {
    const { left, requests, send } = setUp();
    send('a', 'a1');
    send('b', 'b2');
    requests.arriving(1);
    vi.advanceTimersByTime(10_000);
    expect(left).toEqual(['a1']);
    requests.answered(1);
    expect(left).toEqual(['a1', 'b2']);
  });

  it('that are taken back never leave', () => {
    const { left, requests, send } = setUp();
    for (const text of ['a1', 'a2', 'a3']) send('a', text);
    send('b', 'b4');
    expect(requests.withdraw(1)).toBe(false);
    expect(requests.withdraw(2)).toBe(true);
    expect(requests.withdraw(4)).toBe(true);
    expect(requests.withdraw(4)).toBe(false);
    expect(requests.chars).toBe(2);
    requests.answered(1);
    requests.answered(3);
    expect(left).toEqual(['a1', 'a3']);
    expect(requests.isBusy).toBe(false);
  });

  it('do not leave after the end', () => {
    const { left, requests, send } = setUp();
    for (const text of ['a1', 'a2']) send('a', text);
    requests.close();
    requests.answered(1);
    vi.advanceTimersByTime(10_000);
    expect(left).toEqual(['a1']);
  });
});

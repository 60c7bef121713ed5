import { describe, expect, test } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.ts';

/** What a breaker does with a call at a time: lets it go, or refuses it until a pause or a probe has ended. */
const stateAt = (breaker: CircuitBreaker, now: number): 'closed' | 'open' | 'probing' => {
  const wait = breaker.waitTime(now);
  return wait === 0 ? 'closed' : breaker.waitTime(now + 60_000) === 0 ? 'open' : 'probing';
};

const failing = (breaker: CircuitBreaker, times: number, now = 0) => {
  for (let i = 0; i < times; i++) breaker.leave(now, false);
};

describe('CircuitBreaker', () => {
  test('five failures in a row open it for 30 s', () => {
    const breaker = new CircuitBreaker();
    failing(breaker, 4);
    expect(stateAt(breaker, 0)).toBe('closed');
    failing(breaker, 1);
    expect(stateAt(breaker, 0)).toBe('open');
    expect(breaker.waitTime(0)).toBe(30_000);
    expect(breaker.waitTime(29_000)).toBe(1_000);
    expect(breaker.waitTime(30_000)).toBe(0);
  });

  test('failures by one event are one, those by as many events are as many', () => {
    const breaker = new CircuitBreaker();
    const death = new Error('it died');
    for (let i = 0; i < 16; i++) breaker.leave(0, false, death);
    expect(stateAt(breaker, 0)).toBe('closed');
    for (let i = 0; i < 4; i++) breaker.leave(0, false, new Error('500'));
    expect(stateAt(breaker, 0)).toBe('open');
  });

  test('half of at least ten calls within 30 s open it', () => {
    const breaker = new CircuitBreaker();
    for (let i = 0; i < 9; i++) breaker.leave(i * 100, i % 2 === 0);
    expect(stateAt(breaker, 0)).toBe('closed');
    breaker.leave(1_000, false);
    expect(stateAt(breaker, 1_000)).toBe('open');
  });

  test('failures of more than 30 s ago no longer count', () => {
    const breaker = new CircuitBreaker();
    for (let i = 0; i < 8; i++) breaker.leave(0, i % 2 === 0);
    for (let i = 0; i < 6; i++) breaker.leave(60_000, true);
    failing(breaker, 4, 60_000);
    expect(stateAt(breaker, 60_000)).toBe('closed');
  });

  test('after the pause one probe goes; it decides', () => {
    const breaker = new CircuitBreaker();
    failing(breaker, 5);
    breaker.enter();
    expect(stateAt(breaker, 31_000)).toBe('probing');
    breaker.leave(31_000, false);
    expect(breaker.waitTime(31_000)).toBe(30_000);
    breaker.enter();
    breaker.leave(62_000, true);
    expect(stateAt(breaker, 62_000)).toBe('closed');
    failing(breaker, 4, 62_000);
    expect(stateAt(breaker, 62_000)).toBe('closed');
  });

  test('a probe that says nothing leaves the place to the next one', () => {
    const breaker = new CircuitBreaker();
    failing(breaker, 5);
    breaker.enter();
    breaker.leave(31_000, undefined);
    expect(breaker.waitTime(31_000)).toBe(0);
  });
});

import { describe, expect, test } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

describe('TokenBucket', () => {
  test('lets a burst through and then one turn after the other', () => {
    const bucket = new TokenBucket({ requestsPerSecond: 10, burst: 2 }, 0);
    expect([0, 0, 0, 0].map(() => bucket.take(0, 1_000))).toEqual([0, 0, 100, 200]);
    expect(bucket.take(1_000, 0)).toBe(0);
  });

  test('a turn that would come too late is not taken', () => {
    const bucket = new TokenBucket({ requestsPerSecond: 1, burst: 1 }, 0);
    expect(bucket.take(0, 0)).toBe(0);
    expect(bucket.take(0, 500)).toBeUndefined();
    expect(bucket.waitTime(0)).toBe(1_000);
    expect(bucket.waitTime(400)).toBe(600);
  });

  test('a turn given back can be taken again, and a full bucket does not overflow', () => {
    const bucket = new TokenBucket({ requestsPerSecond: 1, burst: 1 }, 0);
    bucket.take(0, 0);
    bucket.giveBack();
    bucket.giveBack();
    expect(bucket.take(0, 0)).toBe(0);
    expect(bucket.take(0, 0)).toBeUndefined();
  });

  test('a clock that stands still or runs back adds nothing', () => {
    const bucket = new TokenBucket({ requestsPerSecond: 1, burst: 1 }, 1_000);
    bucket.take(1_000, 0);
    expect(bucket.take(500, 0)).toBeUndefined();
  });
});

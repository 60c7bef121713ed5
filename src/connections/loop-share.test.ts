import { expect, it } from 'vitest';
import { LoopShare, UNASKED } from './loop-share.ts';

it('lets every source use a little time at once, and only a small share in the long run', () => {
  let now = 0;
  const share = new LoopShare({ ...UNASKED, now: () => now });
  expect(share.charge(4)).toBe(0);
  expect(share.charge(4)).toBeGreaterThan(10);
  let used = 0;
  for (now = 1000; now < 61_000; ) {
    used += 2;
    now += 2 + share.charge(2);
  }
  expect(used / 60_000).toBeLessThan(0.1);
  expect(used / 60_000).toBeGreaterThan(0.05);
});

it('soon forgives one slow moment', () => {
  const share = new LoopShare({ ...UNASKED, now: () => 0 });
  expect(share.charge(60_000)).toBeLessThanOrEqual(500);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimate } from './bootstrap.ts';

const ones = (count: number, of: number): number[] => Array.from({ length: of }, (_, at) => (at < count ? 1 : 0));

describe('estimate', () => {
  it('gives the average of one set with an interval around it', () => {
    const { value, low, high } = estimate([ones(70, 100)]);
    expect(value).toBeCloseTo(0.7, 12);
    // About 1.96 times the standard error of 0.046.
    expect(low).toBeGreaterThan(0.58);
    expect(low).toBeLessThan(0.64);
    expect(high).toBeGreaterThan(0.76);
    expect(high).toBeLessThan(0.82);
  });

  it('averages sets, not samples', () => {
    expect(estimate([ones(10, 10), ones(0, 1000)]).value).toBe(0.5);
  });

  it('is the same every time, and another with another seed', () => {
    const samples = [[0.1, 0.9, 0.4, 0.7, 0.2]];
    expect(estimate(samples)).toEqual(estimate(samples));
    expect(estimate(samples, { seed: 2 })).not.toEqual(estimate(samples));
  });

  it('has no width where all samples are alike, and is 0 without samples', () => {
    expect(estimate([[1, 1, 1]])).toEqual({ value: 1, low: 1, high: 1 });
    expect(estimate([[], []])).toEqual({ value: 0, low: 0, high: 0 });
    expect(estimate([[], [1]]).value).toBe(1);
  });

  it('narrows with more samples', () => {
    const width = ({ low, high }: { low: number; high: number }) => high - low;
    expect(width(estimate([ones(500, 1000)]))).toBeLessThan(width(estimate([ones(25, 50)])) / 2);
  });

  it('stays between the least and the greatest sample', () => {
    const samples = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(samples, fc.integer(), (values, seed) => {
        const { low, high } = estimate([values], { resamples: 50, seed });
        expect(low).toBeLessThanOrEqual(high);
        expect(low).toBeGreaterThanOrEqual(Math.min(...values) - 1e-9);
        expect(high).toBeLessThanOrEqual(Math.max(...values) + 1e-9);
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, nearestName } from './nearest-name.ts';

describe('nearestName', () => {
  it('finds the key that was meant', () => {
    expect(nearestName('header', ['url', 'headers', 'auth'])).toBe('headers');
    expect(nearestName('conection', ['command', 'connection'])).toBe('connection');
    expect(nearestName('TTL', ['ttl', 'dir'])).toBe('ttl');
    expect(nearestName('evn', ['env', 'args'])).toBe('env');
  });

  it('stays silent where nothing is close', () => {
    expect(nearestName('banana', ['url', 'headers'])).toBeUndefined();
    expect(nearestName('x'.repeat(10_000), ['url'])).toBeUndefined();
  });
});

describe('editDistance', () => {
  it('is zero only for equal words and the same both ways', () => {
    const word = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
        expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
  });
});

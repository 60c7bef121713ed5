import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, nearestName, nearestNames } from './nearest-names.ts';

describe('nearestName', () => {
  it('finds the one that was meant', () => {
    expect(nearestName('header', ['url', 'headers', 'auth'])).toBe('headers');
    expect(nearestName('conection', ['command', 'connection'])).toBe('connection');
    expect(nearestName('TTL', ['ttl', 'dir'])).toBe('ttl');
    expect(nearestName('evn', ['env', 'args'])).toBe('env');
    expect(nearestName('userName', ['user', 'user_name'])).toBe('user_name');
  });

  it('stays silent where nothing is close, and looks at a bounded number of short names', () => {
    expect(nearestName('banana', ['url', 'headers'])).toBeUndefined();
    expect(nearestName('x'.repeat(10_000), ['url'])).toBeUndefined();
    expect(nearestName('zebra', [...Array.from({ length: 2000 }, (_, i) => `n${i}`), 'zebra'])).toBeUndefined();
    expect(nearestName('abc', ['y'.repeat(100)])).toBeUndefined();
  });
});

describe('nearestNames', () => {
  it('puts slips first, then names that hold one another, then those that look alike', () => {
    const known = ['issue_create', 'create_issues', 'issue', 'delete_branch'];
    expect(nearestNames('create_issue', known)).toEqual(['create_issues', 'issue', 'issue_create']);
    expect(nearestNames('zzz', known)).toEqual([]);
    expect(nearestNames('create_issue', known, 1)).toEqual(['create_issues']);
  });

  it('takes ten thousand names in a blink', () => {
    const known = Array.from({ length: 10_000 }, (_, i) => `some_rather_long_tool_name_number_${i}_of_many`);
    const started = performance.now();
    nearestNames('some_rather_long_tool_name_nubmer_5', known);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('only ever suggests what is known, whatever was written', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string(), { maxLength: 10 }), (written, known) => {
        const names = nearestNames(written, known);
        expect(names.length).toBeLessThanOrEqual(3);
        for (const name of names) expect(known).toContain(name);
        const one = nearestName(written, known);
        if (one !== undefined) expect(known).toContain(one);
      }),
    );
  });

  it('finds a name that is known, first', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z_]{3,20}$/), (name) => {
        expect(nearestNames(name, ['other', name, 'something'])[0]).toBe(name);
      }),
    );
  });
});

describe('editDistance', () => {
  const word = fc.string({ maxLength: 12 });

  it('is zero only for equal words and the same both ways', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
        expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
  });

  it('says the same with a limit, up to that limit', () => {
    fc.assert(
      fc.property(word, word, fc.integer({ min: 1, max: 8 }), (a, b, limit) => {
        expect(editDistance(a, b, limit)).toBe(Math.min(limit, editDistance(a, b)));
      }),
    );
  });
});

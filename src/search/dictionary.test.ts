import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDictionary, findTerm, lowerBound, nearTerms, prefixRange, termAt, termCount } from './dictionary.ts';

/** Edit distance with swaps of neighbours, the plain way. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i, ...new Array<number>(b.length).fill(0)]);
  const at = (i: number, j: number): number => rows[i]?.[j] as number;
  for (let j = 0; j <= b.length; j++) (rows[0] as number[])[j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      let value = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        value = Math.min(value, at(i - 2, j - 2) + 1);
      (rows[i] as number[])[j] = value;
    }
  }
  return at(a.length, b.length);
}

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'ж'), minLength: 1, maxLength: 7 });
const termLists = fc.uniqueArray(letters, { maxLength: 60 }).map((terms) => terms.sort());

describe('dictionary', () => {
  it('finds every term it holds and no other', () => {
    fc.assert(
      fc.property(termLists, letters, (terms, other) => {
        const dictionary = createDictionary(terms);
        expect(termCount(dictionary)).toBe(terms.length);
        for (const [ordinal, term] of terms.entries()) {
          expect(findTerm(dictionary, term)).toBe(ordinal);
          expect(termAt(dictionary, ordinal)).toBe(term);
        }
        expect(findTerm(dictionary, other)).toBe(terms.indexOf(other));
        expect(lowerBound(dictionary, other)).toBe(terms.filter((term) => term < other).length);
      }),
    );
  });

  it('finds exactly the terms with a prefix', () => {
    fc.assert(
      fc.property(termLists, letters, (terms, prefix) => {
        const [start, end] = prefixRange(createDictionary(terms), prefix);
        expect(terms.slice(start, end)).toEqual(terms.filter((term) => term.startsWith(prefix)));
      }),
    );
  });

  it('finds exactly the terms a few edits away, with their distance', () => {
    fc.assert(
      fc.property(termLists, letters, fc.integer({ min: 0, max: 2 }), (terms, word, most) => {
        const found = nearTerms(createDictionary(terms), word, most);
        const expected = terms
          .map((term, ordinal) => ({ ordinal, distance: distance(word, term) }))
          .filter((near) => near.distance <= most);
        expect(found).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('starts where it is told', () => {
    const dictionary = createDictionary(['\u0000abc', 'abc', 'abd']);
    expect(nearTerms(dictionary, 'abc', 1, 1).map(({ ordinal }) => ordinal)).toEqual([1, 2]);
  });
});

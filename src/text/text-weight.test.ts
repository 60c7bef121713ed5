import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textWeight, weighedPages } from './text-weight.ts';

describe('textWeight', () => {
  it('counts characters, those outside ASCII four times', () => {
    expect(textWeight('')).toBe(0);
    expect(textWeight('{"a":1}')).toBe(7);
    expect(textWeight('検索a')).toBe(9);
  });
});

describe('weighedPages', () => {
  it('cuts a text into pages that fit and together are the text, never inside a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 8, max: 50 }), (text, room) => {
        const pages = weighedPages(text, room);
        expect(pages.join('')).toBe(text);
        for (const page of pages) {
          expect(textWeight(page)).toBeLessThanOrEqual(room + 4);
          // Throws for half a surrogate pair.
          expect(decodeURIComponent(encodeURIComponent(page))).toBe(page);
        }
      }),
    );
  });

  it('gives one empty page for an empty text', () => {
    expect(weighedPages('', 10)).toEqual(['']);
  });
});

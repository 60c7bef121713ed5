import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCanonicalText } from './canonical-text.ts';

// Few letters and half surrogate pairs, so that similar values are common.
const text = fc.string({
  unit: fc.constantFrom('a', '"', "'", ',', '1', '\\', '\ud800', '\udc00', '\ufffd'),
  maxLength: 4,
});
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.constantFrom(null, true, 1, 11, 1.5),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
}));

/** JSON that distinguishes all data: lists and objects marked, keys sorted. */
const reference = (data: unknown): string => {
  const mark = (node: unknown): unknown => {
    if (Array.isArray(node)) return ['list', ...node.map(mark)];
    if (typeof node !== 'object' || node === null) return node;
    const entries = Object.entries(node).map(([key, inner]) => [key, mark(inner)] as const);
    return ['record', ...entries.sort(([a], [b]) => (a < b ? -1 : 1))];
  };
  return JSON.stringify(mark(data));
};

/** The hash is over bytes. */
const bytesOf = (data: unknown): string => Buffer.from(toCanonicalText(data).text, 'utf8').toString('latin1');

describe('toCanonicalText', () => {
  test('is the same for equal data and another for any other', () => {
    // Of many small values some are equal, and some would be equal with a slightly less careful encoding.
    fc.assert(
      fc.property(fc.array(value, { minLength: 500, maxLength: 500 }), (values) => {
        const texts = new Map(values.map((data) => [reference(data), bytesOf(data)]));
        expect(new Set(texts.values()).size).toBe(texts.size);
        for (const data of values) expect(bytesOf(data)).toBe(texts.get(reference(data)));
      }),
      { numRuns: 40 },
    );
  });

  test('leaves the order of keys out', () => {
    fc.assert(
      fc.property(fc.dictionary(text, value, { maxKeys: 5 }), (data) => {
        const turned = Object.fromEntries(Object.entries(data).reverse());
        expect(toCanonicalText(turned)).toEqual(toCanonicalText(data));
      }),
    );
  });

  test('cuts long texts off and tells how long they were', () => {
    const { text: kept, size } = toCanonicalText(['y'.repeat(200_000), 'z']);
    expect(kept.length).toBeLessThan(70_000);
    expect(size).toBeGreaterThan(200_000);
  });
});

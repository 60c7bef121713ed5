import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonBytes, stringBytes } from './json-bytes.ts';

const exact = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? 'null');

describe('jsonBytes', () => {
  test('is exactly the length of the JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(jsonBytes(plain)).toBe(exact(plain));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    '',
    '"\\\b\f\n\r\t\u0001\u000b',
    'é',
    '中',
    '😀',
    '\ud800',
    '\udc00x',
    'a'.repeat(100),
    '"'.repeat(100),
    '\ud800'.repeat(80),
  ])('counts %j', (text) => {
    expect(stringBytes(text)).toBe(exact(text));
  });

  test('leaves out what JSON leaves out', () => {
    const value = { a: undefined, b: () => 1, c: [undefined, Number.NaN, true, false], d: new Date(0), e: {} };
    expect(jsonBytes(value)).toBe(exact(value));
    expect(jsonBytes(undefined)).toBe(4);
  });

  test('stops counting once over the limit', () => {
    expect(jsonBytes(new Array(1_000).fill('x'.repeat(50)), 100)).toBeLessThan(1_200);
  });
});

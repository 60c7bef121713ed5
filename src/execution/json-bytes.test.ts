import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../core/limits.ts';
import { jsonBytes, jsonBytesInSteps, stringBytes } from './json-bytes.ts';
import { writeInSteps } from './json-pieces.ts';

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

  test('asks an object for its JSON once, as JSON does', () => {
    const same = {
      x: 1,
      toJSON() {
        return this;
      },
    };
    const again = { toJSON: () => ({ y: 2, toJSON: () => 'never asked' }) };
    const list = { toJSON: () => [same, again] };
    for (const value of [same, again, list, [list], { list }]) expect(jsonBytes(value)).toBe(exact(value));
  });

  test('stops counting once over the limit', () => {
    expect(jsonBytes(new Array(1_000).fill('x'.repeat(50)), 100)).toBeLessThan(3_000);
  });
});

/** Texts longer than a slice, with escaped, paired and lone characters at every position. */
const longText = fc
  .tuple(
    fc.nat(3),
    fc.array(fc.constantFrom('a', '"', '\n', '中', '😀', '\ud83d', '\ude00', '\u0001'), { minLength: 1 }),
  )
  .map(([shift, units]) => 'x'.repeat(shift) + units.join('').repeat(Math.ceil(70_000 / units.length)));

function finish<T>(steps: Generator<void, T>): { readonly value: T; readonly steps: number } {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return { value: step.value, steps: count };
  }
}

describe('long strings', () => {
  test('are counted and written in slices, exactly', () => {
    fc.assert(
      fc.property(longText, (text) => {
        const value = { content: [{ type: 'text', text }], n: [null, 1.5, true], [text.slice(0, 5)]: {} };
        expect(stringBytes(text)).toBe(exact(text));
        expect(finish(jsonBytesInSteps(value)).value).toBe(exact(value));
        expect(finish(writeInSteps(value)).value).toBe(JSON.stringify(value));
      }),
      { numRuns: 50 },
    );
  });

  test('are given up as soon as they are over the limit', () => {
    expect(stringBytes('x'.repeat(100_000), 50_000)).toBeGreaterThan(50_000);
    expect(stringBytes('\ud800'.repeat(100_000), 250_000)).toBeLessThan(600_000);
    expect(stringBytes('\ud800'.repeat(100_000), 250_000)).toBeGreaterThan(250_000);
  });

  test('and many values take many steps', () => {
    const value = { text: '\ud800'.repeat(500_000), list: Array.from({ length: 20_000 }, (_, n) => n) };
    expect(finish(jsonBytesInSteps(value)).steps).toBeGreaterThan(30);
    expect(finish(writeInSteps(value)).steps).toBeGreaterThan(30);
  });
});

test('values that refer to themselves or grow without end are measured up to the limit', () => {
  const cyclic: unknown[] = [1];
  cyclic.push(cyclic, cyclic);
  const endless = (): object => ({ toJSON: () => ({ a: endless() }) });
  for (const value of [cyclic, endless()]) expect(jsonBytes(value, 100_000)).toBeGreaterThan(100_000);
  expect(jsonBytes(cyclic)).toBeGreaterThan(LIMITS.json.measured);
}, 60_000);

test('a list that is almost all holes is measured without looking at each', () => {
  const holes = new Array(2 ** 32 - 1);
  expect(jsonBytes({ holes }, 100_000)).toBeGreaterThan(100_000);
  expect(finish(jsonBytesInSteps({ holes })).value).toBeGreaterThan(LIMITS.json.measured);
});

describe('writeInSteps', () => {
  test('writes what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        expect(finish(writeInSteps(value)).value).toBe(JSON.stringify(value));
      }),
    );
    const odd = {
      a: undefined,
      b: () => 1,
      c: [undefined, Number.NaN, () => 1],
      d: new Date(0),
      e: {},
      f: Symbol('f'),
    };
    expect(finish(writeInSteps(odd)).value).toBe(JSON.stringify(odd));
    expect(finish(writeInSteps(undefined)).value).toBe('null');
  });
});

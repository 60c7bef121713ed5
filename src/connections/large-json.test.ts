import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeJson } from '../json/exact-json.ts';
import { parseLarge } from './large-json.ts';

const MANY = 1_000_000;

function parse(text: string, values = MANY): { value: unknown; steps: number } {
  const steps = parseLarge(Buffer.from(text), values);
  for (let count = 0; ; count++) {
    const step = steps.next();
    if (step.done) return { value: step.value, steps: count };
  }
}

/** JSON with branches on both sides of what is parsed in one go. */
const large = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.nat({ max: 40 }), fc.string(), fc.constantFrom(undefined, 1))
  .map(([value, times, text, indent]) =>
    JSON.stringify(
      {
        rows: Array(times).fill({ value, text: text.repeat(200) }),
        [text]: { value, pad: 'x"\\'.repeat(6000) },
        value,
      },
      null,
      indent,
    ),
  );

describe('parseLarge', () => {
  it('gives what JSON.parse gives', () => {
    fc.assert(
      fc.property(large, (text) => {
        expect(parse(text).value).toEqual(JSON.parse(text));
      }),
      { numRuns: 50 },
    );
  });

  it('keeps the digits of numbers that no double holds, of as many values as others do', () => {
    const number = '12345678901234567890';
    const rows = (count: number, row: (n: number) => string) => Array.from({ length: count }, (_, n) => row(n)).join();
    for (const text of [
      `[${rows(30_000, () => number)}]`,
      `{${rows(3_000, (n) => `"k${n}":${n % 2 ? number : n}`)},"__proto__":${number}}`,
      `{"rows":[${rows(9_000, (n) => `{"id":${number},"n":${n},"x":1.5e-400}`)}],"last":-0.10000000000000000001}`,
    ])
      expect(writeJson(parse(text, 30_000).value)).toBe(text);
    const more = `[${rows(51_000, () => number)}]`;
    expect(writeJson(parse(more, 51_000).value)).toBe(JSON.stringify(JSON.parse(more)));
  });

  it('refuses what JSON.parse refuses, wherever a text is damaged', () => {
    const damage = fc.tuple(large, fc.nat(), fc.constantFrom('', ',', '"', '}', ']', '{', ':', 'x', '1', '\\', ' '));
    const outcome = (read: () => unknown) => {
      try {
        return JSON.stringify(read());
      } catch (error) {
        return (error as Error).name;
      }
    };
    fc.assert(
      fc.property(damage, ([text, at, char]) => {
        const where = at % text.length;
        const damaged = text.slice(0, where) + char + text.slice(where + 1);
        expect(outcome(() => parse(damaged).value)).toBe(outcome(() => JSON.parse(damaged)));
      }),
      { numRuns: 200 },
    );
  });

  it('takes __proto__ for a name like any other, and the last of two equal names', () => {
    const pad = `"pad":[${Array(10_000).fill('1.5').join()}]`;
    const { value } = parse(`{"__proto__":{"polluted":true},"a":1,${pad},"a":2}`);
    expect(Object.keys(value as object)).toEqual(['__proto__', 'a', 'pad']);
    expect((value as { a: number }).a).toBe(2);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('works in many small steps where there are many values', () => {
    const names = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`name ${at}`, at]));
    const { value, steps } = parse(JSON.stringify({ names }));
    expect(value).toEqual({ names });
    expect(steps).toBeGreaterThan(1000);
  });

  it('keeps the digits of long numbers where there are few values, and a byte order mark is no error', () => {
    expect(parse('\ufeff{"id":1}', 1).value).toEqual({ id: 1 });
    expect(parse(`\ufeff[${Array(9000).fill('1').join()}]`).value).toHaveLength(9000);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonc } from './parse-jsonc.ts';
import { plainJson } from './plain-json.ts';

/** What a parser returns, or that it throws. */
const outcomeOf = (parse: () => unknown): unknown => {
  try {
    return { value: parse() };
  } catch {
    return 'refused';
  }
};

const { text: written } = fc.letrec<{ text: string; list: string; object: string }>((tie) => ({
  text: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    fc.constantFrom(
      '1',
      '-0',
      '1e400',
      'null',
      'true',
      '""',
      '"a,b:{[\\"\\\\"',
      '"\\u0000"',
      '{}',
      '[]',
      'x',
      '// c\n1',
    ),
    tie('list'),
    tie('object'),
  ),
  list: fc
    .tuple(fc.array(tie('text'), { maxLength: 3 }), fc.constantFrom('', ',', ' '))
    .map(([items, end]) => `[${items.join(',')}${end}]`),
  object: fc
    .array(fc.tuple(fc.constantFrom('a', 'b', '__proto__', ':,', 'toJSON'), tie('text')), { maxLength: 3 })
    .map((entries) => `{${entries.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')}}`),
}));

describe('plainJson', () => {
  it('agrees with the parser that knows comments, whatever a text holds', () => {
    fc.assert(
      fc.property(written, (text) => {
        const plain = plainJson(text);
        if (plain !== undefined) expect({ value: plain }).toStrictEqual(outcomeOf(() => parseJsonc(text)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads any JSON without a key that is written twice', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(plainJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    '{"a":1,"a":1}',
    '{"a":[{"b":{},"c":[],"b":{}}]}',
    '[1,]',
    '// no\n1',
    '',
    '['.repeat(300) + ']'.repeat(300),
  ])('leaves %j to the other parser', (text) => expect(plainJson(text)).toBeUndefined());
});

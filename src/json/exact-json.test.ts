import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, writeJson } from './exact-json.ts';

/** A number as digits without outer zeros and a power of ten, by an independent parser. */
function decimal(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  let digits = BigInt(whole + fraction);
  if (digits === 0n) return '0';
  let power = BigInt(exponent) - BigInt(fraction.length);
  for (; digits % 10n === 0n; digits /= 10n) power++;
  return `${sign}${digits}e${power}`;
}

/** JSON text in one spelling: no white space outside strings, numbers by value, everything else unchanged. */
const spelt = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|\s+|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : token.trim() === '' ? '' : decimal(token),
  );

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });
/** Numbers that JSON allows, most of them near the limit of a double's precision. */
const number = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(
      fc.constant('0'),
      fc.tuple(fc.constantFrom(...'123456789'), digits(0, 24)).map(([first, rest]) => first + rest),
    ),
    fraction: fc.oneof(
      fc.constant(''),
      digits(1, 24).map((some) => `.${some}`),
    ),
    exponent: fc.oneof(
      { weight: 2, arbitrary: fc.constant('') },
      fc
        .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits(1, 4))
        .map(([e, sign, some]) => `${e}${sign}${some}`),
    ),
  })
  .map(({ sign, whole, fraction, exponent }) => `${sign}${whole}${fraction}${exponent}`);
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value));
const id = fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String);

/** Words that look like what the parser searches for. */
const word = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', '\\', ',', ':', '[', ' ', '-', 'e', '1234567890123456', '\ud800', '\n') }),
  fc.constantFrom('__proto__', 'constructor', 'toJSON', 'length', '0', '1', ' 12345678901234567890'),
);
const space = fc.constantFrom('', '', ' ', '\n', '\t\r ');

/** JSON text with any numbers, white space, and keys that occur once in each object. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc
    .tuple(
      space,
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.oneof(number, number, id, double),
        fc.oneof(
          word.map((text) => JSON.stringify(text)),
          fc.constantFrom('true', 'false', 'null'),
        ),
        fc.array(tie('json'), { maxLength: 6 }).map((items) => `[${items.join(',')}]`),
        fc
          .uniqueArray(fc.tuple(word, tie('json')), { maxLength: 6, selector: ([key]) => key })
          // Numeric keys come first in an object, so the order would change.
          .map((fields) => fields.filter(([key]) => !/^\d+$/.test(key)))
          .map((fields) => `{${fields.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`),
      ),
      space,
    )
    .map((parts) => parts.join('')),
}));

const there = (text: string): string => writeJson(parseJson(text));

describe('reading and writing again', () => {
  it('keeps the value of every number in any JSON', () => {
    fc.assert(
      fc.property(json, (inner) => {
        const text = `[${inner}]`;
        expect(spelt(there(text))).toBe(spelt(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps the value of every number, whatever it looks like', () => {
    fc.assert(
      fc.property(fc.oneof(number, id, double), (one) => {
        expect(spelt(there(`{"a":${one}}`))).toBe(spelt(`{"a":${one}}`));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    '12345678901234567890',
    '-9223372036854775808',
    '9007199254740993',
    '18446744073709551615',
    '0.1234567890123456789',
    '0.1000000000000000001',
    '12345678.901234567890',
    '1e400',
    '-1E+400',
    '1e-400',
    '-1e-400',
    '1.2345e-320',
    '1e99999999999999999999',
  ])('writes %s as it came', (one) => {
    for (const text of [`[${one}]`, `{"a":${one}}`, `{"__proto__":${one}}`, `{"constructor":[[${one}],${one}]}`])
      expect(there(text)).toBe(text);
  });

  it.each([
    ['1.0', '1'],
    ['1e2', '100'],
    ['9007199254740992.00', '9007199254740992'],
    ['1.0000000000000000000', '1'],
    ['100000000000000000000000', '1e+23'],
    ['0.00000000000000000000', '0'],
    ['0e999', '0'],
    ['-0', '0'],
    ['-0.0000000000000000', '0'],
  ])('writes %s as %s, which is the same', (one, same) => {
    expect(there(`[${one}]`)).toBe(`[${same}]`);
  });

  it('knows the value of numbers that take long to write', () => {
    const zeros = '0'.repeat(400);
    expect(there(`[1${zeros},0.${zeros}1e400,1${zeros}e-401,1.${zeros},1.${zeros}1]`)).toBe(
      `[1${zeros},0.1,0.1,1,1.${zeros}1]`,
    );
  });

  it('follows the last one of several with the same key', () => {
    expect(there('{"a":12345678901234567890,"a":12345678901234567891}')).toBe('{"a":12345678901234567891}');
    expect(there('{"a":12345678901234567890,"a":1}')).toBe('{"a":1}');
    expect(there('{"a":[12345678901234567890],"a":"12345678901234567890"}')).toBe('{"a":"12345678901234567890"}');
  });

  it('takes no string for a number', () => {
    const strings = [': 12345678901234567890', '[1e400', '\\"', '"', '\\', '",12345678901234567891,"', '\ud800'];
    const text = JSON.stringify({ strings, ': 12345678901234567890,': [...strings, 1] });
    expect(there(text)).toBe(text);
    expect(there(text.replace(/1\]/, '12345678901234567891]'))).toBe(text.replace(/1\]/, '12345678901234567891]'));
  });

  it('gives the double of a number that is the whole text', () => {
    expect(there('12345678901234567890')).toBe('12345678901234567000');
  });

  it('loses no digits in a tree as deep as messages may be', () => {
    const text = `${'[{"a":'.repeat(100)}12345678901234567890${'}]'.repeat(100)}`;
    expect(there(text)).toBe(text);
  });

  it('leaves digits alone in a tree that no message has, and does not fall over', () => {
    const deep = (number: string) => `${'['.repeat(2_000)}${number}${']'.repeat(2_000)}`;
    expect(there(deep('12345678901234567890'))).toBe(deep('12345678901234567000'));
    expect(() => parseJson(`${'['.repeat(200_000)}12345678901234567890${']'.repeat(200_000)}`)).not.toThrow();
  });

  it('looks closely at fifty thousand values, and at four Mi characters', () => {
    const many = (count: number) => `[${'1,'.repeat(count - 1)}12345678901234567890]`;
    const long = (length: number) => `[12345678901234567890,"${'x'.repeat(length - 25)}"]`;
    expect(there(many(50_000))).toContain('12345678901234567890');
    expect(there(many(50_001))).toContain('12345678901234567000');
    const again = (count: number) => `{${'"a":1e400,'.repeat(count - 1)}"a":12345678901234567890}`;
    expect(there(again(50_000))).toBe('{"a":12345678901234567890}');
    expect(there(again(60_000))).toBe('{"a":12345678901234567000}');
    expect(there(long(4 * 1024 * 1024))).toContain('12345678901234567890');
    expect(there(long(4 * 1024 * 1024 + 1))).toContain('12345678901234567000');
  });
});

describe('parseJson', () => {
  it('gives what JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.oneof(json, fc.json()), (text) => {
        expect(isDeepStrictEqual(parseJson(text), JSON.parse(text))).toBe(true);
      }),
    );
  });

  it('throws what JSON.parse throws', () => {
    const outcome = (parse: (text: string) => unknown, text: string) => {
      try {
        return ['gives', parse(text)];
      } catch (error) {
        return ['throws', (error as Error).name, (error as Error).message];
      }
    };
    const broken = fc.tuple(json, fc.nat(), fc.string({ maxLength: 2 })).map(([text, place, more]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + more + text.slice(at + 1);
    });
    fc.assert(
      fc.property(fc.oneof(broken, fc.string(), number), (text) => {
        expect(isDeepStrictEqual(outcome(parseJson, text), outcome(JSON.parse, text))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('writeJson', () => {
  const odd = fc.constantFrom<unknown>(
    undefined,
    () => 1,
    Symbol('s'),
    new Date(0),
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -0,
    Object(1),
    { toJSON: () => ({ a: [1] }) },
    new Map([[1, 2]]),
    '\ud800',
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is asked for
    [, 1],
  );
  const plain = fc.oneof(fc.jsonValue(), odd, fc.object({ values: [fc.jsonValue(), odd] }), fc.array(odd));

  it('gives what JSON.stringify gives', () => {
    fc.assert(
      fc.property(plain, (value) => {
        expect(writeJson(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  it('gives what JSON.stringify gives beside kept digits', () => {
    const holder = parseJson('{"id":12345678901234567890}') as object;
    fc.assert(
      fc.property(plain, fc.string(), (value, key) => {
        const around = { [key]: value, items: [value, holder], value };
        expect(writeJson(around)).toBe(JSON.stringify(around).replace('12345678901234567000', '12345678901234567890'));
      }),
    );
  });

  it('writes digits as long as their double stands where they stood', () => {
    const value = parseJson('{"a":12345678901234567890,"b":1e400,"c":0.1234567890123456789}') as Record<
      string,
      unknown
    >;
    value.a = 1;
    value.d = 12345678901234567000;
    value.b = 'x';
    expect(writeJson({ around: [value] })).toBe(
      '{"around":[{"a":1,"b":"x","c":0.1234567890123456789,"d":12345678901234567000}]}',
    );
    delete value.c;
    expect(writeJson(value)).toBe('{"a":1,"b":"x","d":12345678901234567000}');
  });

  it('writes doubles for a copy of the holder, and digits for a copy of what is around it', () => {
    const value = parseJson('{"holder":{"id":12345678901234567890}}') as { holder: object };
    expect(writeJson({ ...value })).toBe('{"holder":{"id":12345678901234567890}}');
    expect(writeJson({ ...value.holder })).toBe('{"id":12345678901234567000}');
  });

  it('lets a toJSON decide', () => {
    const value = parseJson('{"a":{"id":12345678901234567890}}') as { a: Record<string, unknown> };
    value.a.toJSON = () => 'mine';
    expect(writeJson(value)).toBe('{"a":"mine"}');
  });

  it('writes digits that are among many values, and leaves more than are ever read to JSON.stringify', () => {
    const holder = parseJson('{"id":12345678901234567890}');
    const among = (count: number) => [holder, Array.from({ length: count }, () => 1)];
    expect(writeJson(among(50_000))).toContain('{"id":12345678901234567890}');
    expect(writeJson(among(100_000))).toBe(JSON.stringify(among(100_000)));
  });

  it('throws for what holds itself, as JSON.stringify does', () => {
    const value = parseJson('{"id":12345678901234567890}') as Record<string, unknown>;
    value.self = value;
    value.again = value;
    expect(() => writeJson(value)).toThrow(TypeError);
    expect(() => writeJson({ id: 1n })).toThrow(TypeError);
  });
});

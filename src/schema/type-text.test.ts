import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { resolveReference } from './schema-reference.ts';
import { typeText } from './type-text.ts';

/** Schemas with the keywords we read, and any JSON in their places. */
const schema = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small' }, fc.jsonValue(), tie('node'), fc.array(tie('any'), { maxLength: 3 })),
  node: fc.dictionary(
    fc.constantFrom(
      'type',
      'properties',
      'required',
      'items',
      'prefixItems',
      'anyOf',
      'oneOf',
      'allOf',
      'enum',
      'const',
      '$ref',
      '$defs',
      'default',
      'minimum',
      'maxLength',
      'pattern',
      'format',
      'additionalProperties',
      '__proto__',
    ),
    fc.oneof(
      tie('any'),
      fc.constantFrom('#', '#/$defs', '#/properties/a', 'object', 'array', 'string', 'http://x/y', ['object', 'null']),
    ),
    { maxKeys: 5 },
  ),
})).any;

describe('typeText', () => {
  test.each<[unknown, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: ['string', 'null'] }, 'string|null'],
    [{ enum: ['open', "it's", 3, null] }, "'open'|'it\\'s'|3|null"],
    [{ const: { a: 1 } }, '{"a":1}'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, "('a'|'b')[]"],
    [{ type: 'array', items: { const: 'a|b' } }, "'a|b'[]"],
    [{ items: { anyOf: [{ type: 'object', properties: { a: {} } }, { type: 'null' }] } }, '({a?: any}|null)[]'],
    [{ type: 'array' }, 'any[]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }, {}] }, '[string, any]'],
    [
      { type: 'object', properties: { size: { type: 'number' }, name: { type: 'string' } }, required: ['name'] },
      '{name: string, size?: number}',
    ],
    [{ type: 'object', properties: { 'a b': {}, __proto__x: {} } }, '{"a b"?: any, __proto__x?: any}'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ type: 'object' }, 'object'],
    [{ type: 'integer', minimum: 1, maximum: 100, default: 30 }, 'integer (1..100) = 30'],
    [{ type: 'number', exclusiveMinimum: 0 }, 'number (>0)'],
    [{ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }, 'integer'],
    [{ type: 'string', format: 'date-time', maxLength: 10 }, 'string (<=10 chars, date-time)'],
    [{ type: 'string', pattern: '^a$', minLength: 0, default: '' }, 'string (/^a$/)'],
    [{ type: 'array', items: { type: 'string' }, minItems: 1 }, 'string[] (>=1 items)'],
    [{ allOf: [{ properties: { a: {} } }, { properties: { b: {} }, required: ['b'] }] }, '{b: any, a?: any}'],
    [{ allOf: [{ enum: ['a', 'b'] }], default: 'a' }, "'a'|'b' = \"a\""],
    [{ allOf: [{ type: 'string' }, { allOf: [{ maxLength: 3 }] }] }, 'string (<=3 chars)'],
    [{ properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }, '{a?: any, b?: any}'],
    [
      { properties: { a: { type: 'null' } }, anyOf: [{ properties: { b: { type: 'null' } } }, { type: 'string' }] },
      '{a?: null} & ({b?: null}|string)',
    ],
    [{ anyOf: [{ type: 'number' }, { not: {} }, false] }, 'number'],
    [{ anyOf: [{ required: ['a'] }] }, 'object'],
    [{ type: 'string', nullable: true }, 'string|null'],
    [{ type: ['string', 'null'], nullable: true }, 'string|null'],
    [{ type: 'array', items: [{ type: 'string' }, { type: 'number' }] }, '[string, number]'],
    [{ type: 'object', patternProperties: { '^x': { type: 'number' } } }, 'Record<string, number>'],
    [{ type: 'string', format: 'email', pattern: '^.*@.*$' }, 'string (email)'],
    [{ type: 'integer', multipleOf: 5 }, 'integer (multiple of 5)'],
    [{ type: 'x\u202ey' }, 'xy'],
    [true, 'any'],
    [null, 'any'],
  ])('%j is %s', (given, text) => {
    expect(typeText(given, {})).toBe(text);
  });

  test('a property may be called __proto__', () => {
    const given = JSON.parse('{"allOf":[{"properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}]}');
    expect(typeText(given)).toBe('{__proto__: string}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('local references are followed, a circle ends, and nothing else is looked up', () => {
    const root = { $defs: { 'a/b': { type: 'string' }, loop: { $ref: '#/$defs/loop' } } };
    expect(typeText({ $ref: '#/$defs/a~1b' }, root)).toBe('string');
    expect(typeText({ $ref: '#/$defs/loop' }, root)).toBe('any');
    expect(typeText({ $ref: 'https://example.com/x', type: 'number' }, root)).toBe('number');
    const tree = { type: 'object', properties: { next: { $ref: '#' } } };
    expect(typeText(tree, tree, { depth: 2 })).toBe('{next?: {next?: {…}}}');
    const unions = { anyOf: [{ $ref: '#' }, { $ref: '#' }] };
    expect(typeText(unions, unions)).toBe('…');
    expect(resolveReference({ $ref: '#/nowhere/at/all' }, {})).toEqual({});
  });

  test('what is too long loses depth first, then alternatives', () => {
    const long = { enum: Array.from({ length: 30 }, (_, i) => `a rather long value ${i}`) };
    expect(typeText(long, {}, { maxChars: 90 })).toBe(
      "'a rather long value 0'|'a rather long value 1'|'a rather long value 2'|…",
    );
    expect(typeText(long, {}, { maxChars: 30 })).toHaveLength(30);
    const deep = { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'string' } } } } };
    expect(typeText(deep, {}, { maxChars: 15 })).toBe('{a?: {…}}');
    const shapes = ['Text', 'Date'].map((name) => [name, { properties: { [`${name} ${'x'.repeat(50)}`]: {} } }]);
    const anyOf = [
      { $ref: '#/$defs/Text' },
      { $ref: '#/$defs/Date' },
      { type: 'object', title: 'Other', properties: { 'a b c d e f': {} } },
    ];
    expect(typeText({ anyOf }, { $defs: Object.fromEntries(shapes) }, { maxChars: 20 })).toBe('Text|Date|… 1 more');
    expect(typeText({ items: { anyOf }, type: 'array' }, { $defs: Object.fromEntries(shapes) }, { maxChars: 40 })).toBe(
      '(Text|Date|Other|…)[]',
    );
    const wide = { properties: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, {}])) };
    expect(typeText(wide, {}, { maxChars: 2000 })).toContain('… 10 more');
  });

  it('never throws, ends, and keeps its length, for any JSON as schema', () => {
    fc.assert(
      fc.property(schema, fc.integer({ min: 1, max: 200 }), (given, maxChars) => {
        const root = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
        expect(typeText(given, root, { maxChars }).length).toBeLessThanOrEqual(maxChars);
      }),
      { numRuns: 300 },
    );
  });

  it('takes hostile schemas without effort', () => {
    const doubling = {
      $defs: Object.fromEntries(
        Array.from({ length: 22 }, (_, i) => [
          `d${i}`,
          { type: 'object', properties: { a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } } },
        ]),
      ),
    };
    let nested: object = {};
    for (let i = 0; i < 4000; i++) nested = { anyOf: [nested, nested], items: nested };
    const started = performance.now();
    typeText({ $ref: '#/$defs/d0' }, doubling);
    typeText(nested, {});
    typeText({ type: 'array', items: nested }, {});
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`p${i}`, {}]));
    const wide = { $defs: { wide: { properties: many }, all: { allOf: Array(8).fill({ $ref: '#/$defs/wide' }) } } };
    typeText(
      { properties: Object.fromEntries(Object.keys(many).map((name) => [name, { $ref: '#/$defs/all' }])) },
      wide,
    );
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

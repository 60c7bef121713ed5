import { describe, expect, test } from 'vitest';
import { checkValue } from './check-value.ts';
import { checkSchema } from './schema-check.ts';

const check = (schema: unknown, value: unknown, fuel?: number) => {
  const checked = checkSchema(schema);
  if (checked.verdict === 'unusable') throw new Error(checked.reason);
  return checkValue(checked.root, value, fuel);
};

const fits = (schema: unknown, value: unknown): boolean => {
  const found = check(schema, value);
  if (found === 'exhausted') throw new Error('exhausted');
  return found.length === 0;
};

describe('checkValue', () => {
  test.each<[string, unknown, unknown, unknown]>([
    ['type', { type: 'string' }, 'a', 1],
    ['several types', { type: ['string', 'null'] }, null, 1],
    ['integer', { type: 'integer' }, 2, 2.5],
    ['integer written as a float', { type: 'integer' }, 2.0, '2'],
    ['nullable', { type: 'string', nullable: true }, null, 1],
    ['const', { const: { a: [1] } }, { a: [1] }, { a: [2] }],
    ['enum', { enum: ['a', 1, { b: 2 }] }, { b: 2 }, { b: 3 }],
    ['minimum', { minimum: 1 }, 1, 0],
    ['maximum', { maximum: 1 }, 1, 2],
    ['exclusiveMinimum', { exclusiveMinimum: 1 }, 2, 1],
    ['exclusiveMaximum', { exclusiveMaximum: 1 }, 0, 1],
    ['exclusiveMinimum of draft 4', { minimum: 1, exclusiveMinimum: true }, 2, 1],
    ['exclusiveMaximum of draft 4', { maximum: 1, exclusiveMaximum: true }, 0, 1],
    ['multipleOf', { multipleOf: 0.1 }, 0.3, 0.35],
    ['minLength in code points', { minLength: 2 }, '😀😀', '😀'],
    ['maxLength in code points', { maxLength: 2 }, '😀😀', 'abc'],
    ['pattern', { pattern: '^[a-z]+$' }, 'abc', 'aBc'],
    ['minItems', { minItems: 1 }, [1], []],
    ['maxItems', { maxItems: 1 }, [1], [1, 2]],
    ['items', { items: { type: 'number' } }, [1, 2], [1, 'x']],
    ['items of draft 7', { items: [{ type: 'number' }], additionalItems: false }, [1], [1, 2]],
    ['prefixItems', { prefixItems: [{ type: 'number' }], items: { type: 'string' } }, [1, 'a'], ['a']],
    ['contains', { contains: { const: 1 }, maxContains: 2 }, [1, 2], [1, 1, 1]],
    ['minContains', { contains: { const: 1 }, minContains: 2 }, [1, 1], [1]],
    [
      'uniqueItems',
      { uniqueItems: true },
      [{ a: 1, b: 2 }, '{"a":1,"b":2}'],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    ['required', { required: ['a'] }, { a: 1 }, { b: 1 }],
    ['properties', { properties: { a: { type: 'number' } } }, { a: 1, b: 'x' }, { a: 'x' }],
    ['patternProperties', { patternProperties: { '^x': { type: 'number' } } }, { x1: 1 }, { x1: 'a' }],
    ['additionalProperties false', { properties: { a: {} }, additionalProperties: false }, { a: 1 }, { b: 1 }],
    ['additionalProperties schema', { additionalProperties: { type: 'number' } }, { a: 1 }, { a: 'x' }],
    ['propertyNames', { propertyNames: { maxLength: 2 } }, { ab: 1 }, { abc: 1 }],
    ['minProperties', { minProperties: 1 }, { a: 1 }, {}],
    ['maxProperties', { maxProperties: 1 }, { a: 1 }, { a: 1, b: 1 }],
    ['dependentRequired', { dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }],
    ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }, { c: 1 }, { a: 1 }],
    ['dependencies of draft 7', { dependencies: { a: ['b'], c: { required: ['d'] } } }, { a: 1, b: 1 }, { c: 1 }],
    ['allOf', { allOf: [{ minimum: 1 }, { maximum: 3 }] }, 2, 4],
    ['anyOf', { anyOf: [{ type: 'string' }, { minimum: 3 }] }, 4, 1],
    ['oneOf', { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, 4, 6],
    ['not', { not: { type: 'string' } }, 1, 'a'],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ['then', { if: { minimum: 5 }, then: { multipleOf: 5 } }, 10, 6],
    ['else', { if: { minimum: 5 }, else: { multipleOf: 2 } }, 4, 3],
    ['$ref', { $ref: '#/$defs/n', $defs: { n: { type: 'number' } } }, 1, 'a'],
    ['$dynamicRef', { $dynamicRef: '#n', $defs: { n: { $dynamicAnchor: 'n', type: 'number' } } }, 1, 'a'],
    ['keywords beside $ref', { $ref: '#/$defs/n', minimum: 2, $defs: { n: { type: 'number' } } }, 2, 1],
    [
      'a tree',
      { properties: { c: { items: { $ref: '#' } }, v: { type: 'number' } } },
      { c: [{ c: [{ v: 1 }] }] },
      { c: [{ c: [{ v: 'x' }] }] },
    ],
    ['false', { properties: { a: false } }, {}, { a: 1 }],
    ['unevaluatedProperties', { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
    [
      'unevaluatedProperties after if',
      {
        if: { required: ['a'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { a: {} } },
        else: { properties: { b: {} } },
        unevaluatedProperties: false,
      },
      { b: 1 },
      { a: 1, b: 1 },
    ],
    [
      'unevaluatedProperties with patterns',
      {
        patternProperties: { '^x': {} },
        dependentSchemas: { x: { properties: { y: {} } } },
        unevaluatedProperties: false,
      },
      { x: 1, y: 1 },
      { y: 1 },
    ],
    [
      'unevaluatedProperties and not',
      { not: { properties: { a: { type: 'string' } }, required: ['a'] }, unevaluatedProperties: { type: 'number' } },
      { a: 1 },
      { a: true },
    ],
    ['unevaluatedItems', { prefixItems: [{}], unevaluatedItems: false }, [1], [1, 2]],
    [
      'unevaluatedItems and contains',
      { contains: { const: 1 }, unevaluatedItems: { type: 'string' } },
      [1, 'a'],
      [1, 2],
    ],
  ])('%s', (_name, schema, good, bad) => {
    expect(fits(schema, good)).toBe(true);
    expect(fits(schema, bad)).toBe(false);
  });

  test('up to draft 7 nothing beside $ref counts', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: { a: { $ref: '#/definitions/n', minimum: 9 } },
      definitions: { n: { type: 'number' } },
    };
    expect(fits(schema, { a: 1 })).toBe(true);
  });

  test('names such as __proto__ and constructor are ordinary names', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"number"},"constructor":{"type":"string"}},"required":["__proto__","toString"],"additionalProperties":false}',
    );
    expect(fits(schema, JSON.parse('{"__proto__":1,"constructor":"x"}'))).toBe(false);
    schema.required.pop();
    expect(fits(schema, JSON.parse('{"__proto__":1,"constructor":"x"}'))).toBe(true);
    expect(fits(schema, JSON.parse('{"__proto__":"x"}'))).toBe(false);
    expect(fits(schema, {})).toBe(false);
  });

  test('a pattern that is no regular expression forbids nothing', () => {
    const checked = checkSchema({
      pattern: '[z-a]',
      patternProperties: { '(': { type: 'number' } },
      additionalProperties: false,
    });
    if (checked.verdict === 'unusable') throw new Error(checked.reason);
    expect(checkValue(checked.root, 'x')).toEqual([]);
    expect(checkValue(checked.root, { a: 'x' })).toEqual([]);
  });

  test('a spent budget is said, not guessed over', () => {
    expect(check({ items: { type: 'number' } }, [1, 2, 3], 2)).toBe('exhausted');
    let deep: unknown = 1;
    for (let i = 0; i < 3_000; i++) deep = [deep];
    expect(check({ items: { $ref: '#' } }, deep)).toBe('exhausted');
    expect(check({ uniqueItems: true }, [deep])).toBe('exhausted');
  });

  test('problems found before the budget ran out are told', () => {
    const found = check(
      { properties: { a: { type: 'string' }, b: { items: { type: 'number' } } } },
      { a: 1, b: new Array(90).fill(1) },
      60,
    );
    expect(found).toHaveLength(1);
  });
});
